// Package api holds the part of a custom resource that every operator built on
// Armature shares: a status to embed.
//
// Embed [Status] in the status of a kind and the runtime keeps conditions, the
// observed generation and one line per component there. Nothing in this package
// has behaviour, so API types may import it without dragging in a client.
//
// The package follows the Kubernetes deprecation policy.
package api
