// Package acceptance tests the plane program from outside.
//
// It starts the built binary as a process and looks at what a user would see.
//
// The binary is $ARMATURE_PLANE or bin/plane in the repository. One plane
// serves all tests of a run, each in its own namespace; tests that break
// planes start their own.
package acceptance
