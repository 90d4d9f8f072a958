package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-go/armature/condition"
)

// published is how long the description of a kind may lag behind its installation.
const published = 10 * time.Second

// checkServed refuses an owner's kind that the cluster does not serve, or serves
// with a list of conditions that is replaced as a whole: then every writer of a
// condition would wipe those of the others.
func checkServed(ctx context.Context, mgr manager.Manager, gvk schema.GroupVersionKind) error {
	if _, err := mgr.GetRESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version); err != nil {
		if meta.IsNoMatchError(err) {
			return &condition.InvalidError{
				Field: gvk.Kind, Problem: fmt.Sprintf("the cluster does not serve it (%s)", gvk.GroupVersion()), Fix: "install its CustomResourceDefinition, then start the operator again",
			}
		}
		return &NoClusterError{Host: mgr.GetConfig().Host, Cause: err}
	}
	client, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return err
	}
	var list *conditionsSchema
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, published, true, func(context.Context) (bool, error) {
		var err error
		list, err = describeConditions(client, gvk)
		return list != nil, err
	})
	if wait.Interrupted(err) {
		return &condition.InvalidError{Field: gvk.Kind, Problem: "the cluster publishes no schema for its status.conditions", Fix: "declare them in its CustomResourceDefinition as a list of metav1.Condition"}
	}
	if err != nil {
		return fmt.Errorf("reading the schema of %s: %w", gvk.Kind, err)
	}
	if list.Type != "map" || !slices.Equal(list.Keys, []string{"type"}) {
		return &condition.InvalidError{
			Field: gvk.Kind, Problem: "its status.conditions are not a list with key type, so that writers of different conditions would overwrite each other",
			Fix: "mark the field with +listType=map and +listMapKey=type, and generate the CustomResourceDefinition again",
		}
	}
	return nil
}

// conditionsSchema is what matters in the schema of status.conditions.
type conditionsSchema struct {
	Type string   `json:"x-kubernetes-list-type"`
	Keys []string `json:"x-kubernetes-list-map-keys"`
}

// describeConditions reads the schema from the OpenAPI description that every
// authenticated client may read; nil if it is not there.
func describeConditions(client discovery.DiscoveryInterface, gvk schema.GroupVersionKind) (*conditionsSchema, error) {
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return nil, err
	}
	path, ok := paths["apis/"+gvk.GroupVersion().String()]
	if !ok {
		return nil, nil //nolint:nilnil // not published yet
	}
	raw, err := path.Schema("application/json")
	if err != nil {
		return nil, err
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				GVKs       []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
				Properties struct {
					Status struct {
						Properties struct {
							Conditions *conditionsSchema `json:"conditions"`
						} `json:"properties"`
					} `json:"status"`
				} `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	for _, s := range doc.Components.Schemas {
		if slices.Contains(s.GVKs, gvk) && s.Properties.Status.Properties.Conditions != nil {
			return s.Properties.Status.Properties.Conditions, nil
		}
	}
	return nil, nil //nolint:nilnil // not published yet, or not declared
}
