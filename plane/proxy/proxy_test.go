package proxy

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestRuleValidate(t *testing.T) {
	for _, row := range []struct {
		rule Rule
		says string // empty if the rule is fine
	}{
		{Rule{Status: 429}, ""},
		{Rule{Latency: time.Second}, ""},
		{Rule{Status: 503, RetryAfter: time.Second, Latency: time.Second, Share: 0.5, Methods: []string{"PATCH"}, Path: "/api"}, ""},
		{Rule{}, "--status"},
		{Rule{Status: 200}, "--status 200"},
		{Rule{Status: 600}, "--status 600"},
		{Rule{Latency: -1}, "negative"},
		{Rule{Latency: 1, RetryAfter: 1}, "--retry-after"},
		{Rule{Status: 500, Share: 1.5}, "--share 1.5"},
		{Rule{Status: 500, Share: math.NaN()}, "--share NaN"},
		{Rule{Status: 500, Methods: []string{"get"}}, "get"},
		{Rule{Status: 500, Path: "api"}, "slash"},
	} {
		err := row.rule.Validate()
		if row.says == "" && err != nil || row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)) {
			t.Errorf("%+v: %v, want %q", row.rule, err, row.says)
		}
	}
}

func TestRuleString(t *testing.T) {
	r := Rule{Status: 429, RetryAfter: time.Second, Share: 0.5, Methods: []string{"GET", "PATCH"}, Path: "/api"}
	if got, want := r.String(), "--status 429 --retry-after 1s --share 0.5 --method GET --method PATCH --path /api"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSharesAreExact counts who is hit, for shares that floats cannot hold.
func TestSharesAreExact(t *testing.T) {
	for share, want := range map[float64]int{0: 100, 1: 100, 0.5: 50, 0.1: 10, 0.3: 30, 0.01: 1} {
		p := &Proxy{}
		p.Set(&Rule{Status: 500, Share: share})
		hits := 0
		for range 100 {
			if _, hit := p.strike(httptest.NewRequest(http.MethodGet, "/x", http.NoBody)); hit {
				hits++
			}
		}
		if hits != want {
			t.Errorf("a share of %g hits %d of 100, want %d", share, hits, want)
		}
	}
}

func TestClaimsAboutTheUserAreDropped(t *testing.T) {
	in := httptest.NewRequest(http.MethodGet, "/x", http.NoBody)
	out := httptest.NewRequest(http.MethodGet, "/x", http.NoBody)
	out.Header.Set("X-Remote-User", "system:admin")
	out.Header.Set("X-Remote-Group", "system:masters")
	identify(in, out)
	for h := range out.Header {
		if strings.HasPrefix(h, "X-Remote-") {
			t.Errorf("%s is passed on", h)
		}
	}
}
