package supervise

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

const (
	pollEvery = 20 * time.Millisecond
	// askFor is how long one question may take. An API server that was
	// frozen answers nothing.
	askFor = 2 * time.Second
)

// api asks the API server simple questions.
type api struct {
	server string
	http   *http.Client
}

func newAPI(l layout, port int) (*api, error) {
	pair, err := tls.LoadX509KeyPair(l.pki("supervisor.crt"), l.pki("supervisor.key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(l.pki("ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &api{server: serverURL(port), http: &http.Client{
		Timeout: askFor,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		}},
	}}, nil
}

// get decodes the answer into out, unless that is nil.
func (a *api) get(ctx context.Context, path string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.server+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "plane-supervisor")
	resp, err := a.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, resp.Status)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(body, out)
}

// check is one thing that has to be true before a plane is up.
type check struct {
	name string
	ok   func(ctx context.Context) bool
}

func (a *api) exists(path string) func(context.Context) bool {
	return func(ctx context.Context) bool { return a.get(ctx, path, nil) == nil }
}

func (a *api) answers() check {
	return check{"the API server", a.exists("/readyz")}
}

// furnished are the checks after the API server is ready.
func (a *api) furnished(nodes int) []check {
	checks := []check{
		{"the default service account", a.exists("/api/v1/namespaces/default/serviceaccounts/default")},
		{"the ConfigMap kube-root-ca.crt", a.exists("/api/v1/namespaces/default/configmaps/kube-root-ca.crt")},
		{"the default StorageClass", a.exists("/apis/storage.k8s.io/v1/storageclasses/standard")},
	}
	if nodes > 0 {
		checks = append(checks, check{"the nodes", func(ctx context.Context) bool { return a.nodesReady(ctx, nodes) }})
	}
	return checks
}

// nodesReady reports whether the first nodes exist and have been heard of.
// Those that were taken down stay so across restarts.
func (a *api) nodesReady(ctx context.Context, want int) bool {
	var list struct {
		Items []struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
	}
	if a.get(ctx, "/api/v1/nodes", &list) != nil {
		return false
	}
	n := 0
	for _, item := range list.Items {
		if slices.ContainsFunc(item.Status.Conditions, func(c struct{ Type, Status string }) bool { return c.Type == "Ready" }) {
			n++
		}
	}
	return n >= want
}

// await returns nil when the check holds, or an error when ctx ends, which
// names what it waited for.
func (c check) await(ctx context.Context) error {
	for !c.ok(ctx) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", c.name, context.Cause(ctx))
		case <-time.After(pollEvery):
		}
	}
	return nil
}
