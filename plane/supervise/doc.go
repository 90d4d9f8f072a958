// Package supervise starts the components of a plane, watches them and stops
// them.
//
// One process supervises. It holds the plane's directory by a lock, reserves
// its port, and starts every component as a child that the kernel kills when
// the supervisor ends, however it ends. Others talk to it through a socket in
// the directory.
//
//	plane up ──control.sock──▶ supervisor ──▶ etcd, kube-apiserver,
//	plane down, fault, status                 kube-controller-manager,
//	                                          kube-scheduler, agent
package supervise
