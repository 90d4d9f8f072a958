// Package resource says what one object should be.
//
// A resource is a baseline object and what may change about it. There are four
// kinds, one for each thing that can be meant by naming an object:
//
//	Manage   make it so, keep it so
//	Observe  somebody else's: read it, report on it, never write it
//	Remove   it should not exist
//	Release  let go of it, but leave it where it is
//
// Each is built by a function and a chain of modifiers, and says everything about
// itself as data through [Resource]. Rendering starts from an untouched copy of
// the baseline every time, so a mutation never meets its own result.
//
//	baseline ──▶ mutation ──▶ mutation ──▶ object to apply ──▶ live object ──▶ cells
//	              (gated)      (gated)                                          │
//	                                            later resources of the component ◀┘
//
// What must be known about the cluster before anything can be said at all comes
// through [Facts]. The package reads and writes no cluster.
package resource
