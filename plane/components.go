package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // time zones of CronJobs, also where the machine has none

	"go.etcd.io/etcd/server/v3/etcdmain"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlerror "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/armature-go/armature/plane/agent"
	"github.com/armature-go/armature/plane/guard"
)

// component runs one of the programs in this binary until it ends. Its
// arguments are in os.Args, its name first.
type component func() int

func components() map[string]component {
	return map[string]component{
		"etcd":                    guarded(runEtcd),
		"kube-apiserver":          guarded(runAPIServer),
		"kube-controller-manager": guarded(func() int { return cli.Run(controllers.NewControllerManagerCommand()) }),
		"kube-scheduler":          guarded(func() int { return cli.Run(scheduler.NewSchedulerCommand()) }),
		"agent":                   guarded(agent.Main),
		"kubectl":                 runKubectl,
	}
}

// guarded ends the component when its parent has gone: a test binary that is
// killed leaves no etcd behind.
func guarded(run component) component {
	return func() int {
		guard.Watch(func() { os.Exit(3) })
		return run()
	}
}

func runEtcd() int {
	// The write-ahead log is preallocated, twice; the default of 64 MB is for
	// clusters that live longer.
	wal.SegmentSizeBytes = 4 << 20
	// A single member elects itself; waiting a second for rivals is wasted.
	os.Args = withDefaults(os.Args, "--heartbeat-interval=10", "--election-timeout=100")
	etcdmain.Main(os.Args)
	return 0
}

func runAPIServer() int {
	if os.Getenv("PLANE_GRACEFUL") != "1" {
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
		go func() {
			<-stop
			os.Exit(0) // nothing is lost: etcd holds what was acknowledged
		}()
	}
	return cli.Run(apiserver.NewAPIServerCommand())
}

func runKubectl() int {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlerror.CheckErr(err)
	}
	return 0
}

// withDefaults appends those of the flags that args does not set.
func withDefaults(args []string, flags ...string) []string {
	for _, f := range flags {
		name, _, _ := strings.Cut(f, "=")
		given := false
		for _, a := range args[1:] {
			bare, _, _ := strings.Cut(a, "=")
			given = given || strings.TrimLeft(bare, "-") == strings.TrimLeft(name, "-")
		}
		if !given {
			args = append(args, f)
		}
	}
	return args
}
