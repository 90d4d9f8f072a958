package kind

// keepNodePorts gives a port of a Service that was renumbered, or changed its protocol,
// the node port that it had before: to the server it is another port. It is told by
// its name, else by its number.
func keepNodePorts(p *pass, sent map[string]any) {
	if !onNodes.holds(p) || p.becomes(true, "spec", "allocateLoadBalancerNodePorts") == false {
		return
	}
	key := []string{"port", "protocol"}
	ports, live := list(at(sent, "spec", "ports")), list(p.live("spec", "ports"))
	taken := map[int64]bool{0: true}
	for _, port := range ports {
		for _, other := range []any{port, find(live, key, port)} {
			number, _ := at(other, "nodePort").(int64)
			taken[number] = true
		}
	}
	for _, by := range []string{"name", "port"} {
		for _, port := range ports {
			port, ok := port.(map[string]any)
			if !ok || port["nodePort"] != nil || find(live, key, port) != nil {
				continue
			}
			if number, ok := at(find(live, []string{by}, port), "nodePort").(int64); ok && !taken[number] {
				port["nodePort"], taken[number] = number, true
			}
		}
	}
}
