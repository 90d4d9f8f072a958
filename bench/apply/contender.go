package main

import (
	"context"
	"slices"
)

// contender is one way to keep objects as desired.
type contender interface {
	// pass makes every desired object so, once, one after another.
	pass(ctx context.Context) error
}

// forgetter is a contender that remembers something about objects, which it can drop when
// there are no more passes.
type forgetter interface {
	forget()
}

// entry is a row of the table of contenders.
type entry struct {
	name     string
	slug     string // in flags, namespaces and user agents
	module   string // whose version is told
	settings string
	cached   bool // reads from a cache, which then costs memory and watches
	prepare  func(ctx context.Context, s *session) (contender, error)

	// differs has reasons why objects of this contender may not end as Armature's
	// do, by kind and path of the field.
	differs map[string]string
}

// contenders are run in this order; the objects of the others are compared with
// those of the first.
var contenders = []entry{
	{
		name: "armature", slug: "armature", module: "github.com/armature-go/armature",
		settings: "apply.Applier; reads from a typed cache with apply.Transform; first contacts read live",
		cached:   true, prepare: newArmature,
	},
	{
		name: "create-or-update (whole spec)", slug: "update-whole", module: "sigs.k8s.io/controller-runtime",
		settings: "controllerutil.CreateOrUpdate; reads from a typed cache without managed fields; live.Spec = desired.Spec, clusterIP kept",
		cached:   true, prepare: newWholeSpec,
		differs: map[string]string{
			"Deployment spec.replicas": "assigning the whole spec takes back what was scaled",
		},
	},
	{
		name: "create-or-update (guarded)", slug: "update-guarded", module: "sigs.k8s.io/controller-runtime",
		settings: "as above, but the spec is only assigned where equality.Semantic.DeepDerivative(desired, live) does not hold, and replicas that desired does not declare are kept; such a guard does not see what desired no longer has, and never holds where the server replaces a zero that desired does not mean",
		cached:   true, prepare: newGuarded,
	},
	{
		name: "ssa-every-pass", slug: "ssa", module: "sigs.k8s.io/controller-runtime",
		settings: "client.Apply with ForceOwnership for every object in every pass; no cache, no reads",
		prepare:  newServerSide,
	},
	{
		name: "fluxcd-ssa", slug: "flux", module: "github.com/fluxcd/pkg/ssa",
		settings: "ResourceManager.ApplyAll with ssa.DefaultApplyOptions() for the objects of an owner at a time; live client, unstructured objects; concurrency 1, as NewResourceManager sets it",
		prepare:  newFlux,
	},
}

func find(slug string) (entry, bool) {
	i := slices.IndexFunc(contenders, func(e entry) bool { return e.slug == slug })
	if i < 0 {
		return entry{}, false
	}
	return contenders[i], true
}
