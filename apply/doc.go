// Package apply makes one object so.
//
// It is the only package that writes objects to the cluster. An [Applier] sends
// canonical trees by server-side apply, under one field manager for each
// controller and owner, and never touches an object by its name alone:
//
//	seen and ours ──▶ would an apply change it? ──▶ no: nothing is sent
//	              └─▶ yes: apply, forced, with the object's UID as a precondition
//	not seen      ──▶ one live read ──▶ absent: an apply that can only create
//	                                └─▶ somebody else's: refuse, and say whose
//
// An object is the owner's if its controller reference says so, or, where that
// was taken away, if the owner's field manager still stands on it. Where the garbage
// collector would not understand such a reference, an object can be tracked instead: it
// carries marks ([OwnerMark]), and a finalizer keeps its owner until it is deleted. Owners
// of one controller can share an object: each has a reference and a field manager on it,
// and nobody forces what the first of them holds.
//
// What it refuses is told apart by type: [*ConflictError], [*DeniedError], [*ShapeError]
// and the waits of package condition. It does not decide what should exist.
package apply
