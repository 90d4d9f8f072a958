package acceptance

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// kind installs a CustomResourceDefinition for the test and returns a client
// for its objects.
func (w *world) kind(t *testing.T, plural, kind string) dynamic.ResourceInterface {
	t.Helper()
	dyn, err := dynamic.NewForConfig(w.config)
	if err != nil {
		t.Fatal(err)
	}
	group := w.ns + ".example.com"
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + "." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names": map[string]any{"plural": plural, "kind": kind},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	crds := dyn.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := crds.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	objects := dyn.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}).Namespace(w.ns)
	eventually(t, "the new kind", func() error {
		_, err := objects.List(t.Context(), metav1.ListOptions{})
		return err
	})
	return objects
}

func (w *world) custom(t *testing.T, objects dynamic.ResourceInterface, kind, name string) *unstructured.Unstructured {
	t.Helper()
	o, err := objects.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": w.ns + ".example.com/v1", "kind": kind, "metadata": map[string]any{"name": name},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// owned creates a ConfigMap that belongs to an object.
func (w *world) owned(t *testing.T, owner *unstructured.Unstructured, name string, finalizers ...string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: meta(name)}
	cm.Finalizers = finalizers
	cm.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	if _, err := w.CoreV1().ConfigMaps(w.ns).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestOwnedObjectsGoWithTheirOwner(t *testing.T) {
	w := setup(t)
	objects := w.kind(t, "things", "Thing")
	cmGone := func(name string) func() error {
		return func() error {
			_, err := w.CoreV1().ConfigMaps(w.ns).Get(t.Context(), name, metav1.GetOptions{})
			return gone(err)
		}
	}
	ownerGone := func(name string) func() error {
		return func() error {
			_, err := objects.Get(t.Context(), name, metav1.GetOptions{})
			return gone(err)
		}
	}

	w.owned(t, w.custom(t, objects, "Thing", "background"), "of-background")
	if err := objects.Delete(t.Context(), "background", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the dependent to go in the background", cmGone("of-background"))

	w.owned(t, w.custom(t, objects, "Thing", "foreground"), "of-foreground", "example.com/wait")
	if err := objects.Delete(t.Context(), "foreground", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the dependent to be deleted", func() error {
		cm, err := w.CoreV1().ConfigMaps(w.ns).Get(t.Context(), "of-foreground", metav1.GetOptions{})
		if err == nil && cm.DeletionTimestamp == nil {
			return errors.New("it is not deleted")
		}
		return err
	})
	stays(t, "the owner waits for its dependent", func() error {
		_, err := objects.Get(t.Context(), "foreground", metav1.GetOptions{})
		return err
	})
	patch := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := w.CoreV1().ConfigMaps(w.ns).Patch(t.Context(), "of-foreground", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the dependent to go", cmGone("of-foreground"))
	eventually(t, "the owner to go", ownerGone("foreground"))
}

func TestNamespaceIsEmptiedAndGoes(t *testing.T) {
	w := setup(t)
	objects := w.kind(t, "items", "Item")
	w.custom(t, objects, "Item", "one")
	if _, err := w.AppsV1().StatefulSets(w.ns).Create(t.Context(), statefulSet(2), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.AppsV1().Deployments(w.ns).Create(t.Context(), deployment(3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.awaitPod(t, "db-1", "ready", isReady)
	if err := w.CoreV1().Namespaces().Delete(t.Context(), w.ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace to go", func() error {
		ns, err := w.CoreV1().Namespaces().Get(t.Context(), w.ns, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("conditions are %+v", ns.Status.Conditions)
		}
		return gone(err)
	})
}
