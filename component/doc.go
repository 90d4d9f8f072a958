// Package component says whether the parts of a custom resource are up.
//
// A [Component] is something that the resource's user would ask about by name: is
// the backend up, do backups run? It owns a list of objects and reports exactly one
// condition. [Run] takes all components of one owner through one pass:
//
//	gate ▸ prerequisites ▸ suspension ▸ resources, in order ▸ condition ▸ removals
//	                                        │
//	                     guard ▸ render ▸ apply ▸ health ▸ extract
//
// The order of resources is a dependency: what is blocked or has failed holds back
// what comes after it. Nothing is pruned by a pass that did not get to know
// everything.
//
// The package decides what a state means. It writes only through [Applier], and
// never stores a condition; package operator does.
package component
