package armaturetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// Faults are for showing that a test can fail: wrap them around the transport of an
// operator's rest.Config and see the test notice.

// WithoutDriftCorrection switches drift correction off: an apply that says of its
// object what the last one said is answered with the object as it is. One that says
// something new gets through, and status is written as ever.
func WithoutDriftCorrection(cfg *rest.Config) {
	var mu sync.Mutex
	said := map[string][sha256.Size]byte{} // by path
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if !appliesObject(req) {
				return next.RoundTrip(req)
			}
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			if err := req.Body.Close(); err != nil {
				return nil, err
			}
			sum := sha256.Sum256(body)
			mu.Lock()
			repeats := said[req.URL.Path] == sum
			said[req.URL.Path] = sum
			mu.Unlock()
			if repeats {
				if res, err := asItIs(req, next); err != nil || res != nil {
					return res, err
				}
			}
			sent := req.Clone(req.Context())
			sent.Body = io.NopCloser(bytes.NewReader(body))
			return next.RoundTrip(sent)
		})
	})
}

// asItIs reads the object that a request would change; nil if there is none.
func asItIs(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	read, err := http.NewRequestWithContext(req.Context(), http.MethodGet, bare(req), http.NoBody)
	if err != nil {
		return nil, err
	}
	read.Header = req.Header.Clone()
	read.Header.Del("Content-Type")
	res, err := next.RoundTrip(read)
	if err != nil || res.StatusCode == http.StatusOK {
		return res, err
	}
	return nil, res.Body.Close()
}

// WithPlantedWrites makes every apply of an object be followed by a write that
// changes the object, as an operator does that is never at rest.
func WithPlantedWrites(cfg *rest.Config) {
	var n atomic.Int64
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			res, err := next.RoundTrip(req)
			if err != nil || !appliesObject(req) || res.StatusCode >= http.StatusBadRequest {
				return res, err
			}
			body := fmt.Sprintf(`{"metadata":{"annotations":{"test.armature.dev/planted":"%d"}}}`, n.Add(1))
			plant, err := http.NewRequestWithContext(req.Context(), http.MethodPatch, bare(req), bytes.NewBufferString(body))
			if err != nil {
				return nil, err
			}
			plant.Header = req.Header.Clone()
			plant.Header.Set("Content-Type", "application/merge-patch+json")
			planted, err := next.RoundTrip(plant)
			if err != nil {
				return nil, err
			}
			if _, err := io.Copy(io.Discard, planted.Body); err != nil {
				return nil, err
			}
			return res, planted.Body.Close()
		})
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// appliesObject reports whether the request is a server-side apply to an object
// itself, not to its status.
func appliesObject(req *http.Request) bool {
	return req.Method == http.MethodPatch && strings.HasPrefix(req.Header.Get("Content-Type"), "application/apply-patch") && !strings.HasSuffix(req.URL.Path, "/status")
}

// bare is the request's URL without its parameters.
func bare(req *http.Request) string {
	u := *req.URL
	u.RawQuery = ""
	return u.String()
}
