// Package proxy stands between clients and the API server and misbehaves on request.
//
// It answers with an error, says when to come back, or takes its time. Without
// a rule it passes everything on unchanged.
package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Rule says what goes wrong with which requests. A rule without Status and
// Latency is none.
type Rule struct {
	Status     int           `json:"status,omitempty"`     // answer with this instead of asking the API server; 0 asks
	RetryAfter time.Duration `json:"retryAfter,omitempty"` // sent with Status, in whole seconds, rounded up
	Latency    time.Duration `json:"latency,omitempty"`    // wait this long first
	Share      float64       `json:"share,omitempty"`      // of the requests that match; 0 means all
	Methods    []string      `json:"methods,omitempty"`    // none means all
	Path       string        `json:"path,omitempty"`       // beginning of the URL's path; empty means all
}

// Validate reports what makes a rule useless.
func (r Rule) Validate() error {
	switch {
	case r.Status == 0 && r.Latency == 0:
		return errors.New("nothing would go wrong: give --status, --latency or both")
	case r.Status != 0 && (r.Status < 400 || r.Status > 599):
		return fmt.Errorf("--status %d is not an error; use 400 to 599", r.Status)
	case r.Latency < 0 || r.RetryAfter < 0:
		return errors.New("--latency and --retry-after cannot be negative")
	case r.RetryAfter > 0 && r.Status == 0:
		return errors.New("--retry-after goes with --status; give for example --status 429")
	case !(r.Share >= 0 && r.Share <= 1): // also what is not a number
		return fmt.Errorf("--share %g is not between 0 and 1", r.Share)
	case r.Path != "" && !strings.HasPrefix(r.Path, "/"):
		return fmt.Errorf("--path %q does not start with a slash; write for example /api/v1/namespaces", r.Path)
	}
	for _, m := range r.Methods {
		if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, m) {
			return fmt.Errorf("--method %q is not one of GET, POST, PUT, PATCH, DELETE", m)
		}
	}
	return nil
}

func (r Rule) matches(req *http.Request) bool {
	return (len(r.Methods) == 0 || slices.Contains(r.Methods, req.Method)) && strings.HasPrefix(req.URL.Path, r.Path)
}

// String says the rule in the words of the command line.
func (r Rule) String() string {
	var b strings.Builder
	say := func(on bool, format string, args ...any) {
		if on {
			fmt.Fprintf(&b, " --"+format, args...)
		}
	}
	say(r.Status != 0, "status %d", r.Status)
	say(r.RetryAfter != 0, "retry-after %s", r.RetryAfter)
	say(r.Latency != 0, "latency %s", r.Latency)
	say(r.Share != 0 && r.Share != 1, "share %g", r.Share)
	for _, m := range r.Methods {
		say(true, "method %s", m)
	}
	say(r.Path != "", "path %s", r.Path)
	return strings.TrimPrefix(b.String(), " ")
}
