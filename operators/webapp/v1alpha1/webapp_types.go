package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/api"
)

// GroupVersion is the API group and version of this package.
var GroupVersion = schema.GroupVersion{Group: "examples.armature.dev", Version: "v1alpha1"}

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &WebApp{}, &WebAppList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// WebAppSpec says what a web application should be.
type WebAppSpec struct {
	// Version of the application, as in 2.1.0.
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?$')",message="version must have three numbers, as in 2.1.0"
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version"`

	// Number of frontend pods.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Replicas int32 `json:"replicas"`

	// Where the application keeps its data.
	// +kubebuilder:default={}
	// +optional
	Backend BackendSpec `json:"backend"`

	// Name of the Service that the application is reached by. Empty means the
	// name of the WebApp.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	ServiceName string `json:"serviceName,omitempty"`

	// Name of a Secret with tls.crt and tls.key. The frontend waits for it. Empty
	// means plain HTTP.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TLSSecret string `json:"tlsSecret,omitempty"`

	// Whether a metrics exporter runs beside the frontend.
	// +kubebuilder:default=false
	// +optional
	Metrics bool `json:"metrics"`

	// Whether the application is stopped. Its data is kept.
	// +kubebuilder:default=false
	// +optional
	Suspended bool `json:"suspended"`
}

// BackendSpec says what the backend should be.
type BackendSpec struct {
	// Number of backend pods.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	// +optional
	Replicas int32 `json:"replicas"`

	// Size of the volume of each backend pod.
	// +kubebuilder:default="1Gi"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="storage cannot change: volumes keep the size that they were made with"
	// +optional
	Storage resource.Quantity `json:"storage"`
}

// WebAppStatus says how the web application is.
type WebAppStatus struct {
	api.Status `json:",inline"`
}

// WebApp is a web application: a frontend, and a backend that keeps its data.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="!has(self.spec.serviceName) || self.spec.serviceName != self.metadata.name + '-backend'",message="serviceName is the name of the backend's Service: choose another"
type WebApp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WebAppSpec   `json:"spec"`
	Status WebAppStatus `json:"status,omitempty"`
}

// Conditions returns the place of the conditions in the status.
func (w *WebApp) Conditions() *[]metav1.Condition { return &w.Status.Conditions }

// RuntimeStatus returns the part of the status that the runtime keeps.
func (w *WebApp) RuntimeStatus() *api.Status { return &w.Status.Status }

// WebAppList is a list of web applications.
//
// +kubebuilder:object:root=true
type WebAppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []WebApp `json:"items"`
}
