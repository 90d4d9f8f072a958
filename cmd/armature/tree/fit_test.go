package tree

import "testing"

func TestFit(t *testing.T) {
	for _, test := range []struct {
		name           string
		text           string
		columns, lines int
		want           string
	}{
		{"what fits stays", "one\ntwo\n", 5, 5, "one\ntwo\n"},
		{"exactly as wide as the screen", "12345\n", 5, 5, "12345\n"},
		{"a longer line is cut", "123456\n", 5, 5, "1234…\x1b[0m\n"},
		{"letters of several bytes count once", "├─ é\n", 4, 5, "├─ é\n"},
		{"colours take no room", "\x1b[31mFalse\x1b[0m\n", 5, 5, "\x1b[31mFalse\x1b[0m\n"},
		{"a colour that was cut ends", "\x1b[31mFalsehood\x1b[0m\n", 5, 5, "\x1b[31mFals…\x1b[0m\n"},
		{"more lines are counted", "1\n2\n3\n4\n", 80, 3, "1\n2\n… and 2 more lines\n"},
		{"a size that is not known cuts nothing", "123456\n1\n2\n", 0, -1, "123456\n1\n2\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := fit(test.text, test.columns, test.lines); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"webapp", "webapp", 0},
		{"webap", "webapp", 1},
		{"wepapp", "webapp", 1},
		{"shpo", "shop", 2},
		{"", "shop", 4},
		{"pod", "configmap", 8},
	} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
		if got := distance(test.b, test.a); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.b, test.a, got, test.want)
		}
	}
}
