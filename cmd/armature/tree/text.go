package tree

import (
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/armature-go/armature/condition"
)

// Colour says whether states are coloured.
type Colour string

// The zero value is NoColour.
const (
	NoColour Colour = ""
	ANSI     Colour = "ansi"
)

// line is a node as text, before it is aligned.
type line struct {
	name, status, reason, age, message string
	node                               *Node
}

// Text prints the tree as a table, one line for each node. Ages are those at now.
func (n Node) Text(now time.Time, colour Colour) string {
	lines := []line{{name: "NAME", status: "READY", reason: "REASON", age: "AGE", message: "MESSAGE"}}
	lines = appendLines(lines, &n, now, "", "")
	var widths [4]int
	for _, l := range lines {
		for i, cell := range []string{l.name, l.status, l.reason, l.age} {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		state := pad(l.status, widths[1]) + "  " + pad(l.reason, widths[2])
		if colour == ANSI {
			state = paint(state, l)
		}
		text := pad(l.name, widths[0]) + "  " + state + "  " + pad(l.age, widths[3]) + "  " + l.message
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	return b.String()
}

// appendLines adds the node and its parts. The first line starts with head, those of
// the parts with body.
func appendLines(to []line, n *Node, now time.Time, head, body string) []line {
	l := line{
		name: head + n.Name, status: or(string(n.Status), "-"), reason: or(n.Reason, "-"), message: strings.ReplaceAll(n.Message, "\n", " "), node: n,
	}
	if !n.Created.IsZero() {
		l.age = duration.HumanDuration(now.Sub(n.Created))
	}
	to = append(to, l)
	for i := range n.Parts {
		if i == len(n.Parts)-1 {
			to = appendLines(to, &n.Parts[i], now, body+"└─ ", body+"   ")
		} else {
			to = appendLines(to, &n.Parts[i], now, body+"├─ ", body+"│  ")
		}
	}
	return to
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

const (
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
	plain  = "\x1b[0m"
)

// alarming are the categories of reasons that somebody should look at.
var alarming = map[condition.Category]bool{
	condition.CategoryFailure: true,
	condition.CategoryGrace:   true,
	condition.CategoryFailing: true,
}

// paint colours the state of a line.
func paint(state string, l line) string {
	row, _ := condition.Lookup(condition.Reason(l.reason))
	switch {
	case l.node == nil || l.node.Status == "":
		return state
	case l.node.Status == metav1.ConditionTrue:
		return green + state + plain
	case alarming[row.Category]:
		return red + state + plain
	default:
		return yellow + state + plain
	}
}
