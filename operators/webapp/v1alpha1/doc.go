// Package v1alpha1 holds the types of the tutorial operator: [WebApp].
//
// +kubebuilder:object:generate=true
// +groupName=examples.armature.dev
package v1alpha1
