package feature_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-go/armature/feature"
)

var update = flag.Bool("update", false, "write what the tests got as what they want")

func Example() {
	spec := struct {
		Tracing bool
		Version string
	}{true, "1.9.0"}
	gate := feature.All(feature.When(spec.Tracing), feature.Version(spec.Version, "<2.0.0"))
	on, err := gate.Enabled()
	fmt.Println(on, err)
	fmt.Println(gate)
	// Output:
	// true <nil>
	// all of (on; version 1.9.0 satisfies "<2.0.0")
}

func ExampleVersion() {
	for _, version := range []string{"1.9.0", "2.0.0-rc.1", "latest"} {
		on, err := feature.Version(version, "<2.0.0").Enabled()
		fmt.Println(on, err)
	}
	// Output:
	// true <nil>
	// false <nil>
	// false comparing version "latest" with "<2.0.0": this is not a semantic version; write one such as 1.9.0 or v2.0.0-rc.1
}

var (
	on, off   = feature.When(true), feature.When(false)
	broken    = feature.Version("latest", ">=1.0.0")
	broken2   = feature.Version("1.0.0", "about 1")
	satisfied = feature.Version("1.9.0", "<2.0.0")
	not       = feature.Version("2.1.0", "<2.0.0")
)

// state writes what a gate says in one word.
func state(g feature.Gate) string {
	switch enabled, err := g.Enabled(); {
	case err != nil && enabled:
		return "on with an error"
	case err != nil:
		return "error"
	case enabled:
		return "on"
	default:
		return "off"
	}
}

func TestGates(t *testing.T) {
	for _, tc := range []struct {
		name string
		gate feature.Gate
		want string
	}{
		{"the zero gate is on", feature.Gate{}, "on"},
		{"a boolean is what it says", on, "on"},
		{"and off if it says so", off, "off"},
		{"all of nothing is on", feature.All(), "on"},
		{"any of nothing is off", feature.Any(), "off"},
		{"all needs every one", feature.All(on, satisfied, feature.Gate{}), "on"},
		{"one that is off is enough", feature.All(on, not), "off"},
		{"any needs one", feature.Any(off, not, satisfied), "on"},
		{"none is too few", feature.Any(off, not), "off"},
		{"not turns around", feature.Not(off), "on"},
		{"not of the zero gate is off", feature.Not(feature.Gate{}), "off"},
		{"what cannot be read is an error", broken, "error"},
		{"and so is its negation", feature.Not(broken), "error"},
		{"an off boolean hides it", feature.All(broken, off), "off"},
		{"an on boolean does not", feature.All(on, broken), "error"},
		{"a version that is off does not hide it", feature.All(not, broken), "error"},
		{"an on boolean decides any", feature.Any(broken, on), "on"},
		{"a version that is on does not", feature.Any(satisfied, broken), "error"},
		{"booleans decide from any depth", feature.All(broken, feature.Any(off, feature.Not(on))), "off"},
		{"a branch that its boolean settles cannot fail", feature.Any(feature.All(off, broken), satisfied), "on"},
		{"nor can its negation", feature.All(feature.Not(feature.All(off, broken)), satisfied), "on"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := state(tc.gate); got != tc.want {
				t.Errorf("got %s, want %s: %s", got, tc.want, tc.gate)
			}
		})
	}
}

// All errors are named at once, so that they can be mended at once.
func TestErrorsAreJoined(t *testing.T) {
	_, err := feature.All(broken, on, broken2).Enabled()
	for _, want := range []string{`version "latest" with ">=1.0.0": this is not a semantic version`, `version "1.0.0" with "about 1": this is not a version constraint`} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}

