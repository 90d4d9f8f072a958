// Package armature is what Kubernetes operators are built on.
//
// An author writes one pure function, from a custom resource and the facts that it
// asks for to a list of components. The rest is here: one honest condition for each
// component, ownership, drift correction, pruning, suspension, events, metrics and
// the command line.
//
//	owner ─▶ Components(owner, facts) ─▶ component ─▶ apply ─▶ API server
//	              pure                     judges      writes
//
// Three rules hold it together. Desired state is a function of the resource and its
// facts. What differs between kinds, states and fields is a row of a table. One
// package writes to the cluster.
//
// The packages, from the bottom up; each imports only what is above it in the list:
//
//	object         which object, under what name, in what canonical form
//	condition      what a state means: the vocabulary of reasons, and their sum
//	feature        is it on? gates of booleans and versions
//	kind           what is special about each Kubernetes kind
//	resource       what one object should be: baseline, mutations, data; facts
//	apply          make this object so: the only writer
//	component      is this part up? one pass over the resources of an owner
//	operator       components as a running program
//	armaturetest   golden files, a real API server for tests, counted requests
//
// Modules beside this one: api (types to embed), operators (finished operators, the
// tutorial among them), cmd/armature (the command line) and plane (a Kubernetes
// API in one command).
//
// The library breaks nothing in a patch release; what it breaks in a minor one has
// a note on what to do.
package armature
