package armaturetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Requests counts what one client sent to the API server. At rest an operator
// makes neither reads nor writes.
type Requests struct {
	Reads, Writes             int // of objects
	StatusReads, StatusWrites int // of the subresource status
	Watches                   int // and the lists that begin them
	Leases, Events            int
	Reviews                   int // of access
	Discovery                 int // what the server offers, and whether it is well
}

// Sum is the number of requests that a passage at rest must not make: reads and
// writes of objects and of status.
func (r Requests) Sum() int { return r.Reads + r.Writes + r.StatusReads + r.StatusWrites }

func (r Requests) String() string {
	return fmt.Sprintf("%d reads, %d writes, %d status reads, %d status writes (apart: %d watches, %d leases, %d events, %d reviews, %d discovery)",
		r.Reads, r.Writes, r.StatusReads, r.StatusWrites, r.Watches, r.Leases, r.Events, r.Reviews, r.Discovery)
}

// Count returns what reached the API server while during ran from clients whose
// user agent begins with the given text, as the server itself logged it. Only a
// plane keeps such a log; with another cluster the test is skipped.
func (c *Cluster) Count(tb testing.TB, userAgent string, during func()) Requests {
	tb.Helper()
	if c.audit == "" {
		tb.Skip("counting requests needs the audit log of a plane; unset " + envKubeconfig)
	}
	log, err := os.Open(c.audit)
	if err != nil {
		tb.Fatalf("opening the audit log: %v", err)
	}
	defer func() { _ = log.Close() }() // it was only read
	if _, err := log.Seek(0, io.SeekEnd); err != nil {
		tb.Fatalf("opening the audit log: %v", err)
	}
	c.mark(tb, log)
	during()
	n, err := count(strings.NewReader(c.mark(tb, log)), userAgent)
	if err != nil {
		tb.Fatalf("reading the audit log: %v", err)
	}
	return n
}

// mark makes a request of its own and returns what the log has said until it shows
// up there: the line of a request may come a moment after its answer.
func (c *Cluster) mark(tb testing.TB, log io.Reader) string {
	tb.Helper()
	cfg := c.Config()
	cfg.UserAgent = fmt.Sprintf("armaturetest-mark-%d", marks.Add(1))
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err == nil {
		_, err = client.ServerVersion()
	}
	if err != nil {
		tb.Fatalf("marking a place in the audit log: %v", err)
	}
	var said strings.Builder
	Eventually(tb, 10*time.Second, func() string {
		if _, err := io.Copy(&said, log); err != nil {
			tb.Fatalf("reading the audit log: %v", err)
		}
		if at := strings.Index(said.String(), `"`+cfg.UserAgent+`"`); at < 0 || !strings.Contains(said.String()[at:], "\n") {
			return "a request does not show up in the audit log"
		}
		return ""
	})
	return said.String()[:strings.LastIndexByte(said.String(), '\n')+1]
}

// marks numbers the requests that mark places in audit logs.
var marks atomic.Int64

// auditEvent is the part of an audit event that is counted by.
type auditEvent struct {
	Stage     string `json:"stage"`
	Verb      string `json:"verb"`
	UserAgent string `json:"userAgent"`
	ObjectRef *struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
}

func count(log io.Reader, userAgent string) (Requests, error) {
	var n Requests
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e auditEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return n, err
		}
		if strings.HasPrefix(e.UserAgent, userAgent) && (e.Stage == "ResponseComplete" || e.Verb == "watch" && e.Stage == "ResponseStarted") {
			n = n.with(e)
		}
	}
	return n, lines.Err()
}

// reading are the verbs that change nothing.
var reading = map[string]bool{"get": true, "head": true}

// with counts one more request.
func (r Requests) with(e auditEvent) Requests {
	switch ref := e.ObjectRef; {
	case ref == nil || ref.Resource == "":
		r.Discovery++
	case e.Verb == "watch" && e.Stage != "ResponseStarted": // counted when it began
	case e.Verb == "watch" || e.Verb == "list":
		r.Watches++
	case ref.Resource == "leases":
		r.Leases++
	case ref.Resource == "events":
		r.Events++
	case ref.APIGroup == "authorization.k8s.io":
		r.Reviews++
	case ref.Subresource == "status" && reading[e.Verb]:
		r.StatusReads++
	case ref.Subresource == "status":
		r.StatusWrites++
	case reading[e.Verb]:
		r.Reads++
	default:
		r.Writes++
	}
	return r
}

// Passes returns how often the controllers of an operator that runs in this process
// have been through a pass. The name is that in operator.Options.
func Passes(tb testing.TB, operator string) int {
	tb.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		tb.Fatalf("reading the metrics: %v", err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "controller" && strings.HasPrefix(l.GetValue(), operator+"-") {
					sum += m.GetCounter().GetValue()
				}
			}
		}
	}
	return int(sum)
}
