// Package operator runs components.
//
// [For] makes a controller out of a function from a custom resource to its
// components; [Main] makes a program out of controllers. What the program does
// with every change in the cluster:
//
//	owner ─▶ facts it asks for ─▶ components ─▶ one pass ─▶ status ─▶ events, metrics
//	  ▲                                                                │
//	  └──────────────── watches of exactly the declared kinds ◀────────┘
//
// Kinds are declared in [Kinds]; reading an undeclared kind from the cache fails
// instead of starting a watch behind the author's back. An object that is only
// looked at is watched by its name, which needs no right to list its namespace.
//
// An owner that is being deleted makes nothing any more. Where it has tracked objects
// (resource.Manage(…).Tracked()) they are deleted first, the last declared before the
// others, and a finalizer keeps the owner until they are gone.
//
// The package writes events, leases and nothing else; objects and status are
// written by package apply.
package operator
