package apply_test

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// generator makes up valid content at random.
type generator struct{ *rand.Rand }

// maybe is true half of the time.
func (g generator) maybe() bool { return g.IntN(2) == 0 }

func pick[T any](g generator, from ...T) T { return from[g.IntN(len(from))] }

// some returns some of the values, in their order.
func some[T any](g generator, from ...T) []T {
	var out []T
	for _, v := range from {
		if g.maybe() {
			out = append(out, v)
		}
	}
	return out
}

// opt returns a pointer to one of the values, or nil.
func opt[T any](g generator, from ...T) *T {
	if g.maybe() {
		return nil
	}
	return new(pick(g, from...))
}

// amounts returns limits and, never above them, requests, in all spellings.
func (g generator) amounts() (limits, requests corev1.ResourceList) {
	limits, requests = corev1.ResourceList{}, corev1.ResourceList{}
	if g.maybe() {
		limits[corev1.ResourceCPU] = kresource.MustParse(pick(g, "1000m", "2", "1500m", "0.5", "1e0"))
		limits[corev1.ResourceMemory] = kresource.MustParse(pick(g, "1024Mi", "1Gi", "1000M", "1.5Gi"))
	}
	if g.maybe() {
		requests[corev1.ResourceCPU] = kresource.MustParse(pick(g, "0.1", "100m", "0.0001", "250m"))
		requests[corev1.ResourceMemory] = kresource.MustParse(pick(g, "64Mi", "65536Ki", "0.25Gi"))
	}
	return limits, requests
}

func (g generator) selector(labels map[string]string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: labels}
	if g.maybe() {
		s.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}
	}
	return s
}

func (g generator) template(labels map[string]string) corev1.PodTemplateSpec {
	t := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: g.pod()}
	if g.maybe() {
		t.Annotations = map[string]string{"note": "x"}
		t.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: kresource.MustParse("100m")}
	}
	return t
}

// pod is a pod of one or two containers with all kinds of volumes.
func (g generator) pod() corev1.PodSpec {
	p := corev1.PodSpec{Volumes: g.volumes(), Affinity: g.affinity()}
	for _, name := range some(g, "setup", "proxy") {
		c := g.container(name, p.Volumes)
		c.Lifecycle, c.LivenessProbe, c.ReadinessProbe = nil, nil, nil
		c.RestartPolicy = opt(g, corev1.ContainerRestartPolicyAlways)
		p.InitContainers = append(p.InitContainers, c)
	}
	for _, name := range append(some(g, "side"), "main") {
		p.Containers = append(p.Containers, g.container(name, p.Volumes))
	}
	p.TerminationGracePeriodSeconds = opt(g, int64(5), 60)
	p.NodeSelector = pick(g, nil, map[string]string{"disk": "fast"})
	p.ServiceAccountName = pick(g, "", "default")
	p.AutomountServiceAccountToken = opt(g, false)
	p.ImagePullSecrets = some(g, corev1.LocalObjectReference{Name: "pull-a"}, corev1.LocalObjectReference{Name: "pull-b"})
	p.HostAliases = some(g, corev1.HostAlias{IP: "10.0.0.1", Hostnames: []string{"a", "b"}}, corev1.HostAlias{IP: "10.0.0.2"})
	p.EnableServiceLinks = opt(g, true, false)
	p.DNSPolicy = pick(g, "", corev1.DNSClusterFirst, corev1.DNSDefault)
	if g.maybe() {
		p.DNSConfig = &corev1.PodDNSConfig{Nameservers: []string{"10.0.0.9"}, Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: new("2")}, {Name: "edns0"}}}
	}
	if g.maybe() {
		p.SecurityContext = &corev1.PodSecurityContext{
			RunAsNonRoot: opt(g, true, false), FSGroup: opt(g, int64(1000)), SupplementalGroups: some(g, int64(1), 2),
			Sysctls:        some(g, corev1.Sysctl{Name: "net.ipv4.ip_local_port_range", Value: "1024 65535"}),
			SeccompProfile: pick(g, nil, &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}),
		}
	}
	p.Tolerations = some(g,
		corev1.Toleration{Key: "spot", Operator: corev1.TolerationOpExists},
		corev1.Toleration{Key: "team", Value: "a", Effect: corev1.TaintEffectNoSchedule},
		corev1.Toleration{Key: "slow", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(0))})
	p.TopologySpreadConstraints = some(g,
		corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: g.selector(nil)},
		corev1.TopologySpreadConstraint{MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway})
	if g.IntN(4) == 0 {
		p.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/ready"}}
		p.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
	}
	if g.IntN(3) == 0 {
		p.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: kresource.MustParse("64000m"), corev1.ResourceMemory: kresource.MustParse("65536Mi")}}
		p.Resources.Requests = pick(g, nil, p.Resources.Limits)
	}
	return p
}

