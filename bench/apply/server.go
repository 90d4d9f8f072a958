package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// auditPolicy logs every request once, when it is answered; watches never are.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  users: ["system:apiserver"]
- level: Metadata
`

// server is the API server and the etcd of the plane program. None of the plane's
// controllers and nodes run: they would write to the objects that are measured.
type server struct {
	kubeconfig string
	audit      string // path of the log

	dir string
	env *envtest.Environment
}

// startServer runs the program under the names of its components, as envtest knows
// them. They end with this process, however it ends.
func startServer(plane string) (*server, error) {
	plane, err := filepath.Abs(plane)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(plane); err != nil {
		return nil, fmt.Errorf("finding the plane: %w; make plane builds it", err)
	}
	dir, err := os.MkdirTemp("", "bench-apply-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig"), audit: filepath.Join(dir, "audit.log")}
	if err := s.start(plane); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", plane, err), s.stop())
	}
	return s, nil
}

func (s *server) start(plane string) error {
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if err := os.Symlink(plane, filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	policy := filepath.Join(s.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	if err := os.Setenv("PLANE_PARENT", strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	env := &envtest.Environment{
		UseExistingCluster:       new(false),
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	env.ControlPlane.Etcd = &envtest.Etcd{Path: filepath.Join(s.dir, "etcd")}
	env.ControlPlane.APIServer = &envtest.APIServer{Path: filepath.Join(s.dir, "kube-apiserver")}
	env.ControlPlane.APIServer.Configure().
		Set("audit-policy-file", policy).Set("audit-log-path", s.audit).
		Set("audit-log-mode", "blocking").Set("audit-log-maxsize", "1000000")
	s.env = env
	if _, err := env.Start(); err != nil {
		return err
	}
	return os.WriteFile(s.kubeconfig, env.KubeConfig, 0o600)
}

// stop ends the server and removes everything of it.
func (s *server) stop() error {
	var err error
	if s.env != nil {
		err = s.env.Stop()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
