// Package kind answers: what is special about this kind?
//
//	kind.Builtin().Lookup(apps/v1 Deployment) ──▶ Kind{Category, Scope, Health, Grace, Suspend}
//
//	live object ──Health──▶ is it there yet?           in words of package condition
//	            ──Grace───▶ how bad is it by now?      asked when the grace period is over
//	            ──Suspend─▶ how is it brought to rest, and does it rest?
//
//	desired, live ──Preserve─▶ what can be asked of the API server, and what cannot
//
// There is one [Kind] for every kind, and together they are a [Table]: data that can
// be read, extended and overridden row by row. Whoever must treat a kind in a way of
// its own asks the table; nowhere else does code depend on what kind an object is.
//
// A kind that has no row is judged by what its objects say about themselves in the
// conditions Ready, Reconciling and Stalled; see [Table.Find]. All rows are listed in
// docs/kinds.md, which is generated from them.
//
// What cannot be changed once an object is there is a table, too: rows of path and
// condition, held against a real API server field by field. [Preserve] reads it.
//
// Rules see one live object and what was done to it, and nothing else: no cluster,
// no clock, no other object. So a Service says nothing about its endpoints, and a
// CronJob nothing about a schedule that was missed.
package kind
