package kind

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// field is one line of the table of what the API server does not let us change: see
// immutables. A field is immutable with all that is below it, but for what a longer
// line says otherwise. Of two lines for one path the first that holds counts.
type field struct {
	at   string // spec.containers[] are the items of a list
	is   how
	when *circumstance // only then; nil is always
	may  *change       // what is accepted all the same; nil is nothing

	since, before int // minors of the API server: from this one on, and up to that one; 0 is any

	states bool     // an empty value asks for something, too; so does leaving out a list
	filled []string // in the items of a list: what does not count unless it is stated
}

// how says what becomes of a field.
type how int

const (
	immutable how = iota
	free          // may be changed after all
	allocated     // may be changed, but once it was sent it goes on being sent
)

func (h how) String() string { return [...]string{"immutable", "free", "allocated"}[h] }

// immutables is the table, held against a real API server by a sweep over all fields
// of these kinds. A kind without lines has no immutable field; the server has no
// schema for "not after it was created", so that nothing else could tell.
var immutables = map[schema.GroupKind][]field{
	{Group: "apps", Kind: "Deployment"}: {{at: "spec.selector"}},
	{Group: "apps", Kind: "ReplicaSet"}: {{at: "spec.selector"}},
	{Group: "apps", Kind: "DaemonSet"}:  {{at: "spec.selector"}},
	{Group: "apps", Kind: "StatefulSet"}: {
		{at: "spec.selector"},
		{at: "spec.serviceName"},
		{at: "spec.podManagementPolicy"},
		{at: "spec.revisionHistoryLimit", before: 34},
		{at: "spec.volumeClaimTemplates", states: true, filled: []string{"apiVersion", "kind", "metadata.creationTimestamp", "spec.volumeMode", "status"}},
	},
	{Group: "batch", Kind: "Job"}: jobFields,
	{Kind: "Pod"}:                 podFields,
	{Kind: "Service"}:             serviceFields,
	{Kind: "PersistentVolumeClaim"}: {
		{at: "spec"},
		{at: "spec.volumeName", may: once},
		{at: "spec.storageClassName", states: true},
		{at: "spec.volumeAttributesClassName", is: free, when: bound},
		{at: "spec.resources.requests.storage", when: bound, may: grow},
	},
	{Kind: "PersistentVolume"}: volumeFields,
	{Kind: "ConfigMap"}: {
		{at: "data", when: sealed, states: true},
		{at: "binaryData", when: sealed, states: true},
		{at: "immutable", when: sealed},
	},
	{Kind: "Secret"}: {
		{at: "type"},
		{at: "data", when: sealed, states: true},
		{at: "immutable", when: sealed},
	},
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        {{at: "roleRef"}},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: {{at: "roleRef"}},
	{Group: "storage.k8s.io", Kind: "StorageClass"}: {
		{at: "provisioner"},
		{at: "parameters", states: true},
		{at: "reclaimPolicy"},
		{at: "volumeBindingMode"},
	},
	{Group: "storage.k8s.io", Kind: "CSIDriver"}: {
		{at: "spec.attachRequired"},
		{at: "spec.volumeLifecycleModes"},
	},
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}: {
		{at: "value"},
		{at: "preemptionPolicy"},
	},
	{Group: "networking.k8s.io", Kind: "IngressClass"}: {{at: "spec.controller"}},
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:       {{at: "handler"}},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: {
		{at: "spec.group"},
		{at: "spec.scope"},
		{at: "spec.names.kind"},
		{at: "spec.names.plural"},
	},
}

// jobFields make a Job one that is created once. What steers it goes on converging.
var jobFields = slices.Concat([]field{
	{at: "spec.selector"},
	{at: "spec.completionMode"},
	{at: "spec.completions", may: elastic},
	{at: "spec.podFailurePolicy"},
	{at: "spec.backoffLimitPerIndex"},
	{at: "spec.managedBy"},
	{at: "spec.successPolicy"},
	{at: "spec.template"},
}, directives(free, "metadata.annotations", "spec.nodeSelector", "spec.tolerations", "spec.schedulingGates", "spec.affinity.nodeAffinity"),
	directives(allocated, "metadata.labels"), []field{ // taking them all back would take those of the selector along
		{at: "spec.template.spec.containers[].resources", is: free, when: idle, since: 36},
		{at: "spec.template.spec.initContainers[].resources", is: free, when: idle, since: 36},
	})

// directives are what may be changed in the template of a Job that waits to be let go.
func directives(is how, paths ...string) []field {
	var out []field
	for _, path := range paths {
		out = append(out,
			field{at: "spec.template." + path, is: is, when: idle, since: 36},
			field{at: "spec.template." + path, is: is, when: unstarted, before: 36})
	}
	return out
}

var podFields = []field{
	{at: "spec"},
	{at: "spec.containers[].image", is: free},
	{at: "spec.initContainers[].image", is: free},
	{at: "spec.activeDeadlineSeconds", may: shorten},
	{at: "spec.tolerations", may: add},
	{at: "spec.schedulingGates", may: drop},
	{at: "spec.nodeSelector", when: gated, may: extend},
	{at: "spec.affinity.nodeAffinity", when: gated, may: once},
}

var serviceFields = []field{
	{at: "spec.clusterIP", when: addressed},
	{at: "spec.clusterIPs", when: addressed, may: second},
	{at: "spec.ipFamilies", when: addressed, may: second},
	{at: "spec.ipFamilyPolicy", is: allocated, when: addressed},
	{at: "spec.loadBalancerClass", when: balanced},
	{at: "spec.healthCheckNodePort", when: checked},
	{at: "spec.ports[].nodePort", is: allocated, when: onNodes},
}

// volumeFields: where a volume is, is what it is.
var volumeFields = func() []field {
	out := []field{{at: "spec.volumeMode"}, {at: "spec.nodeAffinity", may: once}}
	for _, source := range []string{
		"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker", "gcePersistentDisk",
		"glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
	} {
		out = append(out, field{at: "spec." + source})
	}
	return append(out, field{at: "spec.csi.controllerExpandSecretRef", when: driven, may: once})
}()

// rules is the table for one kind, as a tree that is walked beside objects. A nil one
// has nothing to say.
type rules struct {
	lines []*field
	below map[string]*rules
	each  *rules // the items of a list
}

// ruleTrees are the rules of all kinds in the table.
var ruleTrees = sync.OnceValue(func() map[schema.GroupKind]*rules {
	out := map[schema.GroupKind]*rules{}
	for kind, lines := range immutables {
		root := &rules{}
		for i := range lines {
			root.add(&lines[i])
		}
		out[kind] = root
	}
	return out
})

func (n *rules) add(line *field) {
	for step := range strings.SplitSeq(line.at, ".") {
		name := strings.TrimSuffix(step, "[]")
		if n.below == nil {
			n.below = map[string]*rules{}
		}
		if n.below[name] == nil {
			n.below[name] = &rules{}
		}
		n = n.below[name]
		if name == step {
			continue
		}
		if n.each == nil {
			n.each = &rules{}
		}
		n = n.each
	}
	n.lines = append(n.lines, line)
}

func (n *rules) field(name string) *rules {
	if n == nil {
		return nil
	}
	return n.below[name]
}

func (n *rules) item() *rules {
	if n == nil {
		return nil
	}
	return n.each
}

// HasImmutable reports whether objects of a kind have fields that the API server does
// not let us change, so that [Preserve] has something to say.
func HasImmutable(kind schema.GroupKind) bool {
	_, ok := immutables[kind]
	return ok || finishers[kind] != nil
}
