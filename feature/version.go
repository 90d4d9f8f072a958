package feature

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Version returns a gate that is on if the current version satisfies the constraint.
//
// A version is semantic, such as 1.9.0, v1.9.0-rc.1 or 1.9 (which is 1.9.0). A
// constraint compares with one of = != < <= > >= ~ ^, takes partial versions (2.x)
// and ranges (1.2 - 1.4), and combines by a comma or a space (and) or by || (or).
//
// A pre-release counts as the release that it leads to: 2.0.0-rc.1 satisfies
// ">=2.0.0" and does not satisfy "<2.0.0", since its users need what 2.0.0 needs.
// Only a comparison that itself names a pre-release sees the difference; it goes by
// semantic precedence, so 2.0.0-rc.1 satisfies "<2.0.0-rc.2". Build metadata never
// counts. So for every version exactly one of "<V" and ">=V" holds, whatever V is.
//
// What cannot be read is an error of [Gate.Enabled] that names both texts and says
// what to write.
func Version(current, constraint string) Gate { return Gate{comparison{current, constraint}} }

// comparison is a version gate. It is parsed when it is asked, so that making one
// cannot fail and a gate that a boolean settles costs nothing.
type comparison struct{ current, constraint string }

func (c comparison) known() (bool, bool) { return false, false }

func (c comparison) String() string {
	verb := "satisfies"
	switch on, err := c.enabled(); {
	case err != nil:
		return fmt.Sprintf("version %q cannot be compared with %q", c.current, c.constraint)
	case !on:
		verb = "does not satisfy"
	}
	return fmt.Sprintf("version %s %s %q", c.current, verb, c.constraint)
}

func (c comparison) enabled() (bool, error) {
	version, err := semver.NewVersion(c.current)
	if err != nil {
		return false, fmt.Errorf("comparing version %q with %q: this is not a semantic version; write one such as 1.9.0 or v2.0.0-rc.1", c.current, c.constraint)
	}
	release, err := version.SetPrerelease("")
	if err != nil {
		return false, fmt.Errorf("comparing version %q with %q: %w", c.current, c.constraint, err)
	}
	alternatives, err := parse(c.constraint)
	if err != nil {
		return false, fmt.Errorf("comparing version %q with %q: this is not a version constraint; write one such as \"<2.0.0\" or \">=1.2.0, <2.0.0\"", c.current, c.constraint)
	}
	for _, all := range alternatives {
		holds := true
		for _, one := range all {
			holds = holds && one.holds(version, &release)
		}
		if holds {
			return true, nil
		}
	}
	return false, nil
}

// term is one comparison of a constraint, such as ">=1.2.0".
type term struct {
	check      *semver.Constraints
	prerelease bool // it names a pre-release
}

// holds asks the term about a version, or about the release that the version leads to.
func (t term) holds(version, release *semver.Version) bool {
	if t.prerelease {
		return t.check.Check(version)
	}
	return t.check.Check(release)
}

// parse reads a constraint into alternatives of terms that must hold together. The
// library decides about pre-releases for a whole group of terms, and we for each
// term, so its normal form (terms without spaces inside, ranges resolved) is cut
// into single terms and each of them is read again.
func parse(constraint string) ([][]term, error) {
	whole, err := semver.NewConstraint(constraint)
	if err != nil {
		return nil, err
	}
	var alternatives [][]term
	for group := range strings.SplitSeq(whole.String(), "||") {
		var all []term
		for text := range strings.FieldsSeq(group) {
			check, err := semver.NewConstraint(text)
			if err != nil {
				return nil, err
			}
			number, _, _ := strings.Cut(text, "+") // build metadata may hold a "-" of its own
			all = append(all, term{check, strings.Contains(number, "-")})
		}
		alternatives = append(alternatives, all)
	}
	return alternatives, nil
}
