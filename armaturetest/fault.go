package armaturetest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// Faults are for showing that a test can fail: wrap them around the transport of an
// operator's rest.Config and see the test notice.

// WithoutDriftCorrection makes every apply to an object that exists do nothing: it
// is answered with the object as it is. Status is written as ever.
func WithoutDriftCorrection(cfg *rest.Config) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if !appliesObject(req) {
				return next.RoundTrip(req)
			}
			read, err := http.NewRequestWithContext(req.Context(), http.MethodGet, bare(req), nil)
			if err != nil {
				return nil, err
			}
			read.Header = req.Header.Clone()
			read.Header.Del("Content-Type")
			res, err := next.RoundTrip(read)
			if err != nil || res.StatusCode == http.StatusOK {
				return res, err
			}
			if err := res.Body.Close(); err != nil {
				return nil, err
			}
			return next.RoundTrip(req)
		})
	})
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
