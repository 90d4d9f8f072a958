package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/armature-go/armature/plane/steer"
)

// kubelet answers what the API server asks a node: logs get a sentence, and
// what would need a real container gets a refusal that says so.
type kubelet struct {
	pods corelisters.PodLister
}

func (k kubelet) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.logs)
	for verb, path := range map[string]string{
		"exec":         "/exec/",
		"attach":       "/attach/",
		"run":          "/run/",
		"port-forward": "/portForward/",
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, verb+" needs a running container, and plane only simulates them; use a cluster with real nodes", http.StatusNotImplemented)
		})
	}
	return mux
}

func (k kubelet) logs(w http.ResponseWriter, r *http.Request) {
	namespace, name, container := r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")
	pod, err := k.pods.Pods(namespace).Get(name)
	if err != nil {
		http.Error(w, fmt.Sprintf("pod %s/%s is not on this node", namespace, name), http.StatusNotFound)
		return
	}
	all := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == container })
	if i < 0 {
		http.Error(w, fmt.Sprintf("pod %s/%s has no container %q", namespace, name, container), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "container %q of pod %s/%s is simulated on %s: image %s is not run and writes no log\n",
		container, namespace, name, pod.Spec.NodeName, all[i].Image)
	for _, key := range slices.Sorted(annotationKeys(pod)) {
		fmt.Fprintf(w, "steered by annotation %s=%s\n", key, pod.Annotations[key])
	}
}

func annotationKeys(pod *corev1.Pod) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for key := range pod.Annotations {
			if strings.HasPrefix(key, steer.Prefix) && !yield(key) {
				return
			}
		}
	}
}

// serve answers until ctx ends, to the API server of this plane only, on a
// port of the kernel's choice, which it returns.
func (k kubelet) serve(ctx context.Context, pkiDir string) (int32, error) {
	cert, err := tls.LoadX509KeyPair(filepath.Join(pkiDir, "kubelet.crt"), filepath.Join(pkiDir, "kubelet.key"))
	if err != nil {
		return 0, fmt.Errorf("starting the kubelet endpoint: %w", err)
	}
	ca, err := os.ReadFile(filepath.Join(pkiDir, "ca.crt"))
	if err != nil {
		return 0, fmt.Errorf("starting the kubelet endpoint: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("starting the kubelet endpoint: %w", err)
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.New("starting the kubelet endpoint: not a TCP address")
	}
	srv := &http.Server{
		Handler:           k.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{cert}, ClientCAs: roots,
			ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
		},
	}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	go func() { _ = srv.ServeTLS(l, "", "") }()
	return int32(addr.Port), nil //nolint:gosec // a port fits
}
