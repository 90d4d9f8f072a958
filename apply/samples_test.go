package apply_test

import (
	"fmt"
	"math/rand/v2"
	"time"

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
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/armature-go/armature/object"
)

// sampleKind is a built-in kind of which there are samples.
type sampleKind struct {
	name    string
	cluster bool // it has no namespace
	alone   bool // it changes what may be made beside it in its namespace
	make    func(g generator, meta metav1.ObjectMeta) object.Object
}

// sample returns an object of the kind, random and valid. The same rng gives the same
// object. A cluster-scoped object has no namespace, whatever ns is, and its name has
// to be unique in the cluster.
func sample(rng *rand.Rand, kind sampleKind, ns, name string) object.Object {
	meta := metav1.ObjectMeta{Namespace: ns, Name: name}
	if kind.cluster {
		meta.Namespace = ""
	}
	g := generator{rng}
	if g.maybe() {
		meta.Labels = map[string]string{"app": name, "empty": ""}
		meta.Annotations = map[string]string{"example.com/note": "x"}
	}
	return kind.make(g, meta)
}

// labels are what selects the pods of a sample.
func labels(meta metav1.ObjectMeta) map[string]string { return map[string]string{"app": meta.Name} }

// sampleKinds are all built-in kinds that operators manage.
var sampleKinds = []sampleKind{
	{name: "Deployment", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		d := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: opt(g, int32(0), 1), Selector: g.selector(labels(meta)), Template: g.template(labels(meta))}}
		if g.maybe() {
			d.Spec.Strategy = pick(g,
				appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType},
				appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: opt(g, intstr.FromInt32(2)), MaxUnavailable: opt(g, intstr.FromString("50%"))}})
		}
		return d
	}},
	{name: "ReplicaSet", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: opt(g, int32(0)), Selector: g.selector(labels(meta)), Template: g.template(labels(meta))}}
	}},
	{name: "ReplicationController", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &corev1.ReplicationController{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Replicas: opt(g, int32(0)), Selector: labels(meta), Template: new(g.template(labels(meta)))}}
	}},
	{name: "DaemonSet", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		d := &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: g.selector(labels(meta)), Template: g.template(labels(meta))}}
		if g.maybe() {
			d.Spec.UpdateStrategy = pick(g,
				appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}, appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType},
				appsv1.DaemonSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(2))}})
		}
		return d
	}},
	{name: "StatefulSet", make: statefulSet},
	{name: "Job", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &batchv1.Job{ObjectMeta: meta, Spec: g.job(labels(meta))}
	}},
	{name: "CronJob", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{
			Schedule: "0 0 1 1 *", Suspend: opt(g, true), TimeZone: opt(g, "Etc/UTC"), ConcurrencyPolicy: pick(g, "", batchv1.ForbidConcurrent),
			JobTemplate: batchv1.JobTemplateSpec{Spec: g.job(labels(meta))},
		}}
	}},
	{name: "Pod", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &corev1.Pod{ObjectMeta: meta, Spec: g.pod()}
	}},
	{name: "PodTemplate", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &corev1.PodTemplate{ObjectMeta: meta, Template: g.template(labels(meta))}
	}},
	{name: "Service", make: service},
	{name: "ConfigMap", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &corev1.ConfigMap{ObjectMeta: meta, Data: pick(g, nil, map[string]string{"a": "b", "empty": ""}), BinaryData: pick(g, nil, map[string][]byte{"bin": {0, 1, 2}}), Immutable: opt(g, true, false)}
	}},
	{name: "Secret", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &corev1.Secret{ObjectMeta: meta, Type: pick(g, "", corev1.SecretTypeOpaque), Data: pick(g, nil, map[string][]byte{"a": []byte("b"), "empty": {}}), StringData: pick(g, nil, map[string]string{"a": "c", "d": "e"})}
	}},
	{name: "ServiceAccount", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &corev1.ServiceAccount{
			ObjectMeta: meta, AutomountServiceAccountToken: opt(g, false, true), ImagePullSecrets: some(g, corev1.LocalObjectReference{Name: "a"}, corev1.LocalObjectReference{Name: "b"}),
			Secrets: some(g, corev1.ObjectReference{Name: "a"}, corev1.ObjectReference{Name: "b"}),
		}
	}},
	{name: "PersistentVolumeClaim", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: g.claim()}
	}},
	{name: "PersistentVolume", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		pv := &corev1.PersistentVolume{ObjectMeta: meta, Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{corev1.ResourceStorage: kresource.MustParse(pick(g, "1024Gi", "1Ti", "0.5Ti"))}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: "of-nobody", PersistentVolumeReclaimPolicy: pick(g, "", corev1.PersistentVolumeReclaimRetain),
		}}
		pv.Spec.PersistentVolumeSource = pick(g,
			corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "h", NodeStageSecretRef: &corev1.SecretReference{Name: "s", Namespace: "default"}}},
			corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nfs", Path: "/x"}})
		return pv
	}},
	{name: "ResourceQuota", alone: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		q := &corev1.ResourceQuota{ObjectMeta: meta, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
			corev1.ResourceRequestsCPU: kresource.MustParse(pick(g, "1000m", "4", "0.5")), corev1.ResourceLimitsMemory: kresource.MustParse(pick(g, "1024Mi", "1.5Gi")), corev1.ResourcePods: kresource.MustParse("10"),
		}}}
		if g.maybe() {
			q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpExists}}}
		}
		return q
	}},
	{name: "LimitRange", alone: true, make: limitRange},
	{name: "Namespace", cluster: true, make: func(_ generator, meta metav1.ObjectMeta) object.Object { return &corev1.Namespace{ObjectMeta: meta} }},
	{name: "PodDisruptionBudget", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{Selector: g.selector(labels(meta)), UnhealthyPodEvictionPolicy: opt(g, policyv1.AlwaysAllow)}}
		b.Spec.MinAvailable = opt(g, intstr.FromInt32(0), intstr.FromString("50%"))
		return b
	}},
	{name: "Ingress", make: ingress},
	{name: "IngressClass", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &networkingv1.IngressClass{ObjectMeta: meta, Spec: networkingv1.IngressClassSpec{
			Controller: "example.com/ingress", Parameters: pick(g, nil, &networkingv1.IngressClassParametersReference{APIGroup: opt(g, "example.com"), Kind: "Thing", Name: "x"}),
		}}
	}},
	{name: "NetworkPolicy", make: networkPolicy},
	{name: "HorizontalPodAutoscaler", make: autoscaler},
	{name: "Endpoints", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &corev1.Endpoints{ObjectMeta: meta, Subsets: []corev1.EndpointSubset{{ //nolint:staticcheck // deprecated, and in use
			Addresses: []corev1.EndpointAddress{{IP: "10.1.0.1", Hostname: pick(g, "", "a")}, {IP: "10.1.0.2"}}, Ports: []corev1.EndpointPort{{Port: 80, Protocol: pick(g, "", corev1.ProtocolTCP)}},
		}}}
	}},
	{name: "EndpointSlice", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &discoveryv1.EndpointSlice{
			ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints: some(g,
				discoveryv1.Endpoint{Addresses: []string{"10.1.0.1"}, Hostname: opt(g, "a"), Zone: opt(g, "z")},
				discoveryv1.Endpoint{Addresses: []string{"10.1.0.2"}, Conditions: discoveryv1.EndpointConditions{Ready: opt(g, true, false)}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: "x"}}),
			Ports: some(g, discoveryv1.EndpointPort{Port: new(int32(80))}, discoveryv1.EndpointPort{Name: new("dns"), Protocol: new(corev1.ProtocolUDP), Port: new(int32(53)), AppProtocol: opt(g, "dns")}),
		}
	}},
	{name: "Role", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &rbacv1.Role{ObjectMeta: meta, Rules: g.policyRules()}
	}},
	{name: "ClusterRole", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &rbacv1.ClusterRole{ObjectMeta: meta, Rules: append(g.policyRules(), rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/x"}})}
	}},
	{name: "RoleBinding", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: g.subjects(), RoleRef: rbacv1.RoleRef{APIGroup: pick(g, "", rbacv1.GroupName), Kind: pick(g, "Role", "ClusterRole"), Name: "x"}}
	}},
	{name: "ClusterRoleBinding", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: g.subjects(), RoleRef: rbacv1.RoleRef{APIGroup: pick(g, "", rbacv1.GroupName), Kind: "ClusterRole", Name: "of-nobody"}}
	}},
	{name: "StorageClass", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &storagev1.StorageClass{
			ObjectMeta: meta, Provisioner: "example.com/disk", ReclaimPolicy: opt(g, corev1.PersistentVolumeReclaimRetain), VolumeBindingMode: opt(g, storagev1.VolumeBindingWaitForFirstConsumer),
			AllowVolumeExpansion: opt(g, true), Parameters: pick(g, nil, map[string]string{"type": "fast"}), MountOptions: some(g, "ro"),
			AllowedTopologies: pick(g, nil, []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone", Values: []string{"a"}}}}}),
		}
	}},
	{name: "CSIDriver", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &storagev1.CSIDriver{ObjectMeta: meta, Spec: storagev1.CSIDriverSpec{
			AttachRequired: opt(g, false), VolumeLifecycleModes: some(g, storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral),
			TokenRequests: some(g, storagev1.TokenRequest{Audience: "a"}, storagev1.TokenRequest{Audience: "b", ExpirationSeconds: new(int64(3600))}),
		}}
	}},
	{name: "CSIStorageCapacity", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &storagev1.CSIStorageCapacity{ObjectMeta: meta, StorageClassName: "fast", Capacity: new(kresource.MustParse("1024Gi")), MaximumVolumeSize: pick(g, nil, new(kresource.MustParse("512Gi"))), NodeTopology: g.selector(nil)}
	}},
	{name: "PriorityClass", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &schedulingv1.PriorityClass{ObjectMeta: meta, Value: pick(g, int32(0), 5), Description: pick(g, "", "x"), PreemptionPolicy: opt(g, corev1.PreemptNever)}
	}},
	{name: "Lease", make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &coordinationv1.Lease{ObjectMeta: meta, Spec: coordinationv1.LeaseSpec{HolderIdentity: opt(g, "me"), LeaseDurationSeconds: opt(g, int32(15)), RenewTime: new(metav1.NewMicroTime(time.Unix(1e9, int64(g.IntN(3))*1000)))}}
	}},
	{name: "RuntimeClass", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &nodev1.RuntimeClass{
			ObjectMeta: meta, Handler: "runc", Overhead: pick(g, nil, &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: kresource.MustParse("1000m")}}),
			Scheduling: pick(g, nil, &nodev1.Scheduling{NodeSelector: map[string]string{"a": "b"}, Tolerations: []corev1.Toleration{{Key: "x", Operator: corev1.TolerationOpExists}}}),
		}
	}},
	{name: "ValidatingWebhookConfiguration", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		c := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta}
		for i := range 1 + g.IntN(2) {
			c.Webhooks = append(c.Webhooks, admissionregistrationv1.ValidatingWebhook{
				Name: fmt.Sprintf("w%d.example.com", i), ClientConfig: g.clientConfig(), Rules: g.rules(), SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
				NamespaceSelector: pick(g, nil, g.selector(nil)), TimeoutSeconds: opt(g, int32(5)), MatchConditions: some(g, admissionregistrationv1.MatchCondition{Name: "a", Expression: "true"}, admissionregistrationv1.MatchCondition{Name: "b", Expression: "true"}),
			})
		}
		return c
	}},
	{name: "MutatingWebhookConfiguration", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "w.example.com", ClientConfig: g.clientConfig(), Rules: g.rules(), SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			ObjectSelector: pick(g, nil, g.selector(nil)), FailurePolicy: opt(g, admissionregistrationv1.Ignore), ReinvocationPolicy: opt(g, admissionregistrationv1.IfNeededReinvocationPolicy),
		}}}
	}},
	{name: "ValidatingAdmissionPolicy", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: new(g.match()), Validations: []admissionregistrationv1.Validation{{Expression: "variables.a == 'x'", Message: pick(g, "", "no"), Reason: opt(g, metav1.StatusReasonForbidden)}},
			Variables: []admissionregistrationv1.Variable{{Name: "a", Expression: "'x'"}}, FailurePolicy: opt(g, admissionregistrationv1.Ignore), AuditAnnotations: some(g, admissionregistrationv1.AuditAnnotation{Key: "k", ValueExpression: "'v'"}),
		}}
	}},
	{name: "ValidatingAdmissionPolicyBinding", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "of-nobody", MatchResources: pick(g, nil, new(g.match())), ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny, admissionregistrationv1.Audit},
		}}
	}},
	{name: "MutatingAdmissionPolicy", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: new(g.match()), ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy, FailurePolicy: opt(g, admissionregistrationv1.Ignore),
			Mutations: []admissionregistrationv1.Mutation{{PatchType: admissionregistrationv1.PatchTypeJSONPatch, JSONPatch: &admissionregistrationv1.JSONPatch{Expression: `[JSONPatch{op: "add", path: "/metadata/labels/x", value: "y"}]`}}},
		}}
	}},
	{name: "MutatingAdmissionPolicyBinding", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object {
		return &admissionregistrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "of-nobody", MatchResources: pick(g, nil, new(g.match()))}}
	}},
	{name: "CustomResourceDefinition", cluster: true, make: definition},
	{name: "APIService", cluster: true, make: func(g generator, meta metav1.ObjectMeta) object.Object { // its Go type is in a module that we do not require
		version := "v" + fmt.Sprint(1+g.IntN(9))
		meta.Name = version + "." + meta.Name + ".example.com"
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("apiregistration.k8s.io/v1")
		u.SetKind("APIService")
		u.SetName(meta.Name)
		u.SetLabels(meta.Labels)
		u.Object["spec"] = map[string]any{
			"group": meta.Name[len(version)+1:], "version": version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(15), "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": "default", "name": "x"},
		}
		return u
	}},
}

