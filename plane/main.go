// Command plane is a Kubernetes control plane in one program.
//
// It is etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl
// and simulated nodes. See README.md.
package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	etcdversion "go.etcd.io/etcd/api/v3/version"
	kubernetesversion "k8s.io/component-base/version"

	"github.com/armature-go/armature/plane/command"
)

func main() {
	all := components()
	if run, ok := all[filepath.Base(os.Args[0])]; ok {
		os.Exit(run())
	}
	if len(os.Args) > 1 && os.Args[1] != "kubectl" { // which has a --dir of its own
		if run, ok := all[os.Args[1]]; ok {
			os.Args = os.Args[1:]
			os.Exit(run())
		}
	}
	ctx := context.Background() //nolint:forbidigo // the root of the process
	os.Exit(command.Main(ctx, os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, program()))
}

func program() command.Program {
	return command.Program{
		Kubectl: func(args []string) int {
			os.Args = append([]string{"kubectl"}, args...)
			return runKubectl()
		},
		Versions: [][2]string{
			{"kubernetes", kubernetesversion.Get().GitVersion},
			{"etcd", etcdversion.Version},
			{"go", runtime.Version()},
		},
	}
}
