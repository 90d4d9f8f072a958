package object_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/armature-go/armature/object"
)

var update = flag.Bool("update", false, "write what the tests got as what they want")

// scheme knows the built-in kinds.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme,
		networkingv1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme, discoveryv1.AddToScheme, admissionregistrationv1.AddToScheme,
		storagev1.AddToScheme, schedulingv1.AddToScheme, coordinationv1.AddToScheme, nodev1.AddToScheme, apiextensionsv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}()

// builtin is one object of every kind that trees have to be right for.
var builtin = []object.Object{
	&appsv1.Deployment{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &batchv1.Job{}, &batchv1.CronJob{},
	&corev1.Service{}, &corev1.ConfigMap{}, &corev1.Secret{}, &corev1.ServiceAccount{}, &corev1.PersistentVolumeClaim{},
	&corev1.Namespace{}, &policyv1.PodDisruptionBudget{}, &networkingv1.Ingress{}, &networkingv1.NetworkPolicy{},
	&autoscalingv2.HorizontalPodAutoscaler{}, &rbacv1.Role{}, &rbacv1.RoleBinding{},
	&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}, &appsv1.ReplicaSet{}, &corev1.ReplicationController{}, &corev1.Pod{}, &corev1.PodTemplate{},
	&corev1.PersistentVolume{}, &corev1.ResourceQuota{}, &corev1.LimitRange{}, &networkingv1.IngressClass{}, &discoveryv1.EndpointSlice{},
	&admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{},
	&admissionregistrationv1.ValidatingAdmissionPolicy{}, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{},
	&admissionregistrationv1.MutatingAdmissionPolicy{}, &admissionregistrationv1.MutatingAdmissionPolicyBinding{},
	&storagev1.StorageClass{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{}, &schedulingv1.PriorityClass{}, &coordinationv1.Lease{}, &nodev1.RuntimeClass{},
	&apiextensionsv1.CustomResourceDefinition{},
}

// TestTreeGolden reads in.yaml of every case into the Go type of its kind, or leaves
// it unstructured if the file is named unstructured.yaml, and compares its tree.
func TestTreeGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/tree/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Comment) == 0 {
				t.Error("the first line has to say why the case exists")
			}
			got := []byte(treeText(read(t, archive.Files[0])))
			want := &archive.Files[1]
			if *update {
				want.Data = got
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want.Data), string(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func read(t *testing.T, file txtar.File) object.Object {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(file.Data, &u.Object); err != nil {
		t.Fatal(err)
	}
	if file.Name == "unstructured.yaml" {
		return u
	}
	made, err := scheme.New(u.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(file.Data, made); err != nil {
		t.Fatal(err)
	}
	obj, ok := made.(object.Object)
	if !ok {
		t.Fatalf("%T is not an object", made)
	}
	return obj
}

// treeText returns the tree of obj as YAML, or the error.
func treeText(obj object.Object) string {
	tree, err := object.Tree(scheme, obj)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	text, err := yaml.Marshal(tree)
	if err != nil {
		return "not YAML: " + err.Error() + "\n"
	}
	return string(text)
}

// What an author leaves out is not sent, whatever Go's encoding makes of it.
func TestTreeOfEmptyObjects(t *testing.T) {
	var got strings.Builder
	for _, obj := range builtin {
		obj := obj.DeepCopyObject().(object.Object)
		obj.SetName("x")
		fmt.Fprintf(&got, "---\n%s", treeText(obj))
	}
	const file = "testdata/empty.golden.yaml"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestTreeErrors(t *testing.T) {
	odd := func(value any) object.Object {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "acme.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"},
			"spec": map[string]any{"list": []any{map[string]any{"a": value}}},
		}}
	}
	for _, tc := range []struct {
		name string
		obj  object.Object
		want string
	}{
		{"no object", nil, "the object is nil"},
		{"a null in a list", odd([]any{"x", nil}), `encoding Widget "w": spec.list[0].a[1]: a list must not hold null; remove the element`},
		{"a Go type that is not JSON", odd([]string{"x"}), `encoding Widget "w": spec.list[0].a: a tree has no place for a Go []string; write map[string]any, []any, string, bool, int64 or float64`},
		{"a Secret whose text is no text", &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "stringData": map[string]any{"port": int64(1)},
		}}, `encoding Secret "s": stringData["port"]: must be a string`},
		{"Go's usual integers are fine", odd(map[string]any{"int": 1, "int32": int32(2)}), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := object.Tree(scheme, tc.obj)
			if got := fmt.Sprint(err); err == nil && tc.want != "" || err != nil && !strings.Contains(got, tc.want) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// A tree shares nothing with its object, so neither can be changed through the other.
func TestTreeIsACopy(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "uid": "1", "labels": map[string]any{"a": "b"}},
		"stringData": map[string]any{"k": "v"}, "data": map[string]any{"d": "ZA=="}, "status": map[string]any{},
	}}
	before := u.DeepCopy()
	tree, err := object.Tree(nil, u)
	if err != nil {
		t.Fatal(err)
	}
	tree["metadata"].(map[string]any)["labels"].(map[string]any)["a"] = "changed"
	tree["data"].(map[string]any)["d"] = "changed"
	if diff := cmp.Diff(before.Object, u.Object); diff != "" {
		t.Errorf("the object changed\n%s", diff)
	}
}

