package kind

import "slices"

// keepMounts makes the pods of a StatefulSet mount the claims that it has, where it is
// desired to have others.
func keepMounts(p *pass, sent map[string]any) {
	pod, ok := at(sent, "spec", "template", "spec").(map[string]any)
	if !ok {
		return
	}
	wanted := claimNames(at(p.desired, "spec", "volumeClaimTemplates"))
	has := claimNames(p.live("spec", "volumeClaimTemplates"))
	for _, containers := range []string{"containers", "initContainers"} {
		for _, c := range list(pod[containers]) {
			container, ok := c.(map[string]any)
			if !ok {
				continue
			}
			was := find(p.live("spec", "template", "spec", containers), []string{"name"}, container)
			for _, m := range []mounts{{"volumeMounts", "mountPath"}, {"volumeDevices", "devicePath"}} {
				put(container, m.in, m.kept(container, was, pod["volumes"], func(name string) bool {
					return slices.Contains(wanted, name) == slices.Contains(has, name)
				}, has))
			}
		}
	}
}

// mounts is a list in which a container mounts volumes.
type mounts struct{ in, at string }

// kept are the mounts that a container is to have: without those of claims that do not
// exist, and with those that the live one has of claims that will go on existing.
func (m mounts) kept(container, was, volumes any, settled func(claim string) bool, has []string) []any {
	exists := func(mount any) bool { return slices.Contains(has, nameOf(mount)) }
	out := slices.DeleteFunc(list(at(container, m.in)), func(mount any) bool {
		return !settled(nameOf(mount)) && !exists(mount) && find(volumes, []string{"name"}, mount) == nil
	})
	for _, mount := range list(at(was, m.in)) {
		if !settled(nameOf(mount)) && exists(mount) && find(out, []string{m.at}, mount) == nil {
			out = append(out, copied(mount))
		}
	}
	return out
}

func nameOf(node any) string {
	name, _ := at(node, "name").(string)
	return name
}

func claimNames(claims any) []string {
	var names []string
	for _, c := range list(claims) {
		if name, ok := at(c, "metadata", "name").(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// put sets a list, or removes it where it has become empty.
func put(m map[string]any, name string, items []any) {
	if len(items) > 0 {
		m[name] = items
	} else if length(m[name]) > 0 {
		delete(m, name)
	}
}