func statefulSet(g generator, meta metav1.ObjectMeta) object.Object {
	s := &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
		Replicas: opt(g, int32(0)), Selector: g.selector(labels(meta)), Template: g.template(labels(meta)), ServiceName: pick(g, "", "x"), PodManagementPolicy: pick(g, "", appsv1.ParallelPodManagement),
	}}
	for i := range g.IntN(3) {
		claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("claim", i), Labels: pick(g, nil, labels(meta))}, Spec: g.claim()}
		s.Spec.VolumeClaimTemplates = append(s.Spec.VolumeClaimTemplates, claim)
	}
	if g.maybe() {
		s.Spec.UpdateStrategy = pick(g,
			appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}, appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType},
			appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: opt(g, int32(2)), MaxUnavailable: opt(g, intstr.FromInt32(2))}})
	}
	if g.maybe() {
		s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
	}
	return s
}

func (g generator) job(labels map[string]string) batchv1.JobSpec {
	j := batchv1.JobSpec{Suspend: new(true), BackoffLimit: opt(g, int32(0), 3), TTLSecondsAfterFinished: opt(g, int32(60)), Template: g.template(labels)}
	j.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	if g.maybe() {
		j.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: pick(g, "", corev1.ConditionTrue)}}},
			{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: opt(g, "main"), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{1, 5}}},
		}}
	}
	if g.maybe() {
		j.CompletionMode, j.Completions = new(batchv1.IndexedCompletion), new(int32(3))
		j.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("0"), SucceededCount: opt(g, int32(1))}}}
	}
	return j
}