// TestTreeLaws fills objects of every kind at random and demands of each tree that it
// changes nothing, holds nothing it must not hold, loses nothing the author wrote,
// and is the tree of what it decodes to.
func TestTreeLaws(t *testing.T) {
	for _, empty := range builtin {
		t.Run(fmt.Sprintf("%T", empty), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(150) {
				obj := empty.DeepCopyObject().(object.Object)
				fill(rand.New(rand.NewPCG(seed, 7)), obj)
				checkTree(t, obj, seed)
				if t.Failed() {
					return
				}
			}
		})
	}
}

func checkTree(t *testing.T, obj object.Object, seed uint64) {
	t.Helper()
	before := obj.DeepCopyObject()
	tree, err := object.Tree(scheme, obj)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if !equality.Semantic.DeepEqual(before, obj) {
		t.Fatalf("seed %d: the object changed", seed)
	}
	if where := forbidden(tree, ""); where != "" {
		t.Fatalf("seed %d: the tree holds %s", seed, where)
	}
	decoded := empty(obj)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, decoded); err != nil {
		t.Fatalf("seed %d: decoding: %v", seed, err)
	}
	again, err := object.Tree(scheme, decoded)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if diff := cmp.Diff(tree, again); diff != "" {
		t.Fatalf("seed %d: the tree of the tree differs\n%s", seed, diff)
	}
	// What the author wrote is all there; what the API server would add may be, too.
	if want := authored(obj); !equality.Semantic.DeepDerivative(want, decoded) {
		t.Fatalf("seed %d: something was lost\n%s", seed, cmp.Diff(want, decoded, cmpopts.EquateEmpty()))
	}
	sameUnstructured(t, tree, seed)
}

// sameUnstructured demands that a tree is its own tree as an unstructured object.
func sameUnstructured(t *testing.T, tree map[string]any, seed uint64) {
	t.Helper()
	again, err := object.Tree(nil, &unstructured.Unstructured{Object: tree})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if diff := cmp.Diff(tree, again); diff != "" {
		t.Fatalf("seed %d: the tree of the unstructured tree differs\n%s", seed, diff)
	}
}

// authored returns what is to be left of obj: all but status, what the server sets,
// and a Secret's stringData, which is in its data.
func authored(obj object.Object) object.Object {
	out := obj.DeepCopyObject().(object.Object)
	gvk, err := object.GVK(scheme, obj)
	if err != nil {
		panic(err)
	}
	out.GetObjectKind().SetGroupVersionKind(gvk)
	out.SetManagedFields(nil)
	out.SetResourceVersion("")
	out.SetUID("")
	out.SetGeneration(0)
	out.SetSelfLink("")
	out.SetCreationTimestamp(metav1.Time{})
	out.SetDeletionTimestamp(nil)
	out.SetDeletionGracePeriodSeconds(nil)
	clearStatus(out)
	if s, ok := out.(*corev1.Secret); ok {
		for k, v := range s.StringData {
			if s.Data == nil {
				s.Data = map[string][]byte{}
			}
			s.Data[k] = []byte(v)
		}
		s.StringData = nil
	}
	return out
}

// forbidden returns what a tree holds although no tree may, or "".
func forbidden(node any, path string) string {
	switch node := node.(type) {
	case nil:
		return "null at " + path
	case map[string]any:
		for k, v := range node {
			if at := path + "." + k; at == ".status" || at == ".stringData" || at == ".metadata.uid" || at == ".metadata.managedFields" || at == ".metadata.creationTimestamp" {
				return at
			}
			if where := forbidden(v, path+"."+k); where != "" {
				return where
			}
		}
	case []any:
		for i, v := range node {
			if where := forbidden(v, fmt.Sprintf("%s[%d]", path, i)); where != "" {
				return where
			}
		}
	}
	return ""
}

func ExampleTree() {
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "web", Image: "web:1"}},
			Volumes:    []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		}}},
	}
	fmt.Print(treeText(web))
	// Output:
	// apiVersion: apps/v1
	// kind: Deployment
	// metadata:
	//   name: web
	//   namespace: shop
	// spec:
	//   template:
	//     spec:
	//       containers:
	//       - image: web:1
	//         name: web
	//       volumes:
	//       - emptyDir: {}
	//         name: tmp
}
