package tree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/condition"
)

// Ref names one custom resource.
type Ref struct {
	Resource  schema.GroupVersionResource
	Kind      string
	Namespace string // empty for cluster-scoped kinds
	Name      string
}

func (r Ref) String() string { return r.Kind + " " + r.Name }

// Find says which resource is meant by a kind as people write it (webapp, webapps,
// WebApp, webapps.examples.armature.dev) and a name. The namespace is that of the
// object if its kind has one. A kind that the cluster does not serve is a
// [*condition.InvalidError] that names similar ones. Whether there is such an object
// is not asked.
func (r *Reader) Find(ctx context.Context, kindName, namespace, name string) (Ref, error) {
	mapping, err := r.mapping(ctx, kindName)
	if meta.IsNoMatchError(err) {
		problem := &condition.InvalidError{Field: fmt.Sprintf("kind %q", kindName), Problem: "the cluster does not serve it", Fix: "install its CustomResourceDefinition, or look for another with kubectl api-resources"}
		if near := r.similar(ctx, kindName); near != "" {
			problem.Fix = "did you mean " + near + "?"
		}
		return Ref{}, problem
	}
	if err != nil {
		return Ref{}, r.unanswered(err)
	}
	ref := Ref{Resource: mapping.Resource, Kind: mapping.GroupVersionKind.Kind, Name: name}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		ref.Namespace = namespace
	}
	return ref, nil
}

// mapping tries what kubectl tries, in its order: resource.version.group,
// resource.group, Kind.version.group, Kind.group.
func (r *Reader) mapping(ctx context.Context, arg string) (*meta.RESTMapping, error) {
	full, resource := schema.ParseResourceArg(arg)
	if full != nil {
		if gvk, err := r.mapper.KindForWithContext(ctx, *full); err == nil {
			return r.mapper.RESTMappingWithContext(ctx, gvk.GroupKind(), gvk.Version)
		}
	}
	gvk, err := r.mapper.KindForWithContext(ctx, resource.WithVersion(""))
	if err == nil {
		return r.mapper.RESTMappingWithContext(ctx, gvk.GroupKind(), gvk.Version)
	}
	if !meta.IsNoMatchError(err) {
		return nil, err
	}
	fullKind, kind := schema.ParseKindArg(arg)
	if fullKind != nil {
		if m, err := r.mapper.RESTMappingWithContext(ctx, fullKind.GroupKind(), fullKind.Version); err == nil {
			return m, nil
		}
	}
	return r.mapper.RESTMappingWithContext(ctx, kind)
}

// similar lists the kinds whose name is close to what somebody wrote.
func (r *Reader) similar(ctx context.Context, arg string) string {
	resources, err := r.listable(ctx)
	if err != nil {
		return ""
	}
	word, _, _ := strings.Cut(strings.ToLower(arg), ".")
	var near []string
	for _, res := range resources {
		if min(distance(word, res.Resource), distance(word, res.singular)) <= max(1, len(word)/3) && !slices.Contains(near, res.singular) {
			near = append(near, res.singular)
		}
	}
	return strings.Join(near, " or ")
}

// distance is how many letters must be added, removed or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// missing explains that there is no such object, with the names that there are.
func (r *Reader) missing(ctx context.Context, ref Ref) error {
	problem := &condition.InvalidError{Field: ref.String(), Problem: "there is none", Fix: "create it first"}
	if ref.Namespace != "" {
		problem.Problem = fmt.Sprintf("there is none in namespace %q", ref.Namespace)
		problem.Fix = "create it first, or name another namespace with -n"
	}
	list, err := r.metadata.Resource(ref.Resource).Namespace(ref.Namespace).List(ctx, metav1.ListOptions{Limit: 100})
	if err != nil || len(list.Items) == 0 {
		return problem
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	slices.SortFunc(names, func(a, b string) int { return distance(ref.Name, a) - distance(ref.Name, b) })
	const enough = 5
	if len(names) > enough {
		names = append(names[:enough], "…")
	}
	problem.Fix = "there is " + strings.Join(names, ", ")
	return problem
}