func service(g generator, meta metav1.ObjectMeta) object.Object {
	s := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: pick(g, nil, labels(meta)), Type: pick(g, "", corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer)}}
	s.Spec.Ports = append(some(g,
		corev1.ServicePort{Name: "tcp", Port: 81, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("tcp")}, corev1.ServicePort{Name: "dns", Port: 80, Protocol: corev1.ProtocolUDP},
	), corev1.ServicePort{Name: "http", Port: 80, TargetPort: pick(g, intstr.IntOrString{}, intstr.FromInt32(8080)), AppProtocol: opt(g, "http")})
	if s.Spec.Type == "" && g.maybe() {
		s.Spec.ClusterIP = corev1.ClusterIPNone
	}
	s.Spec.SessionAffinity = pick(g, "", corev1.ServiceAffinityClientIP)
	s.Spec.IPFamilyPolicy = opt(g, corev1.IPFamilyPolicySingleStack)
	s.Spec.PublishNotReadyAddresses = g.maybe()
	return s
}

func limitRange(g generator, meta metav1.ObjectMeta) object.Object {
	list := func(cpu, memory string) corev1.ResourceList {
		out := corev1.ResourceList{}
		if g.maybe() {
			out[corev1.ResourceCPU] = kresource.MustParse(cpu)
		}
		if g.maybe() {
			out[corev1.ResourceMemory] = kresource.MustParse(memory)
		}
		return out
	}
	return &corev1.LimitRange{ObjectMeta: meta, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypeContainer, Max: list("4000m", "4096Mi"), Default: list("2000m", "2048Mi"), DefaultRequest: list("1000m", "1024Mi"), Min: list("100m", "65536Ki"), MaxLimitRequestRatio: list("40000m", "64")},
		{Type: corev1.LimitTypePod, Max: list("8000m", "8192Mi")},
		{Type: corev1.LimitTypePersistentVolumeClaim, Max: corev1.ResourceList{corev1.ResourceStorage: kresource.MustParse("1024Gi")}},
	}}}
}

