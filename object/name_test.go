package object_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/armature-go/armature/object"
)

func ExampleName() {
	fmt.Println(object.Name(object.MaxName, "shop", "", "web"))
	fmt.Println(object.Name(24, "shop", "a-role-with-quite-a-name"))
	// Output:
	// shop-web
	// shop-a-role-w-ngvz2xvdlk
}

func TestName(t *testing.T) {
	long := strings.Repeat("a", 70)
	for _, tc := range []struct {
		name  string
		limit int
		parts []string
		want  string
	}{
		{"parts are joined", 63, []string{"shop", "web"}, `^shop-web$`},
		{"empty parts leave no trace", 63, []string{"", "shop", "", "web", ""}, `^shop-web$`},
		{"nothing stays nothing", 63, nil, `^$`},
		{"what just fits is left alone", 8, []string{"shop", "web"}, `^shop-web$`},
		{"one letter more is cut", 7, []string{"shop", "web"}, `^[a-z2-7]{7}$`},
		{"zero means the usual length", 0, []string{long}, `^a{52}-[a-z2-7]{10}$`},
		{"so does less than zero", -1, []string{long}, `^a{52}-[a-z2-7]{10}$`},
		{"no dash before the dash", 20, []string{"abcdefgh", "jklmnopq", "rst"}, `^abcdefgh-[a-z][a-z2-7]{9}$`},
		{"no dot before the dash", 20, []string{"abcdefgh.jklmnopqrst" + "u"}, `^abcdefgh-[a-z][a-z2-7]{9}$`},
		{"a cut that leaves nothing is the hash", 12, []string{"-----------------"}, `^[a-z][a-z2-7]{9}$`},
		{"no room for a cut", 5, []string{long}, `^[a-z][a-z2-7]{4}$`},
		{"letters stay as they are", 63, []string{"Shop", "WEB"}, `^Shop-WEB$`},
		{"a letter of two bytes is not halved", 14, []string{"aéééééééé"}, `^aé-[a-z2-7]{10}$`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := object.Name(tc.limit, tc.parts...); !regexp.MustCompile(tc.want).MatchString(got) {
				t.Errorf("got %q, want %s", got, tc.want)
			}
		})
	}
}

// Names are stored in clusters: a new version of the library must make the same ones.
func TestNameStaysTheSame(t *testing.T) {
	long := strings.Repeat("segment-", 12)
	if got, want := object.Name(40, "db", long), "db-segment-segment-segment-se-jqcns2tpxo"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// dnsLabel is what the API server takes as the name of a Service.
var dnsLabel = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

func TestNameLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	made := map[string]string{} // limit and name → joined text
	for range 60_000 {
		parts := make([]string, 1+rng.IntN(4))
		for i := range parts {
			parts[i] = randomLabel(rng)
		}
		limit, joined := 12+rng.IntN(60), strings.Join(parts, "-")
		got := object.Name(limit, parts...)
		switch {
		case len(got) > limit:
			t.Fatalf("Name(%d, %q) = %q is longer than %d", limit, parts, got, limit)
		case !dnsLabel.MatchString(got):
			t.Fatalf("Name(%d, %q) = %q is not a DNS label", limit, parts, got)
		case got != object.Name(limit, parts...), got != object.Name(limit, joined):
			t.Fatalf("Name(%d, %q) depends on more than the joined text", limit, parts)
		case len(joined) <= limit && got != joined:
			t.Fatalf("Name(%d, %q) = %q, but the whole fits", limit, parts, got)
		}
		key := fmt.Sprint(limit, " ", got)
		if other, taken := made[key]; taken && other != joined {
			t.Fatalf("%q and %q are both named %q", joined, other, got)
		}
		made[key] = joined
	}
}

// Names that share everything up to the cut are the hard case for the hash.
func TestNameTellsLongTwinsApart(t *testing.T) {
	made := map[string]int{}
	for i := range 60_000 {
		name := object.Name(30, strings.Repeat("x", 40), fmt.Sprint(i))
		if other, taken := made[name]; taken {
			t.Fatalf("%d and %d are both named %q", other, i, name)
		}
		made[name] = i
	}
}

func randomLabel(rng *rand.Rand) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	b := make([]byte, 1+rng.IntN(25))
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
		if i > 0 && i < len(b)-1 && rng.IntN(6) == 0 {
			b[i] = '-'
		}
	}
	return string(b)
}
