package cloud

import (
	"context"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	autoscalinglisters "k8s.io/client-go/listers/autoscaling/v2"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
)

// glance is how often a target is looked at again; nobody tells us when its
// scale changes.
const glance = time.Second

// autoscalers acts as if every metric were at its target: replicas stay as
// they are, inside the bounds of the autoscaler.
type autoscalers struct {
	client   kubernetes.Interface
	lister   autoscalinglisters.HorizontalPodAutoscalerLister
	informer cache.SharedIndexInformer
	scales   scale.ScalesGetter
	mapper   *restmapper.DeferredDiscoveryRESTMapper
}

func newAutoscalers(cfg *rest.Config, cs kubernetes.Interface, f informers.SharedInformerFactory) (*autoscalers, error) {
	disc := memory.NewMemCacheClient(cs.Discovery())
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(disc)
	plain := rest.CopyConfig(cfg)
	plain.ContentType = "application/json" // scales of custom resources
	scales, err := scale.NewForConfig(plain, mapper, dynamicPath, scale.NewDiscoveryScaleKindResolver(disc))
	if err != nil {
		return nil, fmt.Errorf("starting the autoscalers: %w", err)
	}
	h := f.Autoscaling().V2().HorizontalPodAutoscalers()
	return &autoscalers{client: cs, lister: h.Lister(), informer: h.Informer(), scales: scales, mapper: mapper}, nil
}

func dynamicPath(gvk schema.GroupVersionKind) string {
	if gvk.Group == "" {
		return "/api"
	}
	return "/apis"
}

func (a *autoscalers) sync(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
	hpa, err := a.lister.HorizontalPodAutoscalers(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	next := hpa.DeepCopy()
	next.Status.ObservedGeneration = &next.Generation
	group, target, err := a.target(ctx, hpa)
	if err != nil {
		set(&next.Status, autoscalingv2.AbleToScale, corev1.ConditionFalse, "FailedGetScale", "looking up the scale target: "+err.Error())
	} else if err := a.judge(ctx, next, group, target); err != nil {
		return 0, err
	}
	if equality.Semantic.DeepEqual(hpa.Status, next.Status) {
		return glance, nil
	}
	_, err = a.client.AutoscalingV2().HorizontalPodAutoscalers(hpa.Namespace).UpdateStatus(ctx, next, metav1.UpdateOptions{})
	return glance, err
}

func (a *autoscalers) target(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) (schema.GroupResource, *autoscalingv1.Scale, error) {
	ref := hpa.Spec.ScaleTargetRef
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return schema.GroupResource{}, nil, err
	}
	mapping, err := a.mapper.RESTMapping(schema.GroupKind{Group: gv.Group, Kind: ref.Kind}, gv.Version)
	if meta.IsNoMatchError(err) {
		a.mapper.Reset() // the kind may be new
	}
	if err != nil {
		return schema.GroupResource{}, nil, err
	}
	group := mapping.Resource.GroupResource()
	s, err := a.scales.Scales(hpa.Namespace).Get(ctx, group, ref.Name, metav1.GetOptions{})
	return group, s, err
}

// judge brings the target between the bounds and writes down that all is well.
func (a *autoscalers) judge(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, group schema.GroupResource, target *autoscalingv1.Scale) error {
	set(&hpa.Status, autoscalingv2.AbleToScale, corev1.ConditionTrue, "ReadyForNewScale", "simulated: the target can be scaled")
	hpa.Status.CurrentReplicas = target.Status.Replicas
	hpa.Status.DesiredReplicas = target.Spec.Replicas
	if target.Spec.Replicas == 0 {
		set(&hpa.Status, autoscalingv2.ScalingActive, corev1.ConditionFalse, "ScalingDisabled", "scaling is off while the target has 0 replicas")
		return nil
	}
	set(&hpa.Status, autoscalingv2.ScalingActive, corev1.ConditionTrue, "ValidMetricFound", "simulated: every metric is at its target")
	least := int32(1)
	if hpa.Spec.MinReplicas != nil {
		least = *hpa.Spec.MinReplicas
	}
	want := min(max(target.Spec.Replicas, least), hpa.Spec.MaxReplicas)
	if want == target.Spec.Replicas {
		set(&hpa.Status, autoscalingv2.ScalingLimited, corev1.ConditionFalse, "DesiredWithinRange", "")
		return nil
	}
	reason := "TooFewReplicas"
	if want < target.Spec.Replicas {
		reason = "TooManyReplicas"
	}
	set(&hpa.Status, autoscalingv2.ScalingLimited, corev1.ConditionTrue, reason, "")
	hpa.Status.DesiredReplicas = want
	target.Spec.Replicas = want
	_, err := a.scales.Scales(hpa.Namespace).Update(ctx, group, target, metav1.UpdateOptions{})
	return err
}

func set(s *autoscalingv2.HorizontalPodAutoscalerStatus, kind autoscalingv2.HorizontalPodAutoscalerConditionType, status corev1.ConditionStatus, reason, message string) {
	c := autoscalingv2.HorizontalPodAutoscalerCondition{
		Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Now(),
	}
	for i, old := range s.Conditions {
		if old.Type == kind {
			if old.Status == status {
				c.LastTransitionTime = old.LastTransitionTime
			}
			s.Conditions[i] = c
			return
		}
	}
	s.Conditions = append(s.Conditions, c)
}
