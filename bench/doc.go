// Package bench is the module of the benchmarks: programs that compare, one for each question.
//
//	apply   what does it cost to keep objects as desired? (make bench-apply)
//
// It is not released, and nothing imports it.
package bench
