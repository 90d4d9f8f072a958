package kind

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// builtin returns the rows of the kinds that the library knows.
func builtin() []Kind {
	var (
		apps        = appsv1.SchemeGroupVersion
		autoscaling = autoscalingv2.SchemeGroupVersion
		batch       = batchv1.SchemeGroupVersion
		core        = corev1.SchemeGroupVersion
		networking  = networkingv1.SchemeGroupVersion
		policy      = policyv1.SchemeGroupVersion
		rbac        = rbacv1.SchemeGroupVersion
	)
	return []Kind{
		{
			GVK: apps.WithKind("Deployment"), Category: Workload, Scope: Namespaced,
			Health: on(deploymentHealth), Grace: of(deploymentGrace),
			Suspend: Suspension{How: Scale, Mutate: assign(deploymentToZero, int64(0), "spec", "replicas"), Status: of(deploymentRest)},
		},
		{
			GVK: apps.WithKind("StatefulSet"), Category: Workload, Scope: Namespaced,
			Health: on(statefulSetHealth), Grace: of(statefulSetGrace),
			Suspend: Suspension{How: Scale, Mutate: assign(statefulSetToZero, int64(0), "spec", "replicas"), Status: of(statefulSetRest)},
		},
		{
			GVK: apps.WithKind("DaemonSet"), Category: Workload, Scope: Namespaced,
			Health: on(daemonSetHealth), Grace: of(daemonSetGrace),
			Suspend: Suspension{How: Delete, Status: rests("it is deleted while suspended, because a DaemonSet cannot be scaled down")},
		},
		{
			GVK: batch.WithKind("Job"), Category: Task, Scope: Namespaced,
			Health: on(jobHealth), Grace: of(jobGrace),
			Suspend: Suspension{How: Delete, Mutate: assign(jobToRest, true, "spec", "suspend"), Status: of(jobRest), Spares: holds(jobEnded)},
		},
		{
			GVK: batch.WithKind("CronJob"), Category: Integration, Scope: Namespaced,
			Health: on(cronJobHealth), Grace: of(cronJobGrace),
			Suspend: Suspension{How: Pause, Mutate: assign(cronJobToRest, true, "spec", "suspend"), Status: of(cronJobRest)},
		},
		{
			GVK: core.WithKind("Service"), Category: Integration, Scope: Namespaced,
			Health: on(serviceHealth), Grace: of(serviceGrace),
			Suspend: Suspension{How: Keep, Status: rests("it is kept")},
		},
		{
			GVK: networking.WithKind("Ingress"), Category: Integration, Scope: Namespaced,
			Health: on(ingressHealth), Grace: of(ingressGrace),
			Suspend: Suspension{How: Keep, Status: rests("it is kept, and answers that its backend is unavailable")},
		},
		{
			GVK: autoscaling.WithKind("HorizontalPodAutoscaler"), Category: Integration, Scope: Namespaced,
			Health: on(autoscalerHealth), Grace: of(autoscalerGrace),
			Suspend: Suspension{How: Delete, Status: rests("it is deleted while suspended, because it would scale its target up again")},
		},
		{
			GVK: core.WithKind("PersistentVolumeClaim"), Category: Integration, Scope: Namespaced,
			Health: on(claimHealth), Grace: of(claimGrace),
			Suspend: Suspension{How: Keep, Status: rests("it is kept, with its data")},
		},
		{GVK: core.WithKind("Namespace"), Category: Static, Scope: Cluster, Health: on(namespaceHealth)},
		{GVK: core.WithKind("ConfigMap"), Category: Static, Scope: Namespaced},
		{GVK: core.WithKind("Secret"), Category: Static, Scope: Namespaced},
		{GVK: core.WithKind("ServiceAccount"), Category: Static, Scope: Namespaced},
		{GVK: networking.WithKind("NetworkPolicy"), Category: Static, Scope: Namespaced},
		{GVK: policy.WithKind("PodDisruptionBudget"), Category: Static, Scope: Namespaced},
		{GVK: rbac.WithKind("Role"), Category: Static, Scope: Namespaced},
		{GVK: rbac.WithKind("RoleBinding"), Category: Static, Scope: Namespaced},
	}
}
