package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
)

const (
	component = "part" // the component of every object; Armature labels them with it
	perOwner  = 20     // objects for each owner
	partLabel = "app.kubernetes.io/part-of"
	nameLabel = "app.kubernetes.io/name"
)

// sizes say how many objects of a kind there are.
type sizes struct {
	Deployments  int `json:"deployments"`
	ConfigMaps   int `json:"configMaps"`
	Services     int `json:"services"`
	StatefulSets int `json:"statefulSets"`
}

func (s sizes) total() int { return s.Deployments + s.ConfigMaps + s.Services + s.StatefulSets }

func (s sizes) owners() int { return (s.total() + perOwner - 1) / perOwner }

// kindRow is one kind of the benchmark.
type kindRow struct {
	kind  string
	group schema.GroupVersion
	count func(sizes) int
	build func(namespace string, i int) client.Object
	drift string // a JSON patch of something that is ours; %s is a value that was not there
}

var kinds = []kindRow{
	{
		"Deployment", appsv1.SchemeGroupVersion, func(s sizes) int { return s.Deployments }, deployment,
		`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"registry.example.com/%s:1"}]`,
	},
	{
		"ConfigMap", corev1.SchemeGroupVersion, func(s sizes) int { return s.ConfigMaps }, configMap,
		`[{"op":"replace","path":"/data/settings","value":"%s"}]`,
	},
	{
		"Service", corev1.SchemeGroupVersion, func(s sizes) int { return s.Services }, service,
		`[{"op":"replace","path":"/spec/ports/0/name","value":"%s"}]`,
	},
	{
		"StatefulSet", appsv1.SchemeGroupVersion, func(s sizes) int { return s.StatefulSets }, statefulSet,
		`[{"op":"replace","path":"/metadata/labels/app.kubernetes.io~1part-of","value":"%s"}]`,
	},
}

// objectName is the name of the i-th object of a kind.
func objectName(kind string, i int) string {
	return fmt.Sprintf("%s-%03d", map[string]string{"Deployment": "web", "ConfigMap": "settings", "Service": "front", "StatefulSet": "store"}[kind], i)
}

// scaled reports whether the replicas of the i-th Deployment are left to somebody
// else, as with a HorizontalPodAutoscaler.
func scaled(i int) bool { return i%4 == 0 }

// desired is one object and who owns it.
type desired struct {
	kind   string
	owner  *corev1.ServiceAccount
	object client.Object // without what Armature adds
}

// complete returns the object with what Armature adds to every object: the label of
// its component and the controller reference. The object itself is changed.
func (d desired) complete() client.Object {
	labels := d.object.GetLabels()
	labels[apply.ComponentLabel] = component
	d.object.SetLabels(labels)
	gvk := corev1.SchemeGroupVersion.WithKind("ServiceAccount")
	d.object.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(d.owner, gvk)})
	return d.object
}

// desired builds all objects anew, as an operator does in every pass. Kinds are
// spread over the owners.
func (s *session) desired() []desired {
	var all []desired
	for _, row := range kinds {
		for i := range row.count(s.sizes) {
			all = append(all, desired{row.kind, s.owners[len(all)%len(s.owners)], row.build(s.namespace, i)})
		}
	}
	return all
}

func meta(namespace, kind string, i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: objectName(kind, i), Labels: map[string]string{
		nameLabel: objectName(kind, i), partLabel: "bench", "app.kubernetes.io/version": "1.4.2",
	}}
}

func selector(kind string, i int) map[string]string {
	return map[string]string{nameLabel: objectName(kind, i)}
}

func deployment(namespace string, i int) client.Object {
	d := &appsv1.Deployment{ObjectMeta: meta(namespace, "Deployment", i), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: selector("Deployment", i)},
		Template: pod("Deployment", i, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}),
	}}
	if !scaled(i) {
		d.Spec.Replicas = new(int32(3))
	}
	return d
}

func statefulSet(namespace string, i int) client.Object {
	return &appsv1.StatefulSet{ObjectMeta: meta(namespace, "StatefulSet", i), Spec: appsv1.StatefulSetSpec{
		Replicas:    new(int32(3)),
		ServiceName: objectName("Service", i),
		Selector:    &metav1.LabelSelector{MatchLabels: selector("StatefulSet", i)},
		Template:    pod("StatefulSet", i),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: kresource.MustParse("10Gi")},
				},
			},
		}},
	}}
}

// pod is a server with a sidecar, written the way that people write them: most of what
// the server fills in is left out.
func pod(kind string, i int, volumes ...corev1.Volume) corev1.PodTemplateSpec {
	main := corev1.Container{
		Name: "server", Image: "registry.example.com/server:1.4.2",
		Args: []string{"--listen=:8080", "--config=/etc/server/settings"},
		Env: []corev1.EnvVar{
			{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
			{Name: "LOG_LEVEL", Value: "info"},
			{Name: "SHARD", Value: fmt.Sprint(i)},
		},
		Ports: []corev1.ContainerPort{
			{Name: "web", ContainerPort: 8080, Protocol: corev1.ProtocolTCP},
			{Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: kresource.MustParse("100m"), corev1.ResourceMemory: kresource.MustParse("128Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: kresource.MustParse("256Mi")},
		},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("web")}},
			TimeoutSeconds: 1, PeriodSeconds: 5, SuccessThreshold: 1, FailureThreshold: 3, // without all of these DeepDerivative never holds
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "settings", MountPath: "/etc/server", ReadOnly: true},
			{Name: "data", MountPath: "/var/lib/server"},
		},
		SecurityContext: &corev1.SecurityContext{RunAsNonRoot: new(true), AllowPrivilegeEscalation: new(false)},
	}
	sidecar := corev1.Container{
		Name: "logs", Image: "registry.example.com/logs:0.9.0",
		Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: kresource.MustParse("10m")}},
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/server", ReadOnly: true}},
	}
	settings := corev1.Volume{Name: "settings", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: objectName("ConfigMap", i)}},
	}}
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: selector(kind, i), Annotations: map[string]string{"prometheus.io/scrape": "true"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{main, sidecar},
			Volumes:    append([]corev1.Volume{settings}, volumes...),
		},
	}
}

func service(namespace string, i int) client.Object {
	return &corev1.Service{ObjectMeta: meta(namespace, "Service", i), Spec: corev1.ServiceSpec{
		Selector: selector("Deployment", i),
		Ports: []corev1.ServicePort{
			{Name: "web", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("web")},
			{Name: "metrics", Port: 9090, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("metrics")},
		},
	}}
}

func configMap(namespace string, i int) client.Object {
	return &corev1.ConfigMap{ObjectMeta: meta(namespace, "ConfigMap", i), Data: map[string]string{
		"settings": fmt.Sprintf("shard: %d\nworkers: 4\ntimeout: 30s\nretries: 3\nlog:\n  level: info\n  format: json\n", i),
		"rules":    "allow /public\ndeny /internal\nallow /health\n",
	}}
}