func (g generator) affinity() *corev1.Affinity {
	if g.maybe() {
		return nil
	}
	a := &corev1.Affinity{}
	term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"fast"}}}}
	if g.maybe() {
		a.NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 5, Preference: term}}}
		if g.maybe() {
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}
		}
	}
	other := corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: g.selector(nil), Namespaces: some(g, "a", "b")}
	if g.maybe() {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{other}}
	}
	if g.maybe() {
		other.NamespaceSelector = &metav1.LabelSelector{}
		a.PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: other}}}
	}
	return a
}

// volumes are some of all volumes that a claim or a driver is not needed for.
func (g generator) volumes() []corev1.Volume {
	items := some(g, corev1.KeyToPath{Key: "k", Path: "p", Mode: opt(g, int32(0o400))}, corev1.KeyToPath{Key: "l", Path: "q"})
	files := append(some(g, corev1.DownwardAPIVolumeFile{Path: "cpu", ResourceFieldRef: g.ofContainer()}),
		corev1.DownwardAPIVolumeFile{Path: "labels", FieldRef: g.ofPod("metadata.labels")})
	sources := append(some(g,
		corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: pick(g, "", "vault"), ExpirationSeconds: opt(g, int64(600))}},
		corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{Items: files}},
		corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Items: items, Optional: opt(g, false, true)}},
		corev1.VolumeProjection{PodCertificate: &corev1.PodCertificateProjection{SignerName: "example.com/signer", KeyType: "ED25519", CredentialBundlePath: "bundle", MaxExpirationSeconds: opt(g, int32(3600))}},
	), corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}})
	all := []corev1.VolumeSource{
		{},
		{EmptyDir: &corev1.EmptyDirVolumeSource{}},
		{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: new(kresource.MustParse(pick(g, "1024Mi", "1000k", "1Gi")))}},
		{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Items: items, DefaultMode: opt(g, int32(0o600))}},
		{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: items, Optional: opt(g, true, false)}},
		{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: files}},
		{Projected: &corev1.ProjectedVolumeSource{Sources: sources}},
		{HostPath: &corev1.HostPathVolumeSource{Path: "/x", Type: opt(g, corev1.HostPathDirectory)}},
		{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim", ReadOnly: g.maybe()}},
		{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: g.claim()}}},
		{CSI: &corev1.CSIVolumeSource{Driver: "csi.example.com", VolumeAttributes: map[string]string{"a": "b"}, NodePublishSecretRef: &corev1.LocalObjectReference{Name: "s"}}},
		{NFS: &corev1.NFSVolumeSource{Server: "nfs", Path: "/x"}},
		{Image: &corev1.ImageVolumeSource{Reference: "data:1"}},
	}
	var out []corev1.Volume
	for i, source := range all {
		if g.maybe() {
			out = append(out, corev1.Volume{Name: fmt.Sprint("v", i), VolumeSource: source})
		}
	}
	return out
}

