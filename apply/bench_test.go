package apply

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/armature-go/armature/object"
)

// deployment is of the size that operators make: two containers with probes,
// variables, ports and mounts, and all that the server fills in.
func deployment() *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": "shop", "app.kubernetes.io/managed-by": "test"}
	probe := &corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP}},
		TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
	}
	container := func(name string, port int32) corev1.Container {
		c := corev1.Container{
			Name: name, Image: "registry.example.com/" + name + ":1.2.3", Args: []string{"--config=/etc/web/config.yaml", "--log=json"},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP}, {Name: "metrics", ContainerPort: port + 1, Protocol: corev1.ProtocolTCP}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: kresource.MustParse("100m"), corev1.ResourceMemory: kresource.MustParse("128Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: kresource.MustParse("256Mi")},
			},
			VolumeMounts:  []corev1.VolumeMount{{Name: "config", MountPath: "/etc/web", ReadOnly: true}, {Name: "tmp", MountPath: "/tmp"}},
			LivenessProbe: probe, ReadinessProbe: probe,
			SecurityContext: &corev1.SecurityContext{ReadOnlyRootFilesystem: new(true), AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
			ImagePullPolicy: corev1.PullIfNotPresent, TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		}
		for i := range 8 {
			c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: fmt.Sprintf("value-%d", i)})
		}
		return c
	}
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: "0b6b9f4e-6d1c-4f0e-9a57-2f1f7a2c3d4e", ResourceVersion: "12345", Generation: 3, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "WebApp", Name: "shop", UID: ownerUID, Controller: new(true), BlockOwnerDeletion: new(true)}},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromString("25%")), MaxUnavailable: new(intstr.FromInt32(0))}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{"checksum/config": "d2c76e2f6c0b4a0c"}},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{container("web", 8080), container("proxy", 9090)}, ServiceAccountName: "web",
					RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst, SchedulerName: corev1.DefaultSchedulerName, TerminationGracePeriodSeconds: new(int64(30)),
					SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true), FSGroup: new(int64(1000))},
					Volumes: []corev1.Volume{
						{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}}}},
						{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
					},
				},
			},
		},
	}
}

func configMap() *corev1.ConfigMap {
	cm := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1", ResourceVersion: "12345", Labels: map[string]string{"app": "web"}},
		Data:       map[string]string{},
	}
	for i := range 10 {
		cm.Data[fmt.Sprintf("key-%d", i)] = fmt.Sprintf("a value of some length, number %d", i)
	}
	return cm
}

const ownerUID = types.UID("7d8f6a9c-11f0-4c35-9e6c-0a1b2c3d4e5f")

// listKeys are the keys of the lists in a Deployment; those that are missing here
// are replaced as a whole.
var listKeys = map[string][]string{
	"containers": {"name"}, "env": {"name"}, "ports": {"containerPort", "protocol"}, "volumes": {"name"}, "volumeMounts": {"mountPath"}, "ownerReferences": {"uid"},
}

// claims is the set of fields that the server notes for an apply of the tree.
func claims(name string, node any) map[string]any {
	out := map[string]any{}
	switch node := node.(type) {
	case map[string]any:
		if name == "selector" {
			break
		}
		for k, v := range node {
			out["f:"+k] = claims(k, v)
		}
	case []any:
		for _, item := range node {
			keys := map[string]any{}
			for _, k := range listKeys[name] {
				keys[k] = item.(map[string]any)[k]
			}
			if len(keys) > 0 {
				raw, _ := json.Marshal(keys)
				out["k:"+string(raw)] = claims("", item)
				out["k:"+string(raw)].(map[string]any)["."] = map[string]any{}
			}
		}
	}
	return out
}

