package kind

import (
	"slices"

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
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/object"
)

// builtin returns the rows of the kinds that the library knows.
func builtin() []Kind {
	return slices.Concat(workloads(), integrations(), statics(), foreign())
}

// workloads are the kinds with pods of their own.
func workloads() []Kind {
	apps, batch, core := appsv1.SchemeGroupVersion, batchv1.SchemeGroupVersion, corev1.SchemeGroupVersion
	return []Kind{
		{
			GVK: apps.WithKind("Deployment"), Category: Workload, Scope: Namespaced,
			Means:  "all replicas are ready and of the latest template, and no surplus pod is left",
			Health: on(deploymentHealth), Grace: of(deploymentGrace),
			Suspend: Suspension{How: Scale, Mutate: assign(deploymentToZero, int64(0), "spec", "replicas"), Status: of(deploymentRest)},
		},
		{
			GVK: apps.WithKind("StatefulSet"), Category: Workload, Scope: Namespaced,
			Means:  "all replicas are ready, no surplus pod is left, and the rollout is complete as far as its strategy wants it",
			Health: on(statefulSetHealth), Grace: of(statefulSetGrace),
			Suspend: Suspension{How: Scale, Mutate: assign(statefulSetToZero, int64(0), "spec", "replicas"), Status: of(statefulSetRest)},
		},
		{
			GVK: apps.WithKind("DaemonSet"), Category: Workload, Scope: Namespaced,
			Means:  "a pod of the latest template is ready on every node that is for it",
			Health: on(daemonSetHealth), Grace: of(daemonSetGrace),
			Suspend: Suspension{How: Delete, Status: rests("it is deleted while suspended, because a DaemonSet cannot be scaled down")},
		},
		{
			GVK: apps.WithKind("ReplicaSet"), Category: Workload, Scope: Namespaced,
			Means:  "all replicas are ready, and no surplus pod is left",
			Health: on(replicaSetHealth), Grace: of(replicaSetGrace),
			Suspend: Suspension{How: Scale, Mutate: assign(replicaSetToZero, int64(0), "spec", "replicas"), Status: of(replicaSetRest)},
		},
		{
			GVK: core.WithKind("ReplicationController"), Category: Workload, Scope: Namespaced,
			Means:  "all replicas are ready, and no surplus pod is left",
			Health: on(replicationHealth), Grace: of(replicationGrace),
			Suspend: Suspension{How: Scale, Mutate: assign(replicationToZero, int64(0), "spec", "replicas"), Status: of(replicationRest)},
		},
		{
			GVK: core.WithKind("Pod"), Category: Workload, Scope: Namespaced,
			Means:  "it runs, all its containers and the pod itself are ready, or it has ended with success",
			Health: on(podHealth), Grace: of(podGrace),
			Suspend: Suspension{How: Delete, Status: rests("it is deleted while suspended, because a Pod cannot be scaled down")},
		},
		{
			GVK: batch.WithKind("Job"), Category: Task, Scope: Namespaced,
			Means:  "it has ended with success",
			Health: on(jobHealth), Grace: of(jobGrace),
			Suspend: Suspension{How: Delete, Mutate: assign(jobToRest, true, "spec", "suspend"), Status: of(jobRest), Spares: holds(jobEnded)},
		},
	}
}

// integrations are the kinds of Kubernetes for which somebody else does something.
func integrations() []Kind {
	core := corev1.SchemeGroupVersion
	kept := Suspension{How: Keep, Status: rests("it is kept")}
	return []Kind{
		{
			GVK: batchv1.SchemeGroupVersion.WithKind("CronJob"), Category: Integration, Scope: Namespaced,
			Means:  "it exists; its next run may be far away",
			Health: on(cronJobHealth), Grace: of(cronJobGrace),
			Suspend: Suspension{How: Pause, Mutate: assign(cronJobToRest, true, "spec", "suspend"), Status: of(cronJobRest)},
		},
		{
			GVK: core.WithKind("Service"), Category: Integration, Scope: Namespaced,
			Means:  "it exists and, if it is of type LoadBalancer, has an address",
			Health: on(serviceHealth), Grace: of(serviceGrace), Suspend: kept,
		},
		{
			GVK: networkingv1.SchemeGroupVersion.WithKind("Ingress"), Category: Integration, Scope: Namespaced,
			Means:  "it has an address",
			Health: on(ingressHealth), Grace: of(ingressGrace),
			Suspend: Suspension{How: Keep, Status: rests("it is kept, and answers that its backend is unavailable")},
		},
		{
			GVK: autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"), Category: Integration, Scope: Namespaced,
			Means:  "its condition `ScalingActive` is True, and `AbleToScale` is not False",
			Health: on(autoscalerHealth), Grace: of(autoscalerGrace),
			Suspend: Suspension{How: Delete, Status: rests("it is deleted while suspended, because it would scale its target up again")},
		},
		{
			GVK: core.WithKind("PersistentVolumeClaim"), Category: Integration, Scope: Namespaced,
			Means:  "it is bound",
			Health: on(claimHealth), Grace: of(claimGrace),
			Suspend: Suspension{How: Keep, Status: rests("it is kept, with its data")},
		},
		{
			GVK: core.WithKind("PersistentVolume"), Category: Integration, Scope: Cluster,
			Means:  "it is available or bound",
			Health: on(volumeHealth), Grace: of(volumeGrace),
			Suspend: Suspension{How: Keep, Status: rests("it is kept, with its data")},
		},
		{
			GVK:      schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
			Category: Integration, Scope: Cluster,
			Means:  "its condition `Established` is True, and `NamesAccepted` is not False",
			Health: shown("CustomResourceDefinition", still(definitionHealth)), Grace: showing("CustomResourceDefinition", definitionGrace), Suspend: kept,
		},
		{
			GVK:      schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
			Category: Integration, Scope: Cluster,
			Means:  "its condition `Available` is True",
			Health: shown("APIService", still(apiHealth)), Grace: leniently("APIService", apiHealth), Suspend: kept,
		},
	}
}

