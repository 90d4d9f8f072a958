package tree

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/armature-go/armature/condition"
)

// Connect returns what is needed to talk to the cluster of a kubeconfig file, and
// the namespace to look in. An empty file means $KUBECONFIG, ~/.kube/config or the
// cluster that the program runs in; an empty namespace that of the kubeconfig.
//
// A [*NoClusterError] says that no cluster is named anywhere.
func Connect(kubeconfig, namespace string) (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{}
	overrides.Context.Namespace = namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	cfg, err := loader.ClientConfig()
	switch {
	case err != nil && kubeconfig != "":
		return nil, "", &condition.InvalidError{
			Field: "--kubeconfig " + kubeconfig, Problem: err.Error(), Fix: "name a file that plane kubeconfig or the administrator of your cluster gave you",
		}
	case clientcmd.IsEmptyConfig(err):
		return nil, "", &NoClusterError{Cause: errors.New("no kubeconfig names one")}
	case err != nil:
		return nil, "", &NoClusterError{Cause: err}
	}
	cfg.QPS = -1                           // the API server limits by priority and fairness
	cfg.WarningHandler = rest.NoWarnings{} // about old kinds, which are looked at like all others
	in, _, err := loader.Namespace()
	return cfg, in, err
}

// NoClusterError says that no API server answers.
type NoClusterError struct {
	Host  string // empty where none is named
	Cause error
}

func (e *NoClusterError) Error() string {
	at := ""
	if e.Host != "" {
		at = " at " + e.Host
	}
	return fmt.Sprintf("no Kubernetes API answers%s (%v); start one with plane up, or name a kubeconfig with --kubeconfig", at, e.Cause)
}

func (e *NoClusterError) Unwrap() error { return e.Cause }

// unanswered makes a request that got no answer a [*NoClusterError].
func (r *Reader) unanswered(err error) error {
	var transport *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &transport):
		return &NoClusterError{Host: r.host, Cause: transport.Err}
	case apierrors.IsUnauthorized(err):
		return &condition.InvalidError{Field: "credentials for " + r.host, Problem: "the cluster does not know them", Fix: "name another kubeconfig with --kubeconfig"}
	default:
		return err
	}
}