func (g generator) claim() corev1.PersistentVolumeClaimSpec {
	c := corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeMode: opt(g, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)}
	c.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: kresource.MustParse(pick(g, "1024Mi", "10Gi", "5000M", "1.5Gi"))}
	if g.maybe() {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceStorage: kresource.MustParse("20480Mi")}
	}
	c.StorageClassName = opt(g, "", "fast")
	if g.maybe() {
		c.Selector = g.selector(map[string]string{"a": "b"})
	}
	return c
}

func (g generator) ofPod(path string) *corev1.ObjectFieldSelector {
	return &corev1.ObjectFieldSelector{APIVersion: pick(g, "", "v1"), FieldPath: path}
}

func (g generator) ofContainer() *corev1.ResourceFieldSelector {
	r := &corev1.ResourceFieldSelector{Resource: "limits.cpu", ContainerName: "main"}
	if g.maybe() {
		r.Divisor = kresource.MustParse(pick(g, "1m", "1000m", "1"))
	}
	return r
}

func (g generator) container(name string, volumes []corev1.Volume) corev1.Container {
	c := corev1.Container{Name: name, Image: pick(g, "app:1", "app", "registry:5000/app@sha256:"+fmt.Sprintf("%064d", 1))}
	c.Command, c.Args = some(g, "run"), some(g, "--a", "--b", "")
	c.Ports = some(g,
		corev1.ContainerPort{ContainerPort: 80},
		corev1.ContainerPort{Name: "tcp", ContainerPort: 81, Protocol: corev1.ProtocolTCP},
		corev1.ContainerPort{Name: "dns", ContainerPort: 53, Protocol: corev1.ProtocolUDP}, corev1.ContainerPort{ContainerPort: 53})
	c.Env = some(g,
		corev1.EnvVar{Name: "PLAIN", Value: "x"}, corev1.EnvVar{Name: "EMPTY"},
		corev1.EnvVar{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: g.ofPod("spec.nodeName")}},
		corev1.EnvVar{Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: g.ofContainer()}},
		corev1.EnvVar{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k", Optional: opt(g, true, false)}}},
		corev1.EnvVar{Name: "CONFIG", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Key: "k"}}})
	for _, v := range volumes {
		if v.EmptyDir != nil && g.maybe() { // other volumes must be read-only, or exist
			c.Env = append(c.Env, corev1.EnvVar{Name: "FILE_" + v.Name, ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: v.Name, Path: "f", Key: "K", Optional: opt(g, true, false)}}})
		}
		if g.maybe() && v.Ephemeral == nil && v.PersistentVolumeClaim == nil {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: v.Name, MountPath: "/" + v.Name, ReadOnly: v.Image != nil || g.maybe(), SubPath: pick(g, "", "sub")})
		}
	}
	c.EnvFrom = some(g, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}, Prefix: pick(g, "", "P_")},
		corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Optional: opt(g, false)}})
	c.Resources.Limits, c.Resources.Requests = g.amounts()
	c.LivenessProbe, c.ReadinessProbe = g.probe(), g.probe()
	if g.maybe() {
		c.Lifecycle = &corev1.Lifecycle{PreStop: pick(g, &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 1}}, &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"bye"}}})}
	}
	if g.maybe() {
		c.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: opt(g, false), ReadOnlyRootFilesystem: opt(g, true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	}
	c.ImagePullPolicy = pick(g, "", corev1.PullAlways)
	return c
}

func (g generator) probe() *corev1.Probe {
	if g.maybe() {
		return nil
	}
	return &corev1.Probe{TimeoutSeconds: pick(g, int32(0), 3), ProbeHandler: pick(g,
		corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: pick(g, "", "/healthz"), Port: pick(g, intstr.FromInt32(80), intstr.FromString("tcp")), HTTPHeaders: some(g, corev1.HTTPHeader{Name: "Host", Value: "x"})}},
		corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}},
		corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}},
		corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 80, Service: opt(g, "", "health")}})}
}
