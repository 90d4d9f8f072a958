// Command testsum runs go test commands, shows what failed, and ends with one line of counts.
//
//	testsum -skips testskips.txt 'go test -json work' 'go test -C plane -json ./...'
//
// Each argument is a command for sh that prints the JSON of go test; without
// arguments that JSON is read from standard input. The counts are those of the
// test runner: a test that has subtests is counted through them. What did not
// end counts as failed, and so do a package that does not build, a command that
// fails without naming a test, and a skip that the list does not allow.
//
// A test met an API server when it says so itself, by t.Attr("apiserver", version).
// It is counted once, with all its subtests.
//
// The exit status is 0 if nothing failed, 1 if something did, and 2 if the
// command line or the list of skips is wrong.
package main
