package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Status is what the runtime reports about a custom resource. Embed it inline
// in the status of a kind; add fields of your own beside it.
//
// +kubebuilder:object:generate=true
type Status struct {
	// Generation of the resource that this status was computed from. Zero
	// until the first pass.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: one for each component, and Ready, which is True when every
	// component is.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Components that make up the resource, by name.
	// +listType=map
	// +listMapKey=name
	// +optional
	Components []ComponentStatus `json:"components,omitempty"`
}

// ComponentStatus is what is remembered of one component between passes.
//
// +kubebuilder:object:generate=true
type ComponentStatus struct {
	// Name of the component; the label armature.dev/component of its objects
	// has the same value.
	Name string `json:"name"`

	// Type of the condition that reports on the component.
	Condition string `json:"condition"`

	// True from the moment when the component's prerequisites were first met.
	// It stays true until the component is retired, so that a condition which
	// somebody resets does not hold the component back again.
	// +optional
	Started bool `json:"started,omitempty"`
}
