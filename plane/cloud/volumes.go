package cloud

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
)

const (
	// Provisioner is the name by which a StorageClass asks for simulated volumes.
	Provisioner = "plane.armature.dev/simulated"
	// Class is the default StorageClass.
	Class = "standard"

	wantsProvisioner = "volume.kubernetes.io/storage-provisioner" // set on claims by the volume binder
	provisionedBy    = "pv.kubernetes.io/provisioned-by"
)

// volumes makes a PersistentVolume for every claim that asks our provisioner
// for one, enlarges it with its claim, and deletes it when it is released.
type volumes struct {
	client         kubernetes.Interface
	claims         corelisters.PersistentVolumeClaimLister
	volumes        corelisters.PersistentVolumeLister
	classes        storagelisters.StorageClassLister
	claimInformer  cache.SharedIndexInformer
	volumeInformer cache.SharedIndexInformer
}

func newVolumes(cs kubernetes.Interface, f informers.SharedInformerFactory) *volumes {
	core := f.Core().V1()
	return &volumes{
		client: cs,
		claims: core.PersistentVolumeClaims().Lister(), claimInformer: core.PersistentVolumeClaims().Informer(),
		volumes: core.PersistentVolumes().Lister(), volumeInformer: core.PersistentVolumes().Informer(),
		classes: f.Storage().V1().StorageClasses().Lister(),
	}
}

func (v *volumes) ensureClass(ctx context.Context) error {
	expand := true
	reclaim, binding := corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingImmediate
	_, err := v.client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        Class,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: Provisioner, ReclaimPolicy: &reclaim, VolumeBindingMode: &binding, AllowVolumeExpansion: &expand,
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the StorageClass %q: %w", Class, err)
	}
	return nil
}

func (v *volumes) syncClaim(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
	claim, err := v.claims.PersistentVolumeClaims(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if claim.Spec.VolumeName == "" {
		return 0, v.provision(ctx, claim)
	}
	return v.grow(ctx, claim)
}

func (v *volumes) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.Annotations[wantsProvisioner] != Provisioner || claim.DeletionTimestamp != nil {
		return nil
	}
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "pvc-" + string(claim.UID),
			Annotations: map[string]string{provisionedBy: Provisioner},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{
				Path: "/simulated/" + claim.Namespace + "/" + claim.Name,
			}},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
		},
	}
	if claim.Spec.StorageClassName != nil {
		pv.Spec.StorageClassName = *claim.Spec.StorageClassName
		class, err := v.classes.Get(pv.Spec.StorageClassName)
		if err == nil {
			if class.ReclaimPolicy != nil {
				pv.Spec.PersistentVolumeReclaimPolicy = *class.ReclaimPolicy
			}
			pv.Spec.MountOptions = class.MountOptions
		}
	}
	_, err := v.client.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// grow does what the resizer and the kubelet would: the volume first, then the
// file system, which is what the capacity in the claim's status tells.
func (v *volumes) grow(ctx context.Context, claim *corev1.PersistentVolumeClaim) (time.Duration, error) {
	if claim.Status.Phase != corev1.ClaimBound {
		return 0, nil
	}
	pv, err := v.volumes.Get(claim.Spec.VolumeName)
	if apierrors.IsNotFound(err) {
		return 100 * time.Millisecond, nil // bound before our cache saw the volume
	}
	if err != nil || pv.Annotations[provisionedBy] != Provisioner {
		return 0, err
	}
	want := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if have := pv.Spec.Capacity[corev1.ResourceStorage]; have.Cmp(want) < 0 {
		pv = pv.DeepCopy()
		pv.Spec.Capacity[corev1.ResourceStorage] = want
		if pv, err = v.client.CoreV1().PersistentVolumes().Update(ctx, pv, metav1.UpdateOptions{}); err != nil {
			return 0, err
		}
	}
	if have := claim.Status.Capacity[corev1.ResourceStorage]; have.Cmp(want) >= 0 {
		return 0, nil
	}
	claim = claim.DeepCopy()
	if claim.Status.Capacity == nil {
		claim.Status.Capacity = corev1.ResourceList{}
	}
	claim.Status.Capacity[corev1.ResourceStorage] = pv.Spec.Capacity[corev1.ResourceStorage]
	_, err = v.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	return 0, err
}

func (v *volumes) syncVolume(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
	pv, err := v.volumes.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if pv.Annotations[provisionedBy] != Provisioner || pv.DeletionTimestamp != nil ||
		pv.Status.Phase != corev1.VolumeReleased || pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return 0, nil
	}
	err = v.client.CoreV1().PersistentVolumes().Delete(ctx, pv.Name, metav1.DeleteOptions{
		Preconditions: metav1.NewUIDPreconditions(string(pv.UID)),
	})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return 0, err
}
