// Package crdtest checks the rows of kinds of others against their own definitions.
//
// Its tests read the CustomResourceDefinitions of cert-manager, Gateway API,
// prometheus-operator and CloudNativePG from Go's module cache, install them into a
// real API server, write what the controllers of these kinds write, and ask the rows
// what they think of it. It is a module of its own, so that nothing of that becomes a
// dependency of the library; it is not released, and nothing imports it.
package crdtest
