package object_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/object"
)

func TestKeys(t *testing.T) {
	tests := []struct{ group, kind, path, want string }{
		{"", "Pod", "spec.containers", "name"},
		{"", "Pod", "spec.containers[].ports", "containerPort,protocol"},
		{"apps", "Deployment", "spec.template.spec.volumes", "name"},
		{"", "Service", "spec.ports", "port,protocol"},
		{"", "Pod", "spec.tolerations", ""},            // a list that is replaced as a whole
		{"", "Pod", "spec.containers[].ports[].x", ""}, // nothing is known of it
		{"", "Pod", "spec", ""},
		{"example.com", "Pod", "spec.containers", ""},
	}
	for _, tt := range tests {
		got := object.Keys(schema.GroupKind{Group: tt.group, Kind: tt.kind}, tt.path)
		if strings.Join(got, ",") != tt.want {
			t.Errorf("%s %s: %v, want %s", tt.kind, tt.path, got, tt.want)
		}
	}
}
