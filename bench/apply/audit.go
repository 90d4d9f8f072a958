package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
)

// requests counts what reached the server from one contender. armaturetest counts in
// the same way, but for tests, for planes of its own, and without telling dry runs
// apart.
type requests struct {
	Reads        int `json:"reads"`
	DryRuns      int `json:"dryRuns"` // writes that ask what would happen
	Writes       int `json:"writes"`
	StatusReads  int `json:"statusReads"`
	StatusWrites int `json:"statusWrites"`
	Watches      int `json:"watches"`   // that ended, and the lists that began them
	Elsewhere    int `json:"elsewhere"` // leases, events, discovery
}

// sum is what a contender at rest should not send.
func (r requests) sum() int { return r.Reads + r.DryRuns + r.Writes + r.StatusReads + r.StatusWrites }

// auditEvent is the part of a line that is counted by.
type auditEvent struct {
	Verb       string `json:"verb"`
	UserAgent  string `json:"userAgent"`
	RequestURI string `json:"requestURI"`
	ObjectRef  *struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
}

func (r requests) with(e auditEvent) requests {
	read := e.Verb == "get" || e.Verb == "head"
	switch ref := e.ObjectRef; {
	case ref == nil || ref.Resource == "" || ref.Resource == "leases" || ref.Resource == "events":
		r.Elsewhere++
	case e.Verb == "watch" || e.Verb == "list":
		r.Watches++
	case strings.Contains(e.RequestURI, "dryRun=All"):
		r.DryRuns++
	case ref.Subresource == "status" && read:
		r.StatusReads++
	case ref.Subresource == "status":
		r.StatusWrites++
	case read:
		r.Reads++
	default:
		r.Writes++
	}
	return r
}

// auditLog is read forward, from one phase to the next.
type auditLog struct {
	kubeconfig string
	file       *os.File
	rest       []byte // of a line that is not complete
	marks      int
	counted    map[string]requests // by user agent
}

func openAudit(s *server) (*auditLog, error) {
	file, err := os.Open(s.audit)
	if err != nil {
		return nil, err
	}
	return &auditLog{kubeconfig: s.kubeconfig, file: file, counted: map[string]requests{}}, nil
}

// take returns what a user agent has sent since the last time, which is expected to
// be so many reads and writes.
func (l *auditLog) take(ctx context.Context, userAgent string, expected int64) (requests, error) {
	deadline := time.Now().Add(patience)
	for {
		if err := l.mark(ctx); err != nil {
			return requests{}, err
		}
		got := l.counted[userAgent]
		if int64(got.sum()) == expected {
			delete(l.counted, userAgent)
			return got, nil
		}
		if time.Now().After(deadline) {
			return requests{}, fmt.Errorf("the audit log has %d requests of %s, which has sent %d", got.sum(), userAgent, expected)
		}
	}
}

// mark sends a request of its own and reads the log until that shows up.
func (l *auditLog) mark(ctx context.Context) error {
	l.marks++
	mark := fmt.Sprintf("bench-mark-%d", l.marks)
	cfg, err := load(l.kubeconfig, mark)
	if err != nil {
		return err
	}
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return err
	}
	if _, err := client.ServerVersion(); err != nil {
		return err
	}
	deadline := time.Now().Add(patience)
	for l.counted[mark] == (requests{}) {
		if err := l.read(); err != nil {
			return err
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return errors.Join(errors.New("a request does not show up in the audit log"), ctx.Err())
		}
		time.Sleep(2 * time.Millisecond)
	}
	delete(l.counted, mark)
	return nil
}

// read counts the lines that have come.
func (l *auditLog) read() error {
	more, err := io.ReadAll(l.file)
	if err != nil {
		return err
	}
	text := append(l.rest, more...)
	end := bytes.LastIndexByte(text, '\n') + 1
	l.rest = bytes.Clone(text[end:])
	lines := bufio.NewScanner(bytes.NewReader(text[:end]))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e auditEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("reading the audit log: %w", err)
		}
		l.counted[e.UserAgent] = l.counted[e.UserAgent].with(e)
	}
	return lines.Err()
}

func (l *auditLog) close() error { return l.file.Close() }
