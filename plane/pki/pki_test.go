package pki

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestEnsureKeepsWhatIsThere(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	read := func() map[string]string {
		files := map[string]string{}
		paths, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v (%v)", p, info.Mode(), err)
			}
			files[filepath.Base(p)] = string(data)
		}
		return files
	}
	if err := Ensure(dir, now); err != nil {
		t.Fatal(err)
	}
	before := read()
	if len(before) != 2*len(certificates())+2 {
		t.Errorf("%d files", len(before))
	}
	if err := os.Remove(filepath.Join(dir, "admin.crt")); err != nil {
		t.Fatal(err)
	}
	if err := Ensure(dir, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for name, data := range read() {
		remade := strings.HasPrefix(name, "admin.")
		if (before[name] != data) != remade {
			t.Errorf("%s: changed is %t, want %t", name, before[name] != data, remade)
		}
	}
}

func TestCertificatesAreWhoTheySay(t *testing.T) {
	dir := t.TempDir()
	if err := Ensure(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots.AppendCertsFromPEM(ca)
	for file, user := range map[string]string{"admin": Admin, "agent": Agent, "supervisor": Supervisor, "front-proxy": ""} {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, file+".crt"), filepath.Join(dir, file+".key"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		if user == "" { // the front proxy may speak for anybody, so its issuer must be another
			if err == nil {
				t.Error("the front proxy's certificate is good for clients")
			}
			continue
		}
		if err != nil || pair.Leaf.Subject.CommonName != user {
			t.Errorf("%s is %q (%v), want %q", file, pair.Leaf.Subject.CommonName, err, user)
		}
	}
}

func TestBrokenKeyIsExplained(t *testing.T) {
	dir := t.TempDir()
	if err := Ensure(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ca.key"), []byte("oops"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "admin.crt")); err != nil {
		t.Fatal(err)
	}
	if err := Ensure(dir, time.Now()); err == nil || !strings.Contains(err.Error(), "ca.key") || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("got %v", err)
	}
}
