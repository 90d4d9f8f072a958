package main

import (
	"fmt"
	"os"
	"strings"
)

// testName is a test of a package; subtests are separated by slashes.
type testName struct{ pkg, test string }

func (n testName) String() string { return n.pkg + " " + n.test }

// top is the test function that n belongs to.
func (n testName) top() testName {
	n.test, _, _ = strings.Cut(n.test, "/")
	return n
}

// readSkips returns the skips that the file allows, each with its reason. An
// empty path allows none.
func readSkips(path string) (map[testName]string, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the list of skips: %w", err)
	}
	allowed := map[testName]string{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		entry, reason, _ := strings.Cut(line, "#")
		fields := strings.Fields(entry)
		if len(fields) == 0 { // empty, or a comment on its own line
			continue
		}
		reason = strings.TrimSpace(reason)
		if len(fields) != 2 || reason == "" {
			return nil, fmt.Errorf("%s:%d: write it as: package TestName # reason", path, number)
		}
		allowed[testName{fields[0], fields[1]}] = reason
	}
	return allowed, nil
}