func ingress(g generator, meta metav1.ObjectMeta) object.Object {
	backend := func() networkingv1.IngressBackend {
		return pick(g,
			networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}},
			networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Name: "http"}}},
			networkingv1.IngressBackend{Resource: &corev1.TypedLocalObjectReference{APIGroup: opt(g, "example.com"), Kind: "Bucket", Name: "b"}})
	}
	i := &networkingv1.Ingress{ObjectMeta: meta, Spec: networkingv1.IngressSpec{IngressClassName: opt(g, "nginx"), DefaultBackend: new(backend()), TLS: some(g, networkingv1.IngressTLS{Hosts: []string{"a.example"}, SecretName: "tls"}, networkingv1.IngressTLS{})}}
	for _, host := range some(g, "", "a.example") {
		paths := []networkingv1.HTTPIngressPath{{PathType: new(networkingv1.PathTypePrefix), Path: "/", Backend: backend()}, {PathType: new(networkingv1.PathTypeImplementationSpecific), Backend: backend()}}
		i.Spec.Rules = append(i.Spec.Rules, networkingv1.IngressRule{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: paths}}})
	}
	return i
}

func networkPolicy(g generator, meta metav1.ObjectMeta) object.Object {
	ports := func() []networkingv1.NetworkPolicyPort {
		return some(g,
			networkingv1.NetworkPolicyPort{Port: new(intstr.FromInt32(80)), EndPort: opt(g, int32(90))}, networkingv1.NetworkPolicyPort{},
			networkingv1.NetworkPolicyPort{Port: new(intstr.FromString("dns")), Protocol: new(corev1.ProtocolUDP)})
	}
	peers := some(g,
		networkingv1.NetworkPolicyPeer{PodSelector: g.selector(nil)}, networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{}},
		networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: some(g, "10.1.0.0/16")}})
	return &networkingv1.NetworkPolicy{ObjectMeta: meta, Spec: networkingv1.NetworkPolicySpec{
		PodSelector: pick(g, metav1.LabelSelector{}, *g.selector(labels(meta))), PolicyTypes: some(g, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress),
		Ingress: some(g, networkingv1.NetworkPolicyIngressRule{Ports: ports(), From: peers}, networkingv1.NetworkPolicyIngressRule{}),
		Egress:  some(g, networkingv1.NetworkPolicyEgressRule{Ports: ports(), To: peers}),
	}}
}

