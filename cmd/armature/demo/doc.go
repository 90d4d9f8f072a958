// Package demo lets a person watch an operator at work on a real Kubernetes API.
//
//	checkout ──build──▶ plane, webapp-operator ──▶ CRD, sample ──▶ Ready ──▶ steps ──▶ nothing left
//
// Whatever is changed is changed by kubectl, as that person would do it, and what
// comes of it is watched: [script] is a table of commands, of the fields to look at
// and of what they have to become. The demo itself writes nothing to the cluster.
package demo
