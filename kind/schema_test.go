package kind_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/armature-go/armature/armaturetest"
)

// leaf is a field that holds a value: what a sweep changes. Of a list, its first item
// is looked at.
type leaf struct {
	path   []string       // spec containers [] image
	schema map[string]any // of the value, resolved
	parent *schemaNode    // what it takes to make what is above it
}

func (l leaf) String() string { return pattern(l.path) }

// pattern writes a path as the table does: spec.containers[].image.
func pattern(path []string) string { return strings.ReplaceAll(strings.Join(path, "."), ".[]", "[]") }

// schemaNode is an object or a list on the way to a leaf.
type schemaNode struct {
	schema map[string]any
	parent *schemaNode
}

// schemas are the schemas of a group and version, as the server publishes them.
type schemas struct {
	of    map[string]any
	whole map[string]bool // the maps that server-side apply owns as a whole, by their path
}

func readSchemas(t *testing.T, cluster *armaturetest.Cluster, gv schema.GroupVersion) schemas {
	t.Helper()
	d, err := discovery.NewDiscoveryClientForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	paths, err := d.OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	path := "apis/" + gv.String()
	if gv.Group == "" {
		path = "api/" + gv.Version
	}
	raw, err := paths[path].Schema("application/json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return schemas{doc.Components.Schemas, map[string]bool{}}
}

// kind returns the schema of a kind.
func (s schemas) kind(t *testing.T, gvk schema.GroupVersionKind) map[string]any {
	t.Helper()
	for _, v := range s.of {
		m, _ := v.(map[string]any)
		kinds, _ := m["x-kubernetes-group-version-kind"].([]any)
		for _, k := range kinds {
			if fmt.Sprint(k) == fmt.Sprint(map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}) && m["properties"] != nil {
				return m
			}
		}
	}
	t.Fatalf("the server has no schema of %s", gvk)
	return nil
}

// resolve follows a reference. What stands beside it, such as a default, stays.
func (s schemas) resolve(v any) (map[string]any, string) {
	m, _ := v.(map[string]any)
	name, _ := m["$ref"].(string)
	if all, ok := m["allOf"].([]any); ok && len(all) == 1 {
		inner, _ := all[0].(map[string]any)
		name, _ = inner["$ref"].(string)
	}
	if name == "" {
		return m, ""
	}
	name = strings.TrimPrefix(name, "#/components/schemas/")
	target, _ := s.of[name].(map[string]any)
	out := maps.Clone(target)
	for k, v := range m {
		if k != "allOf" && k != "$ref" {
			out[k] = v
		}
	}
	return out, name
}

// leaves are all leaves of a kind but for its metadata and its status.
func (s schemas) leaves(root map[string]any) []leaf {
	var out []leaf
	top := &schemaNode{schema: root}
	properties, _ := root["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name) {
			s.walk(properties[name], []string{name}, top, nil, &out)
		}
	}
	return out
}

func (s schemas) walk(v any, path []string, parent *schemaNode, seen []string, out *[]leaf) {
	m, name := s.resolve(v)
	if name != "" && slices.Contains(seen, name) {
		return // a schema in a schema: once is enough
	}
	seen = append(slices.Clone(seen), name)
	node := &schemaNode{m, parent}
	if m["x-kubernetes-map-type"] == "atomic" && s.whole != nil {
		s.whole[pattern(path)] = true
	}
	if properties, ok := m["properties"].(map[string]any); ok && len(properties) > 0 {
		for _, field := range slices.Sorted(maps.Keys(properties)) {
			inMetadata := strings.HasSuffix(name, ".ObjectMeta") && field != "labels" && field != "annotations"
			if field != "status" && !inMetadata && !slices.Contains(unswept, field) && !slices.Contains(unswept, path[len(path)-1]+"."+field) {
				s.walk(properties[field], append(slices.Clone(path), field), node, seen, out)
			}
		}
		return
	}
	if items := m["items"]; items != nil {
		if item, _ := s.resolve(items); item["properties"] != nil {
			s.walk(items, append(slices.Clone(path), "[]"), node, seen, out)
			return
		}
	}
	*out = append(*out, leaf{path: path, schema: m, parent: parent})
}

// typeOf is the type of a value, with the formats that have a syntax of their own.
func typeOf(m map[string]any) string {
	typ, _ := m["type"].(string)
	format, _ := m["format"].(string)
	switch one, _ := m["oneOf"].([]any); {
	case format == "int-or-string" || format == "byte" || format == "date-time":
		return format
	case len(one) == 2 && fmt.Sprint(one[0]) == "map[type:string]":
		return "quantity"
	default:
		return typ
	}
}

// values are some values of a schema, one of which may be valid.
func (s schemas) values(m map[string]any) []any {
	if enum, ok := m["enum"].([]any); ok && len(enum) > 0 {
		return slices.DeleteFunc(slices.Clone(enum), func(v any) bool { return v == "" })
	}
	switch typ := typeOf(m); typ {
	case "string":
		return []any{"sweep", "/sweep", "10.0.0.7", "example.com/sweep", "50"}
	case "byte":
		return []any{"c3dlZXA="}
	case "date-time":
		return []any{"2030-01-01T00:00:00Z"}
	case "quantity":
		return []any{"3", "3Gi"}
	case "int-or-string":
		return []any{int64(3), "40%"}
	case "integer", "number":
		return []any{int64(3), int64(1), int64(4000)}
	case "boolean":
		return []any{true, false}
	case "array":
		item, _ := s.resolve(m["items"])
		return each(s.values(item), func(v any) any { return []any{v} })
	case "object":
		if entry, ok := m["additionalProperties"]; ok {
			of, _ := s.resolve(entry)
			return each(s.values(of), func(v any) any { return map[string]any{"sweep": v} })
		}
		return []any{map[string]any{}}
	default:
		return []any{"sweep"}
	}
}

func each(values []any, f func(any) any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

// filled is an object with what its schema requires.
func (s schemas) filled(m map[string]any, path []string) any {
	if values := overridden(path); len(values) > 0 {
		return runtime.DeepCopyJSONValue(values[0])
	}
	if m["items"] != nil {
		item, _ := s.resolve(m["items"])
		return []any{s.filled(item, append(slices.Clone(path), "[]"))}
	}
	properties, ok := m["properties"].(map[string]any)
	if !ok {
		return runtime.DeepCopyJSONValue(s.values(m)[0])
	}
	out := map[string]any{}
	required, _ := m["required"].([]any)
	for _, name := range required {
		field, _ := s.resolve(properties[name.(string)])
		out[name.(string)] = s.filled(field, append(slices.Clone(path), name.(string)))
	}
	return out
}
