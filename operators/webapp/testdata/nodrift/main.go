// Command nodrift is the tutorial operator with the correction of drift switched off:
// what somebody else changes stays changed. Whatever claims to see drift corrected has
// to fail with it.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operator"
	"github.com/armature-go/armature/operators/webapp"
	"github.com/armature-go/armature/operators/webapp/v1alpha1"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // the process ends anyway
	}
}

func run(ctx context.Context) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &once{next: next, said: map[string][sha256.Size]byte{}}
	})
	return operator.Run(ctx, operator.Options{
		Name:   "webapp-operator",
		Scheme: []func(*runtime.Scheme) error{v1alpha1.AddToScheme},
		Controllers: []operator.Controller{
			operator.For(webapp.Components, operator.Kinds{
				Owns:  []object.Object{&appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{}},
				Reads: []object.Object{&corev1.Secret{}},
			}),
		},
	}, operator.Settings{Config: cfg})
}

// once lets an apply through if it says something new about its object. One that says
// what the last one said is answered with the object as it is.
type once struct {
	next http.RoundTripper

	mu   sync.Mutex
	said map[string][sha256.Size]byte // by path
}

// RoundTrip implements [http.RoundTripper].
func (o *once) RoundTrip(req *http.Request) (*http.Response, error) {
	apply := req.Method == http.MethodPatch && strings.HasPrefix(req.Header.Get("Content-Type"), "application/apply-patch")
	if !apply || strings.HasSuffix(req.URL.Path, "/status") {
		return o.next.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_ = req.Body.Close()
	if !o.news(req.URL.Path, body) {
		get := req.Clone(req.Context())
		get.Method, get.Body, get.ContentLength, get.URL.RawQuery = http.MethodGet, nil, 0, ""
		get.Header.Del("Content-Type")
		resp, err := o.next.RoundTrip(get)
		if err != nil || resp.StatusCode == http.StatusOK {
			return resp, err
		}
		_ = resp.Body.Close()
	}
	sent := req.Clone(req.Context())
	sent.Body = io.NopCloser(bytes.NewReader(body))
	return o.next.RoundTrip(sent)
}

// news notes what is said about an object, and whether that is new.
func (o *once) news(path string, body []byte) bool {
	sum := sha256.Sum256(body)
	o.mu.Lock()
	defer o.mu.Unlock()
	old, known := o.said[path]
	o.said[path] = sum
	return !known || old != sum
}
