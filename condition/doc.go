// Package condition answers: what does this state mean?
//
//	reason ──Lookup──▶ priority, truth, category          one table, extended at start-up
//	conditions of the parts ──Aggregate──▶ one condition  True if all are; the gravest reason
//	condition ──Set──▶ the list in the owner's status     the time moves only with the status
//
// Every word that may stand in a reason, its weight against the others and whether
// it makes a condition True is a row of one table; docs/conditions.md is generated
// from it. The package decides nothing about particular objects (package kind does)
// and reads no clock: the time comes in as a parameter. The status of a condition
// made here is True or False, never Unknown.
package condition