// stored returns the target for desired, and what the server makes of it, in which
// all of it is owned.
func stored(tb testing.TB, a *Applier, desired object.Object) (target, object.Object) {
	tb.Helper()
	key, err := object.KeyOf(scheme.Scheme, desired)
	if err != nil {
		tb.Fatal(err)
	}
	tree, err := object.Tree(scheme.Scheme, desired)
	if err != nil {
		tb.Fatal(err)
	}
	owner := &unstructured.Unstructured{}
	owner.SetUID(ownerUID)
	fields, err := json.Marshal(claims("", declared(tree)))
	if err != nil {
		tb.Fatal(err)
	}
	live := desired.DeepCopyObject().(object.Object)
	live.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: a.Manager(owner), Operation: metav1.ManagedFieldsOperationApply, APIVersion: key.GVK.GroupVersion().String(),
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(fields)),
	}})
	return target{owner: owner, desired: desired, key: key, tree: tree, hash: digest(tree)}, live
}

func untyped(tb testing.TB, obj object.Object) *unstructured.Unstructured {
	tb.Helper()
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		tb.Fatal(err)
	}
	return &unstructured.Unstructured{Object: tree}
}

func newApplier() *Applier { return &Applier{controller: "bench", now: time.Now} }

// samples are the objects of the benchmarks, typed and not.
func samples(b *testing.B, run func(b *testing.B, a *Applier, t target, live object.Object)) {
	b.Helper()
	for _, obj := range []object.Object{deployment(), configMap()} {
		for _, form := range []string{"typed", "unstructured"} {
			b.Run(obj.GetObjectKind().GroupVersionKind().Kind+"/"+form, func(b *testing.B) {
				a := newApplier()
				t, live := stored(b, a, obj)
				if form == "unstructured" {
					live = untyped(b, live)
				}
				b.ReportAllocs()
				run(b, a, t, live)
			})
		}
	}
}

func BenchmarkProject(b *testing.B) {
	samples(b, func(b *testing.B, a *Applier, t target, live object.Object) {
		b.Helper()
		p, err := a.records.program(t.owner.GetUID(), entry(live, a.Manager(t.owner), ""))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			p.of("").project(nodeOf(live))
		}
	})
}

// BenchmarkDigest is the one digest of what is desired that a decision needs.
func BenchmarkDigest(b *testing.B) {
	for _, obj := range []object.Object{deployment(), configMap()} {
		b.Run(obj.GetObjectKind().GroupVersionKind().Kind, func(b *testing.B) {
			b.ReportAllocs()
			t, _ := stored(b, newApplier(), obj)
			for b.Loop() {
				digest(t.tree)
			}
		})
	}
}

// BenchmarkDecideUnchanged is the fast path: the resource version is that of the record.
func BenchmarkDecideUnchanged(b *testing.B) {
	samples(b, func(b *testing.B, a *Applier, t target, live object.Object) {
		b.Helper()
		decide(b, a, t, live)
		for b.Loop() {
			decide(b, a, t, live)
		}
	})
}

// BenchmarkDecideForeign is a decision after somebody else wrote what is not ours.
func BenchmarkDecideForeign(b *testing.B) {
	samples(b, func(b *testing.B, a *Applier, t target, live object.Object) {
		b.Helper()
		versions := []string{"12346", "12347"}
		decide(b, a, t, live)
		for b.Loop() {
			slices.Reverse(versions)
			live.SetResourceVersion(versions[0])
			decide(b, a, t, live)
		}
	})
}

// BenchmarkAdopt is the first decision after a restart.
func BenchmarkAdopt(b *testing.B) {
	samples(b, func(b *testing.B, a *Applier, t target, live object.Object) {
		b.Helper()
		for b.Loop() {
			a.records.drop(t.owner.GetUID(), t.key)
			decide(b, a, t, live)
		}
	})
}

func decide(b *testing.B, a *Applier, t target, live object.Object) {
	b.Helper()
	if settled, err := a.nothingToDo(b.Context(), t, live); err != nil || !settled {
		b.Fatalf("settled: %t, %v", settled, err)
	}
}
