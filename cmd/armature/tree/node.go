package tree

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/api"
	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
)

// Node is one line of a tree, and what hangs from it.
type Node struct {
	Name    string                 // as people say it: "StatefulSet db", or the name of a component
	Status  metav1.ConditionStatus // whether it is ready; empty where there is no telling
	Reason  string
	Message string    // what it waits for
	Created time.Time // zero where it has no age
	Parts   []Node
}

// ready is the type of the condition that sums up all components.
const ready = "Ready"

// Of puts the tree of a custom resource together. Of the objects it takes those that
// carry a component label and have the owner as their controller, and beneath them
// the pods and claims that lead to one of them. It changes nothing that it is given.
func Of(kinds *kind.Table, owner *unstructured.Unstructured, objects []*unstructured.Unstructured) Node {
	a := assembly{kinds: kinds, owner: owner, beneath: beneathByOwner(objects)}
	status := statusOf(owner)
	root := a.judged(a.node(owner), status.Conditions, ready)
	byComponent := map[string][]*unstructured.Unstructured{}
	for _, obj := range objects {
		if name := obj.GetLabels()[apply.ComponentLabel]; name != "" && isController(owner, obj) {
			byComponent[name] = append(byComponent[name], obj)
		}
	}
	told := map[string]bool{ready: true}
	for _, c := range status.Components {
		part := Node{Name: c.Name, Parts: a.nodes(byComponent[c.Name])}
		root.Parts = append(root.Parts, a.judged(part, status.Conditions, c.Condition))
		told[c.Condition] = true
		delete(byComponent, c.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(byComponent)) {
		root.Parts = append(root.Parts, Node{Name: name, Parts: a.nodes(byComponent[name])})
	}
	for _, c := range status.Conditions {
		if !told[c.Type] {
			root.Parts = append(root.Parts, a.judged(Node{Name: "condition " + c.Type}, status.Conditions, c.Type))
		}
	}
	return root
}

// statusOf reads what the runtime keeps in the status of an owner. Conditions that
// are written in a form of their own are left out.
func statusOf(owner *unstructured.Unstructured) api.Status {
	var status struct {
		Status api.Status `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(owner.Object, &status); err != nil {
		return api.Status{}
	}
	return status.Status
}

// assembly is what the nodes of one tree are made from.
type assembly struct {
	kinds   *kind.Table
	owner   *unstructured.Unstructured
	beneath map[types.UID][]*unstructured.Unstructured
}

// judged returns the node with what a condition of the owner says, and whether that
// is about the present.
func (a assembly) judged(n Node, conditions []metav1.Condition, typ string) Node {
	c, ok := condition.Find(conditions, typ)
	switch {
	case n.Reason == deleting, !ok && n.Status != "":
		return n
	case !ok:
		n.Message = "no operator has reported on it yet"
		return n
	}
	n.Status, n.Reason, n.Message = c.Status, c.Reason, c.Message
	if c.ObservedGeneration != 0 && c.ObservedGeneration < a.owner.GetGeneration() {
		n.Message = "before the last change: " + c.Message
	}
	return n
}

func (a assembly) nodes(objects []*unstructured.Unstructured) []Node {
	var nodes []Node
	for _, obj := range sorted(objects) {
		n := a.node(obj)
		n.Parts = few(a.nodes(a.shown(obj.GetUID())))
		nodes = append(nodes, n)
	}
	return nodes
}

// shown returns what is shown beneath an object, passing over what only links.
func (a assembly) shown(uid types.UID) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, obj := range a.beneath[uid] {
		if b, ok := beneathKind(obj.GroupVersionKind().GroupKind()); ok && !b.link {
			all = append(all, obj)
			continue
		}
		all = append(all, a.shown(obj.GetUID())...)
	}
	return all
}

func (a assembly) node(obj *unstructured.Unstructured) Node {
	n := Node{Name: obj.GetKind() + " " + obj.GetName(), Created: obj.GetCreationTimestamp().Time}
	if ns := obj.GetNamespace(); ns != a.owner.GetNamespace() {
		n.Name = obj.GetKind() + " " + ns + "/" + obj.GetName()
	}
	n.Status, n.Reason, n.Message = state(a.kinds, obj)
	return n
}

// beneathByOwner files what may hang from another object under all that own it.
func beneathByOwner(objects []*unstructured.Unstructured) map[types.UID][]*unstructured.Unstructured {
	out := map[types.UID][]*unstructured.Unstructured{}
	for _, obj := range objects {
		if _, ok := beneathKind(obj.GroupVersionKind().GroupKind()); !ok || obj.GetLabels()[apply.ComponentLabel] != "" {
			continue
		}
		for _, ref := range obj.GetOwnerReferences() {
			out[ref.UID] = append(out[ref.UID], obj)
		}
	}
	return out
}

func isController(owner, obj *unstructured.Unstructured) bool {
	ref := metav1.GetControllerOf(obj)
	return ref != nil && ref.UID == owner.GetUID()
}

func sorted(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.SortedFunc(slices.Values(objects), func(a, b *unstructured.Unstructured) int {
		return cmp.Or(strings.Compare(a.GetKind(), b.GetKind()), strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
}

// most is how many parts of an object are shown.
const most = 6

// few shortens a list that nobody would read, keeping what is not ready.
func few(parts []Node) []Node {
	if len(parts) <= most {
		return parts
	}
	kept := slices.SortedStableFunc(slices.Values(parts), func(a, b Node) int { return cmp.Compare(rank(a), rank(b)) })
	left := kept[most-1:]
	kept = slices.Clone(kept[:most-1])
	slices.SortStableFunc(kept, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	settled := 0
	for _, n := range left {
		settled += rank(n)
	}
	more := Node{Name: fmt.Sprintf("and %d more", len(left)), Message: fmt.Sprintf("%d of them ready", settled)}
	return append(kept, more)
}

// rank is 1 for what needs no attention.
func rank(n Node) int {
	if n.Status == metav1.ConditionTrue {
		return 1
	}
	return 0
}
