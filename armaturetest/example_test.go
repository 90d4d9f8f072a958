package armaturetest_test

import (
	"fmt"

	"github.com/armature-go/armature/armaturetest"
)

// What an operator at rest may send: watches, leases and events stand apart from
// the sum that has to be 0.
func ExampleRequests() {
	atRest := armaturetest.Requests{Watches: 2, Leases: 10}
	fmt.Println(atRest.Sum())
	fmt.Println(atRest)
	// Output:
	// 0
	// 0 reads, 0 writes, 0 status reads, 0 status writes (apart: 2 watches, 10 leases, 0 events, 0 reviews, 0 discovery)
}
