// Package tree shows what a custom resource is made of, and what each part waits for.
//
//	the resource                      its condition Ready
//	├─ a component                    the condition that status.components names for it
//	│  ├─ an object                   with the component's label and our controller reference
//	│  │  └─ a pod or a claim         that belongs to the object
//	│  └─ …                           judged by the table of package kind
//	└─ …
//
// A [Reader] finds and reads, [Of] puts together, [Node.Text] prints; the latter
// two are pure. Nothing here knows an operator: the marks that every pass leaves
// in the cluster are enough. Nothing here writes.
package tree