func TestString(t *testing.T) {
	for _, tc := range []struct {
		gate feature.Gate
		want string
	}{
		{feature.Gate{}, "on"},
		{off, "off"},
		{satisfied, `version 1.9.0 satisfies "<2.0.0"`},
		{not, `version 2.1.0 does not satisfy "<2.0.0"`},
		{broken, `version "latest" cannot be compared with ">=1.0.0"`},
		{feature.Not(feature.Any(on, not)), `not (any of (on; version 2.1.0 does not satisfy "<2.0.0"))`},
		{feature.All(), "all of ()"},
	} {
		if got := tc.gate.String(); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

// TestGateLaws checks random gates against what negation and order must not change.
func TestGateLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	leaves := []feature.Gate{{}, on, off, satisfied, not, broken, broken2}
	for i := range 2_000 {
		gates := make([]feature.Gate, rng.IntN(4))
		negated, backwards := make([]feature.Gate, len(gates)), make([]feature.Gate, len(gates))
		for j := range gates {
			gates[j] = randomGate(rng, leaves, 3)
			negated[j] = feature.Not(gates[j])
			backwards[len(gates)-1-j] = gates[j]
		}
		all := feature.All(gates...)
		for law, pair := range map[string][2]feature.Gate{
			"not all is any not":     {feature.Not(all), feature.Any(negated...)},
			"twice not is nothing":   {feature.Not(feature.Not(all)), all},
			"the order is free":      {all, feature.All(backwards...)},
			"the order is free, any": {feature.Any(gates...), feature.Any(backwards...)},
			"all of one is the one":  {feature.All(all), all},
			"an on adds nothing":     {feature.All(all, on), all},
			"an off decides":         {feature.All(all, off), off},
		} {
			if a, b := state(pair[0]), state(pair[1]); a != b {
				t.Fatalf("run %d: %s: %s is %s, and %s is %s", i, law, pair[0], a, pair[1], b)
			}
		}
	}
}

func randomGate(rng *rand.Rand, leaves []feature.Gate, depth int) feature.Gate {
	if depth == 0 || rng.IntN(3) == 0 {
		return leaves[rng.IntN(len(leaves))]
	}
	gates := make([]feature.Gate, rng.IntN(3))
	for i := range gates {
		gates[i] = randomGate(rng, leaves, depth-1)
	}
	switch rng.IntN(3) {
	case 0:
		return feature.All(gates...)
	case 1:
		return feature.Any(gates...)
	default:
		return feature.Not(randomGate(rng, leaves, depth-1))
	}
}

// TestVersionMatrix shows which versions satisfy which constraints, as a picture.
func TestVersionMatrix(t *testing.T) {
	versions := strings.Fields("1.9 1.9.9-rc.1 v1.9.9 2.0.0-alpha 2.0.0-rc.1 2.0.0-rc.2 2.0.0-rc.2+b-1 2.0.0 2.0.0+b-1 2.0.1-rc.1 2.1.0 3.0.0-rc.1 3.0.0 latest 2.0.0.0")
	constraints := []string{
		"<2.0.0", ">=2.0.0", "<=2.0.0", ">2.0.0", "=2.0.0", "!=2.0.0", "2.0.0", "2.0.0+b-1",
		"<2.0.0-rc.2", ">=2.0.0-rc.2", "=2.0.0-rc.2", "!=2.0.0-rc.2",
		"<2", ">=2", "2.x", "~2.0", "^2.0.0", "^2.0.0-rc.1", "1.9 - 2.0", "1.9.0 - 2.0.0-rc.1",
		">=2.0.0, <3.0.0", ">=2.0.0-rc.1 <3.0.0", "<2.0.0 || >=3", "*", "", "about 2", "=>", ">=2.0.0 ||",
	}
	var b strings.Builder
	b.WriteString("on: +   off: -   error: !\n\n")
	for i, v := range versions {
		fmt.Fprintf(&b, "%-20s%s%s\n", "", strings.Repeat("|  ", i), v)
	}
	for _, c := range constraints {
		fmt.Fprintf(&b, "%-20s", fmt.Sprintf("%q", c))
		for _, v := range versions {
			fmt.Fprintf(&b, "%s  ", map[string]string{"on": "+", "off": "-", "error": "!"}[state(feature.Version(v, c))])
		}
		b.WriteString("\n")
	}
	const file = "testdata/versions.golden.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestVersionLaws: of "below V" and "from V on" exactly one holds, and so for the
// other pairs, whatever the version and V are.
func TestVersionLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 4_000 {
		version, bound := randomVersion(rng, 3), randomVersion(rng, 1+rng.IntN(3))
		exclusive(t, version, bound)
		if t.Failed() {
			return
		}
	}
}

// exclusive demands that opposite comparisons have opposite answers.
func exclusive(t *testing.T, version, bound string) {
	t.Helper()
	for a, b := range map[string]string{"<": ">=", ">": "<=", "=": "!="} {
		first, second := state(feature.Version(version, a+bound)), state(feature.Version(version, b+bound))
		if first != "error" && first == second || (first == "error") != (second == "error") {
			t.Errorf("version %q: %s%s is %s, and %s%s is %s", version, a, bound, first, b, bound, second)
		}
	}
}

func randomVersion(rng *rand.Rand, segments int) string {
	v := []string{"", "v"}[rng.IntN(2)]
	for i := range segments {
		v += []string{"", ".", "."}[i] + fmt.Sprint(rng.IntN(3))
	}
	if segments == 3 {
		v += []string{"", "", "", "-rc.1", "-rc.2", "-alpha", "-0"}[rng.IntN(7)]
		v += []string{"", "", "+build", "+b-1"}[rng.IntN(4)]
	}
	return v
}

// FuzzVersion: no two texts make a gate panic, be on with an error, or hold together
// with its opposite.
func FuzzVersion(f *testing.F) {
	for _, v := range []string{"1.9.0", "v2.0.0-rc.1+b-1", "", "latest", "1.2.3.4", "01.2", "99999999999999999999.0.0", "1.9.0 ", "2.0.0-"} {
		for _, c := range []string{"<2.0.0", "1.2 - 1.4 || ^2", "", "*", "<2.0.0-rc.1", "=> 1", "~>2.x", "1.x.3", "|| <1", ">1|2", ">=1.0.0+a-b"} {
			f.Add(v, c)
		}
	}
	f.Fuzz(func(t *testing.T, version, constraint string) {
		gate := feature.Version(version, constraint)
		_, err := gate.Enabled()
		if want := fmt.Sprintf("comparing version %q with %q: ", version, constraint); err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error %q does not name %q and %q", err, version, constraint)
		}
		if got := state(gate); got == "on with an error" {
			t.Errorf("%s is %s", gate, got)
		}
		if !strings.ContainsAny(constraint, " ,|-xX*=<>~^!\t\n\r\v\f") {
			exclusive(t, version, constraint)
		}
	})
}
