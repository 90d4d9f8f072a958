package pki

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
)

// Kubeconfig returns a kubeconfig for the certificate file below dir (a base
// name such as "admin") at server. Keys and certificates are part of it, so
// that the file alone is enough.
func Kubeconfig(dir, file, server string) ([]byte, error) {
	var enc [3]string
	for i, name := range []string{"ca.crt", file + ".crt", file + ".key"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("writing a kubeconfig: %w", err)
		}
		enc[i] = base64.StdEncoding.EncodeToString(data)
	}
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: plane
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: plane
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: plane
  context:
    cluster: plane
    user: plane
current-context: plane
`, server, enc[0], enc[1], enc[2]), nil
}
