package component

import "flag"

var update = flag.Bool("update", false, "write what the tests got as what they want")