// statics are the kinds of Kubernetes that are ready by being there.
func statics() []Kind {
	const exists = "it exists"
	rows := []Kind{{
		GVK: corev1.SchemeGroupVersion.WithKind("Namespace"), Category: Static, Scope: Cluster,
		Means: "it exists and is not being deleted, else what comes after it waits", Health: on(namespaceHealth),
	}}
	for _, of := range []struct {
		group schema.GroupVersion
		scope Scope
		kinds []string
	}{
		{admissionregistrationv1.SchemeGroupVersion, Cluster, []string{
			"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
			"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
		}},
		{coordinationv1.SchemeGroupVersion, Namespaced, []string{"Lease"}},
		{corev1.SchemeGroupVersion, Namespaced, []string{"ConfigMap", "LimitRange", "ResourceQuota", "Secret", "ServiceAccount"}},
		{discoveryv1.SchemeGroupVersion, Namespaced, []string{"EndpointSlice"}},
		{networkingv1.SchemeGroupVersion, Cluster, []string{"IngressClass"}},
		{networkingv1.SchemeGroupVersion, Namespaced, []string{"NetworkPolicy"}},
		{nodev1.SchemeGroupVersion, Cluster, []string{"RuntimeClass"}},
		{policyv1.SchemeGroupVersion, Namespaced, []string{"PodDisruptionBudget"}},
		{rbacv1.SchemeGroupVersion, Cluster, []string{"ClusterRole", "ClusterRoleBinding"}},
		{rbacv1.SchemeGroupVersion, Namespaced, []string{"Role", "RoleBinding"}},
		{schedulingv1.SchemeGroupVersion, Cluster, []string{"PriorityClass"}},
		{storagev1.SchemeGroupVersion, Cluster, []string{"CSIDriver", "StorageClass"}},
		{schema.GroupVersion{Group: "monitoring.coreos.com", Version: "v1"}, Namespaced, []string{"PodMonitor", "PrometheusRule", "ServiceMonitor"}},
	} {
		for _, k := range of.kinds {
			rows = append(rows, Kind{GVK: of.group.WithKind(k), Category: Static, Scope: of.scope, Means: exists})
		}
	}
	return rows
}

// foreign are kinds that others define, of which the library has no Go types.
func foreign() []Kind {
	certmanager := schema.GroupVersion{Group: "cert-manager.io", Version: "v1"}
	gateways := schema.GroupVersion{Group: gatewayGroup, Version: "v1"}
	kept := Suspension{How: Keep, Status: rests("it is kept")}
	rows := []Kind{
		{
			GVK: certmanager.WithKind("Certificate"), Category: Integration, Scope: Namespaced,
			Means:  "its condition `Ready` is True, of its latest generation; a renewal may be under way",
			Health: shown("Certificate", still(certificateHealth)), Grace: leniently("Certificate", certificateHealth), Suspend: kept,
		},
		{
			GVK: gateways.WithKind(gatewayKind), Category: Integration, Scope: Namespaced,
			Means:  "its condition `Programmed` is True, of its latest generation, and `Accepted` is not False",
			Health: shown(gatewayKind, still(gatewayHealth)), Grace: leniently(gatewayKind, gatewayHealth), Suspend: kept,
		},
		{
			GVK:      schema.GroupVersionKind{Group: "postgresql.cnpg.io", Version: "v1", Kind: clusterKind},
			Category: Workload, Scope: Namespaced,
			Means:  "all instances are ready, it is in its healthy phase, and its condition `Ready` is True",
			Health: shown(clusterKind, clusterHealth), Grace: showing(clusterKind, clusterGrace),
			Suspend: Suspension{How: Scale, Mutate: hibernate, Status: showing(clusterKind, clusterRest)},
		},
	}
	for name, scope := range map[string]Scope{"Issuer": Namespaced, "ClusterIssuer": Cluster} {
		rows = append(rows, Kind{
			GVK: certmanager.WithKind(name), Category: Integration, Scope: scope,
			Means:  "its condition `Ready` is True, of its latest generation",
			Health: shown(name, still(issuerHealth)), Grace: leniently(name, issuerHealth), Suspend: kept,
		})
	}
	for _, name := range []string{"GRPCRoute", "HTTPRoute"} {
		rows = append(rows, Kind{
			GVK: gateways.WithKind(name), Category: Integration, Scope: Namespaced,
			Means:  "every parent that it names says `Accepted` and `ResolvedRefs`, of its latest generation",
			Health: shown(name, still(routeHealth)), Grace: showing(name, routeGrace), Suspend: kept,
		})
	}
	return rows
}

// still makes a health rule of one that does not care what was done to the object.
func still[T any](rule func(live T) State) func(T, object.Op) State {
	return func(live T, _ object.Op) State { return rule(live) }
}
