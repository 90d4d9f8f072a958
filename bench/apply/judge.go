package main

import (
	"fmt"
	"maps"
	"slices"
)

// judge returns what is wrong with the results: requests of Armature that need not have
// been, drift that it left, and objects that end otherwise than Armature's for no
// known reason. Known differences are noted in the outcomes.
func judge(outcomes []outcome) []string {
	var wrong []string
	for i := range outcomes {
		o := &outcomes[i]
		if i == 0 {
			wrong = append(wrong, judgeFirst(o.rows)...)
			continue
		}
		e := contenders[slices.IndexFunc(contenders, func(e entry) bool { return e.name == o.Contender })]
		for _, stage := range []string{phases[0].name, phases[len(phases)-1].name} {
			found := differences(outcomes[0].stages[stage], o.stages[stage])
			for _, field := range slices.Sorted(maps.Keys(found)) {
				if reason := e.differs[field]; reason != "" {
					if o.Differs == nil {
						o.Differs = map[string]string{}
					}
					o.Differs[field] = reason
					continue
				}
				wrong = append(wrong, fmt.Sprintf("%s: after %s, %s differs from Armature's: %s", o.Contender, stage, field, found[field]))
			}
		}
	}
	return wrong
}

// judgeFirst says what is wrong with Armature itself.
func judgeFirst(rows []row) []string {
	var wrong []string
	for _, r := range rows[1:] {
		if sent := r.Requests.sum(); sent != r.Drifted || r.Requests.Writes != r.Drifted {
			wrong = append(wrong, fmt.Sprintf("%s: %s: %d requests, %d of them writes, for %d drifted objects", r.Contender, r.Phase, sent, r.Requests.Writes, r.Drifted))
		}
		if churned := r.Phase != phases[1].name; churned != (r.Touched > 0) || r.Drifted > 0 && r.Drifted != r.Touched {
			wrong = append(wrong, fmt.Sprintf("%s: %s: somebody else changed %d objects, %d of them by drift, which is not what was tried", r.Contender, r.Phase, r.Touched, r.Drifted))
		}
		if r.Changed != r.Drifted || r.Left > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s: %d objects changed for %d drifted, %d left", r.Contender, r.Phase, r.Changed, r.Drifted, r.Left))
		}
	}
	return wrong
}
