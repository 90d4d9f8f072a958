package kind

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// keepSelected gives a pod template the labels that the live one is selected by, where
// it is desired without them: the selector cannot follow, and the server refuses a
// template that it does not select.
func keepSelected(p *pass, sent map[string]any) {
	template, ok := at(sent, "spec", "template").(map[string]any)
	tree, isTree := p.live("spec", "selector").(map[string]any)
	if !ok || !isTree {
		return
	}
	var selector metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(tree, &selector) != nil {
		return
	}
	wanted, _ := at(template, "metadata", "labels").(map[string]any)
	if matches(&selector, wanted) {
		return
	}
	names := slices.Collect(maps.Keys(selector.MatchLabels))
	for _, e := range selector.MatchExpressions {
		names = append(names, e.Key)
	}
	next := maps.Clone(wanted)
	if next == nil {
		next = map[string]any{}
	}
	s := spot{line: &field{at: "spec.selector"}, path: "spec.template.metadata.labels"}
	for _, name := range names {
		was := p.live("spec", "template", "metadata", "labels", name)
		if equal(was, next[name]) {
			continue
		}
		p.report(s.below(name), next[name], was)
		if delete(next, name); was != nil {
			next[name] = was
		}
	}
	metadata, ok := template["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		template["metadata"] = metadata
	}
	metadata["labels"] = next
}

func matches(selector *metav1.LabelSelector, tree map[string]any) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return true // that is for the server to refuse
	}
	set := labels.Set{}
	for k, v := range tree {
		set[k], _ = v.(string)
	}
	return s.Matches(set)
}
