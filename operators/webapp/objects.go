package webapp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/operators/webapp/v1alpha1"
)

const (
	registry    = "registry.example.com/webapp/"
	backendPort = 5432
	webPort     = 8080
	metricsPort = 9113
)

func backendService(app *v1alpha1.WebApp) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: meta(app, name(app, "backend"), "backend"),
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone,
			Selector:  labels(app, "backend"),
			Ports:     []corev1.ServicePort{port("data", backendPort)},
		},
	}
}

func backendStatefulSet(app *v1alpha1.WebApp) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: meta(app, name(app, "backend"), "backend"),
		Spec: appsv1.StatefulSetSpec{
			ServiceName: name(app, "backend"),
			Replicas:    &app.Spec.Backend.Replicas,
			Selector:    &metav1.LabelSelector{MatchLabels: labels(app, "backend")},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(app, "backend")},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:         "backend",
					Image:        registry + "backend:" + app.Spec.Version,
					Ports:        []corev1.ContainerPort{{Name: "data", ContainerPort: backendPort, Protocol: corev1.ProtocolTCP}},
					VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/webapp"}},
				}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: app.Spec.Backend.Storage},
					},
				},
			}},
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType, // the data goes with the WebApp
				WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType, // and stays while it is suspended
			},
		},
	}
}

func frontendService(app *v1alpha1.WebApp) *corev1.Service {
	serviceName := app.Spec.ServiceName
	if serviceName == "" {
		serviceName = name(app, "")
	}
	return &corev1.Service{
		ObjectMeta: meta(app, serviceName, "frontend"),
		Spec: corev1.ServiceSpec{
			Selector: labels(app, "frontend"),
			Ports:    []corev1.ServicePort{port("web", webPort)},
		},
	}
}

func frontendDeployment(app *v1alpha1.WebApp) *appsv1.Deployment {
	return deployment(app, "frontend", app.Spec.Replicas, corev1.Container{
		Name:  "frontend",
		Image: registry + "frontend:" + app.Spec.Version,
		Env:   []corev1.EnvVar{{Name: "BACKEND", Value: fmt.Sprintf("%s:%d", name(app, "backend"), backendPort)}},
		Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: webPort, Protocol: corev1.ProtocolTCP}},
	})
}

func exporterDeployment(app *v1alpha1.WebApp) *appsv1.Deployment {
	return deployment(app, "exporter", 1, corev1.Container{
		Name:  "exporter",
		Image: registry + "exporter:" + app.Spec.Version,
		Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: kresource.MustParse("10m")},
		},
	})
}

func deployment(app *v1alpha1.WebApp, part string, replicas int32, container corev1.Container) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: meta(app, name(app, part), part),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels(app, part)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(app, part)},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{container}},
			},
		},
	}
}

// keepSessionsInCookies is what version 1 needs: it has no session store of its own.
func keepSessionsInCookies(d *appsv1.Deployment) error {
	frontend := &d.Spec.Template.Spec.Containers[0]
	frontend.Env = append(frontend.Env, corev1.EnvVar{Name: "SESSION_STORE", Value: "cookie"})
	return nil
}

// serveTLS mounts the certificate, and lets the pods roll when it is renewed.
func serveTLS(cert *corev1.Secret) func(*appsv1.Deployment) error {
	return func(d *appsv1.Deployment) error {
		sum := sha256.Sum256(cert.Data[corev1.TLSCertKey])
		d.Spec.Template.Annotations = map[string]string{"examples.armature.dev/certificate": hex.EncodeToString(sum[:8])}
		pod := &d.Spec.Template.Spec
		pod.Volumes = append(pod.Volumes, corev1.Volume{
			Name:         "tls",
			VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: cert.Name}},
		})
		pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "tls", MountPath: "/etc/webapp/tls", ReadOnly: true})
		return nil
	}
}

func port(portName string, number int32) corev1.ServicePort {
	return corev1.ServicePort{Name: portName, Port: number, TargetPort: intstr.FromString(portName), Protocol: corev1.ProtocolTCP}
}

// wait says what the WebApp waits for.
func wait(format string, args ...any) error {
	return &condition.WaitError{Message: "waiting for " + fmt.Sprintf(format, args...)}
}
