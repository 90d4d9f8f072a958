package guard

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

func TestExpected(t *testing.T) {
	for _, row := range []struct {
		announced string
		want      int
	}{{"", 7}, {"42", 42}, {"0", 7}, {"-1", 7}, {"me", 7}} {
		if got := expected(row.announced, 7); got != row.want {
			t.Errorf("announced %q: %d, want %d", row.announced, got, row.want)
		}
	}
}

func TestEnviron(t *testing.T) {
	env := []string{"A=1", "PLANE_PARENT=1", "PLANE_PARENTS=2"}
	if got := Clean(env); !slices.Equal(got, []string{"A=1", "PLANE_PARENTS=2"}) {
		t.Errorf("cleaned: %v", got)
	}
	want := []string{"A=1", "PLANE_PARENTS=2", fmt.Sprintf("PLANE_PARENT=%d", os.Getpid())}
	if got := Environ(env); !slices.Equal(got, want) {
		t.Errorf("for a child: %v, want %v", got, want)
	}
}

func TestWatch(t *testing.T) {
	gone := make(chan struct{})
	t.Setenv(ParentEnv, fmt.Sprint(os.Getpid())) // not the parent, so it counts as gone
	t.Setenv(SwitchEnv, "")
	Watch(func() { close(gone) })
	<-gone
	t.Setenv(SwitchEnv, "off")
	Watch(func() { t.Error("the guard is off and speaks") })
}
