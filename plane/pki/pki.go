// Package pki makes the keys and certificates of one plane.
//
// They are written once and kept: tokens and kubeconfigs that were handed out
// stay valid when the plane is started again on the same directory.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Users of the API, by the common name of their certificates. All of them are
// in the group system:masters; an audit log tells them apart.
const (
	Admin             = "plane-admin"
	Supervisor        = "system:plane:supervisor"
	Agent             = "system:plane:agent"
	ControllerManager = "system:kube-controller-manager"
	Scheduler         = "system:kube-scheduler"
	KubeletClient     = "system:plane:kubelet-client"
	FrontProxy        = "system:plane:front-proxy"
)

const validFor = 10 * 365 * 24 * time.Hour

// certificate is one row of the table of what Ensure makes.
type certificate struct {
	file    string // base name of the .crt and .key files
	issuer  string // base name of the issuer, itself for a root
	subject pkix.Name
	usage   x509.ExtKeyUsage
	hosts   bool
}

func client(file, user string) certificate {
	return certificate{
		file: file, issuer: "ca", usage: x509.ExtKeyUsageClientAuth,
		subject: pkix.Name{CommonName: user, Organization: []string{"system:masters"}},
	}
}

func certificates() []certificate {
	return []certificate{
		{file: "ca", issuer: "ca", subject: pkix.Name{CommonName: "plane"}},
		{file: "front-proxy-ca", issuer: "front-proxy-ca", subject: pkix.Name{CommonName: "plane-front-proxy"}},
		{file: "apiserver", issuer: "ca", subject: pkix.Name{CommonName: "kube-apiserver"}, usage: x509.ExtKeyUsageServerAuth, hosts: true},
		{file: "kubelet", issuer: "ca", subject: pkix.Name{CommonName: "kubelet"}, usage: x509.ExtKeyUsageServerAuth, hosts: true},
		{file: "front-proxy", issuer: "front-proxy-ca", subject: pkix.Name{CommonName: FrontProxy}, usage: x509.ExtKeyUsageClientAuth},
		client("admin", Admin),
		client("supervisor", Supervisor),
		client("agent", Agent),
		client("kube-controller-manager", ControllerManager),
		client("kube-scheduler", Scheduler),
		client("kubelet-client", KubeletClient),
	}
}

// Ensure writes every missing key and certificate below dir and leaves those
// that are there alone. It also keeps the key pair that signs service account
// tokens (sa.key, sa.pub).
func Ensure(dir string, now time.Time) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i, c := range certificates() {
		if exists(filepath.Join(dir, c.file+".crt")) && exists(filepath.Join(dir, c.file+".key")) {
			continue
		}
		if err := c.write(dir, now, int64(i+1)); err != nil {
			return fmt.Errorf("making the certificate %q: %w", c.file, err)
		}
	}
	return ensureServiceAccountKeys(dir)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (c certificate) write(dir string, now time.Time, serial int64) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := c.template(now, serial)
	parent, signer := template, key
	if c.issuer != c.file {
		if parent, signer, err = load(dir, c.issuer); err != nil {
			return err
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	if err := writeKey(filepath.Join(dir, c.file+".key"), key); err != nil {
		return err
	}
	return writePEM(filepath.Join(dir, c.file+".crt"), "CERTIFICATE", der)
}

func (c certificate) template(now time.Time, serial int64) *x509.Certificate {
	t := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano() + serial),
		Subject:               c.subject,
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(validFor),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
	}
	if c.issuer == c.file {
		t.IsCA = true
		t.KeyUsage |= x509.KeyUsageCertSign
		return t
	}
	t.ExtKeyUsage = []x509.ExtKeyUsage{c.usage}
	if c.hosts {
		t.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
		t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)}
	}
	return t
}

func load(dir, file string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certDER, err := readPEM(filepath.Join(dir, file+".crt"))
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := readPEM(filepath.Join(dir, file+".key"))
	if err != nil {
		return nil, nil, err
	}
	key, err := x509.ParseECPrivateKey(keyDER)
	return cert, key, err
}

func ensureServiceAccountKeys(dir string) error {
	private, public := filepath.Join(dir, "sa.key"), filepath.Join(dir, "sa.pub")
	if exists(private) && exists(public) {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	if err := writeKey(private, key); err != nil {
		return err
	}
	return writePEM(public, "PUBLIC KEY", der)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

// writePEM replaces the file as a whole, so that a plane killed while it
// starts leaves no half of a key behind.
func writePEM(path, kind string, der []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func readPEM(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s holds no key or certificate; remove it and start again", path)
	}
	return block.Bytes, nil
}