func autoscaler(g generator, meta metav1.ObjectMeta) object.Object {
	average := func() autoscalingv2.MetricTarget {
		return autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(kresource.MustParse(pick(g, "1000m", "0.5", "1.5k")))}
	}
	value := autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: new(kresource.MustParse(pick(g, "2000m", "1024Mi")))}
	metric := autoscalingv2.MetricIdentifier{Name: "m", Selector: pick(g, nil, g.selector(nil))}
	described := autoscalingv2.CrossVersionObjectReference{APIVersion: "v1", Kind: "Service", Name: "x"}
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "of-nobody"}, MinReplicas: opt(g, int32(1), 2), MaxReplicas: 5,
		Metrics: some(g,
			autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: average()}},
			autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceMemory, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(50))}}},
			autoscalingv2.MetricSpec{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: corev1.ResourceCPU, Container: "main", Target: average()}},
			autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{Metric: metric, Target: average()}},
			autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{DescribedObject: described, Metric: metric, Target: pick(g, value, average())}},
			autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{Metric: metric, Target: pick(g, value, average())}}),
	}}
	rules := func() *autoscalingv2.HPAScalingRules {
		return pick(g, nil, &autoscalingv2.HPAScalingRules{
			StabilizationWindowSeconds: opt(g, int32(0), 60), SelectPolicy: opt(g, autoscalingv2.MinChangePolicySelect), Tolerance: pick(g, nil, new(kresource.MustParse(pick(g, "0.1", "0.05")))),
			Policies: some(g, autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 1, PeriodSeconds: 30}),
		})
	}
	if g.maybe() {
		h.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(), ScaleDown: rules()}
	}
	return h
}

