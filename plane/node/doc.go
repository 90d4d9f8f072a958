// Package node plays the kubelets: it registers nodes and lives the lives of
// the pods on them, without running anything.
//
//	pod + annotations + time ──plan──▶ status to write, when to look again
//
// [Run] watches pods and nodes and writes what plan decides; plan itself is a
// pure function. A pod is ready at once, a Job's pod succeeds at once, and
// the annotations of package steer change that. No container, network or
// volume is ever real.
package node
