package armaturetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// WithoutDriftCorrection is for showing that a test can fail. It wraps the transport
// of an operator's configuration so that drift is not corrected: an apply that says of its
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
			sum, err := gist(body)
			if err != nil {
				return nil, err
			}
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

// gist is a digest of what an apply says about its object. On which object it insists,
// by UID or resource version, does not count.
func gist(body []byte) ([sha256.Size]byte, error) {
	var tree map[string]any
	if err := json.Unmarshal(body, &tree); err != nil {
		return [sha256.Size]byte{}, err
	}
	if meta, ok := tree["metadata"].(map[string]any); ok {
		delete(meta, "uid")
		delete(meta, "resourceVersion")
	}
	raw, err := json.Marshal(tree)
	return sha256.Sum256(raw), err
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
