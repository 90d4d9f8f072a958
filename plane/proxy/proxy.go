package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Proxy is a running fault proxy. Its methods are safe for concurrent use.
type Proxy struct {
	server *http.Server

	mu      sync.Mutex
	rule    *Rule
	matched float64 // requests that matched the rule
	hit     float64 // those of them that it was applied to
}

// Serve answers on l with the certificates below pkiDir and passes requests on
// to target, the URL of the API server. A client certificate becomes the user
// of the request; tokens are passed on.
func Serve(l net.Listener, target, pkiDir string) (*Proxy, error) {
	upstream, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	roots := x509.NewCertPool()
	ca, err := os.ReadFile(filepath.Join(pkiDir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	roots.AppendCertsFromPEM(ca)
	pair := func(name string) (tls.Certificate, error) {
		return tls.LoadX509KeyPair(filepath.Join(pkiDir, name+".crt"), filepath.Join(pkiDir, name+".key"))
	}
	serving, err := pair("apiserver")
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	front, err := pair("front-proxy")
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	p := &Proxy{}
	quiet := log.New(discard{}, "", 0)
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			identify(r.In, r.Out)
		},
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{front}, MinVersion: tls.VersionTLS12},
			// Upgrades (exec, port-forward) need HTTP/1.1.
			ForceAttemptHTTP2: false, MaxIdleConnsPerHost: 100,
		},
		FlushInterval: -1, // watches
		ErrorLog:      quiet,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			refuse(w, http.StatusBadGateway, 0, "the proxy cannot reach the API server: "+err.Error())
		},
	}
	p.server = &http.Server{
		Handler: p.faulty(forward), ErrorLog: quiet, ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{serving}, ClientCAs: roots,
			ClientAuth: tls.VerifyClientCertIfGiven, MinVersion: tls.VersionTLS12,
		},
	}
	go func() { _ = p.server.ServeTLS(l, "", "") }()
	return p, nil
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// identify tells the API server who the client is, as proxies in front of it
// do. Whatever the client claims itself is dropped.
func identify(in, out *http.Request) {
	for h := range out.Header {
		if strings.HasPrefix(h, "X-Remote-") {
			out.Header.Del(h)
		}
	}
	if in.TLS == nil || len(in.TLS.VerifiedChains) == 0 {
		return
	}
	subject := in.TLS.VerifiedChains[0][0].Subject
	out.Header.Set("X-Remote-User", subject.CommonName)
	for _, g := range subject.Organization {
		out.Header.Add("X-Remote-Group", g)
	}
}

// Set applies a rule from now on; nil lets everything pass.
func (p *Proxy) Set(r *Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule, p.matched, p.hit = r, 0, 0
}

// Rule is the rule that applies, or nil.
func (p *Proxy) Rule() *Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rule
}

// Close ends all connections.
func (p *Proxy) Close() { _ = p.server.Close() }

// strike decides whether a request is hit. Shares are met exactly, not by
// chance: with 0.5 it is every second request.
func (p *Proxy) strike(req *http.Request) (Rule, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rule == nil || !p.rule.matches(req) {
		return Rule{}, false
	}
	share := p.rule.Share
	if share == 0 {
		share = 1
	}
	p.matched++
	if p.hit+1 > p.matched*share+1e-9 {
		return Rule{}, false
	}
	p.hit++
	return *p.rule, true
}

func (p *Proxy) faulty(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		rule, hit := p.strike(req)
		if !hit {
			next.ServeHTTP(w, req)
			return
		}
		if rule.Latency > 0 {
			select {
			case <-time.After(rule.Latency):
			case <-req.Context().Done():
				return
			}
		}
		if rule.Status == 0 {
			next.ServeHTTP(w, req)
			return
		}
		refuse(w, rule.Status, rule.RetryAfter, "a fault of the plane's proxy")
	})
}

// reasons are the ones by which clients tell API errors apart.
var reasons = map[int]string{
	http.StatusBadRequest:          "BadRequest",
	http.StatusUnauthorized:        "Unauthorized",
	http.StatusForbidden:           "Forbidden",
	http.StatusNotFound:            "NotFound",
	http.StatusConflict:            "Conflict",
	http.StatusGone:                "Expired",
	http.StatusTooManyRequests:     "TooManyRequests",
	http.StatusInternalServerError: "InternalError",
	http.StatusServiceUnavailable:  "ServiceUnavailable",
	http.StatusGatewayTimeout:      "Timeout",
}

// refuse answers like an API server would.
func refuse(w http.ResponseWriter, code int, after time.Duration, message string) {
	seconds := int(math.Ceil(after.Seconds()))
	details := map[string]any{}
	if seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		details["retryAfterSeconds"] = seconds
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": message, "reason": reasons[code], "code": code, "details": details,
	})
}
