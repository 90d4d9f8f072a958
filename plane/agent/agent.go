// Package agent is the component of a plane that Kubernetes does not bring.
//
// It runs simulated nodes and a simulated cloud, and removes quickly what is
// not wanted any more.
package agent

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/version"

	"github.com/armature-go/armature/plane/cloud"
	"github.com/armature-go/armature/plane/node"
	"github.com/armature-go/armature/plane/reap"
)

type options struct {
	kubeconfig string
	nodes      node.Options
	cloud      cloud.Options
	bind       bool
}

func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("agent", flag.ContinueOnError)
	fs.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the agent")
	fs.StringVar(&o.nodes.PKI, "pki", "", "directory of the plane's certificates")
	fs.IntVar(&o.nodes.Count, "nodes", 3, "nodes to simulate")
	fs.BoolVar(&o.bind, "bind", false, "place pods, because no kube-scheduler runs")
	fs.BoolVar(&o.cloud.LoadBalancers, "load-balancer", false, "give addresses to Services of type LoadBalancer")
	fs.BoolVar(&o.cloud.Autoscalers, "hpa", false, "simulate metrics of HorizontalPodAutoscalers")
	err := fs.Parse(args)
	if o.bind {
		o.nodes.Place = node.ByAgent
	}
	o.nodes.Version = version.Get().GitVersion
	return o, err
}

// Main runs the agent with the flags in os.Args until SIGTERM or until a part
// of it cannot go on. It returns the exit code.
func Main() int {
	o, err := parse(os.Args[1:])
	if err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT) //nolint:forbidigo // the root of a process
	defer stop()
	if err := run(ctx, o); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "plane agent:", err)
		return 1
	}
	return 0
}

// run starts the parts side by side; the first that ends with an error ends
// all of them.
func run(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cfg, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return fmt.Errorf("reading %s: %w", o.kubeconfig, err)
	}
	cfg.QPS = -1
	cfg.ContentType = "application/vnd.kubernetes.protobuf"
	cfg.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"

	parts := map[string]func(context.Context, *rest.Config) error{
		"nodes":      func(ctx context.Context, c *rest.Config) error { return node.Run(ctx, c, o.nodes) },
		"cloud":      func(ctx context.Context, c *rest.Config) error { return cloud.Run(ctx, c, o.cloud) },
		"garbage":    reap.Owned,
		"namespaces": reap.Namespaces,
	}
	done := make(chan struct{}, len(parts))
	for name, part := range parts {
		c := rest.CopyConfig(cfg)
		c.UserAgent = "plane-agent/" + name
		go func() {
			if err := part(ctx, c); err != nil {
				cancel(err)
			}
			done <- struct{}{}
		}()
	}
	<-ctx.Done()
	for range parts {
		<-done
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
