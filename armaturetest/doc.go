// Package armaturetest proves operators, the library's and yours.
//
//	pure      [Golden] compares what components render with a checked-in file
//	real      [Server] gives a test binary a real API server, a namespace to each test
//	counted   [Cluster.Count] counts the requests that reached that server
//
// The server is the plane program, run as a process of its own; nothing here
// simulates the Kubernetes API. Functions that take a testing.TB fail or skip the
// test themselves.
package armaturetest
