package object

// Ownership says by what a managed object is its owner's.
type Ownership string

// The ownerships.
const (
	Controlled Ownership = ""        // by a controller reference; the object goes with its owner
	Tracked    Ownership = "tracked" // by marks, where a reference is not allowed; a finalizer of the owner takes it along
	Shared     Ownership = "shared"  // by one reference among others; it goes with the last of its owners
)

// Handling says how an object is applied, beyond what is in it. The zero value is for an
// object that is all ours.
type Handling struct {
	Ownership Ownership
	Yield     []Path // fields that are ours until somebody else sets them
	Ignore    []Path // fields that are not ours to set
	Whole     []Path // lists that are all ours: items of others go where they keep ours from being applied
	Recreate  bool   // delete the object and make it anew where it cannot be changed as desired
}