func (g generator) policyRules() []rbacv1.PolicyRule {
	return some(g,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods", "services"}, Verbs: []string{"get", "list"}},
		rbacv1.PolicyRule{APIGroups: []string{"apps", "batch"}, Resources: []string{"*"}, Verbs: []string{"*"}, ResourceNames: some(g, "x")})
}

func (g generator) subjects() []rbacv1.Subject {
	return some(g,
		rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "x"}, rbacv1.Subject{Kind: rbacv1.UserKind, Name: "u"},
		rbacv1.Subject{Kind: rbacv1.GroupKind, Name: "g", APIGroup: pick(g, "", rbacv1.GroupName)})
}

func (g generator) clientConfig() admissionregistrationv1.WebhookClientConfig {
	if g.maybe() {
		return admissionregistrationv1.WebhookClientConfig{URL: new("https://hook.example.com/x")}
	}
	return admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "hook", Path: opt(g, "/x"), Port: opt(g, int32(8443))}}
}

// rules match what does not exist.
func (g generator) rules() []admissionregistrationv1.RuleWithOperations {
	rule := admissionregistrationv1.Rule{APIGroups: []string{"nothing.example.com"}, APIVersions: []string{"v1"}, Resources: []string{"nothings"}, Scope: opt(g, admissionregistrationv1.NamespacedScope)}
	return []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create}, Rule: rule}}
}

func (g generator) match() admissionregistrationv1.MatchResources {
	named := func() []admissionregistrationv1.NamedRuleWithOperations {
		return []admissionregistrationv1.NamedRuleWithOperations{{ResourceNames: some(g, "x"), RuleWithOperations: g.rules()[0]}}
	}
	return admissionregistrationv1.MatchResources{ResourceRules: named(), ExcludeResourceRules: pick(g, nil, named()), NamespaceSelector: pick(g, nil, g.selector(nil)), ObjectSelector: pick(g, nil, g.selector(nil)), MatchPolicy: opt(g, admissionregistrationv1.Exact)}
}

func definition(g generator, meta metav1.ObjectMeta) object.Object {
	group := meta.Name + ".example.com"
	meta.Name = "samples." + group
	schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"size":  {Type: "integer", Minimum: new(float64(pick(g, 0, 1))), Default: pick(g, nil, &apiextensionsv1.JSON{Raw: []byte("3")}), Maximum: opt(g, 10.0, 100)},
		"names": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"a"`)}}}}, XListType: opt(g, "set")},
		"free":  {Type: "object", XPreserveUnknownFields: new(true)}, "other": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}},
	}}}}
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: meta, Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: group, Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "samples", Kind: "Sample", Singular: pick(g, "", "sample"), ShortNames: some(g, "smp")},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
			Subresources:             pick(g, nil, &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}),
			AdditionalPrinterColumns: some(g, apiextensionsv1.CustomResourceColumnDefinition{Name: "Size", Type: "integer", JSONPath: ".spec.size", Priority: pick(g, int32(0), 1)}),
		}},
	}}
	if g.maybe() {
		d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	}
	return d
}

// typesOf are the Go types of the samples.
func typesOf(s *runtime.Scheme) error { return apiextensionsv1.AddToScheme(s) }
