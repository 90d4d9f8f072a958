package component

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// Suspension leaves alone what belongs to somebody else, and takes the owner off what it
// shares, whatever the kind would do to it.
func TestSuspensionOfWhatIsNotOurs(t *testing.T) {
	c := newCluster(t)
	c.faults["apply Deployment theirs"] = &apply.ConflictError{Key: object.Key{GVK: kinds["Deployment"], Name: "theirs"}, Holder: "Thing other"}
	c.put("web", deployment("shared"))
	res := Run(t.Context(), c.env(noon), newShop(), []Component{{Name: "web", Condition: "WebReady", Suspend: true, Resources: []Resource{
		resource.Manage(deployment("theirs")), resource.Manage(deployment("shared")).Shared(), resource.Manage(deployment("ours")),
	}}})
	if got := said(res.Reports[0]); got != "True/Suspended: All resources are suspended." {
		t.Error(got)
	}
	if got := res.Reports[0].States[0].Message; got != "it belongs to Thing other and is left alone" {
		t.Error(got)
	}
	if calls := c.takeCalls(); !slices.Equal(calls, []string{"apply Deployment theirs", "delete Deployment shared", "apply Deployment ours"}) {
		t.Error(calls)
	}
}

// The two shapes that cannot be owned by reference are told apart, and each says what
// would make it legal.
func TestIllegalShapesAreToldApart(t *testing.T) {
	c := newCluster(t)
	env := c.env(noon)
	env.Owns = append(env.Owns, kinds["Namespace"])
	far := deployment("far")
	far.Namespace = "bank"
	namespace := named(t, c.scheme, "Namespace", "a")
	for want, r := range map[apply.Shape]Resource{
		apply.OtherNamespace: resource.Manage(far),
		apply.ClusterScoped:  resource.Manage(namespace),
	} {
		err := Validate(env, newShop(), []Component{with("web", r)})
		shapes := leaves[*apply.ShapeError](err)
		if len(shapes) != 1 || shapes[0].Shape != want || !condition.IsInvalid(err) {
			t.Errorf("%s: %v", want, err)
		}
	}
	both := resource.Manage(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}).Tracked().Shared()
	if err := Validate(env, newShop(), []Component{with("web", both)}); err == nil || err.Error() != `component "web", Deployment a: it is both tracked and shared` {
		t.Error(err)
	}
}
