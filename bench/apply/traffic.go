package main

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// traffic counts what a process sends and receives: the bodies of requests and
// answers, unpacked, without headers.
type traffic struct {
	requests, sent, received atomic.Int64 // reads and writes of objects
	watches, watchReceived   atomic.Int64 // lists and watches, and what they brought
	elsewhere                atomic.Int64 // discovery
}

// bytesMoved is a reading of the counters.
type bytesMoved struct {
	Requests      int64 `json:"requests"`
	Sent          int64 `json:"sent"`
	Received      int64 `json:"received"`
	Watches       int64 `json:"watches"`
	WatchReceived int64 `json:"watchReceived"`
}

func (t *traffic) read() bytesMoved {
	return bytesMoved{t.requests.Load(), t.sent.Load(), t.received.Load(), t.watches.Load(), t.watchReceived.Load()}
}

func (b bytesMoved) minus(a bytesMoved) bytesMoved {
	return bytesMoved{b.Requests - a.Requests, b.Sent - a.Sent, b.Received - a.Received, b.Watches - a.Watches, b.WatchReceived - a.WatchReceived}
}

// wrap returns a transport that counts.
func (t *traffic) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		received := t.classify(req)
		if req.Body != nil {
			req = req.Clone(req.Context())
			req.Body = &countedBody{req.Body, &t.sent}
		}
		res, err := next.RoundTrip(req)
		if err == nil {
			res.Body = &countedBody{res.Body, received}
		}
		return res, err
	})
}

// classify counts a request and returns the counter of its answer's bytes.
func (t *traffic) classify(req *http.Request) *atomic.Int64 {
	_, path, namespaced := strings.Cut(req.URL.Path, "/namespaces/")
	switch parts := strings.Split(path, "/"); {
	case !namespaced || len(parts) < 2:
		return &t.elsewhere
	case req.Method == http.MethodGet && len(parts) == 2: // namespace and resource, no name
		t.watches.Add(1)
		return &t.watchReceived
	default:
		t.requests.Add(1)
		return &t.received
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip sends the request.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// countedBody adds what is read from it to a counter.
type countedBody struct {
	io.ReadCloser

	bytes *atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}
