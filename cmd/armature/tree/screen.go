package tree

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Screen shows a text that changes. On a terminal the new text takes the place of
// the one before, cut to what fits; elsewhere it is printed below it, after an empty
// line.
type Screen struct {
	out   io.Writer
	fd    int // of the terminal; -1 if it is none
	lines int // of what may be replaced
	shown bool
}

// NewScreen returns a screen that shows nothing yet.
func NewScreen(out io.Writer) *Screen {
	s := &Screen{out: out, fd: -1}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.fd = int(f.Fd())
	}
	return s
}

// Terminal reports whether a person looks at it.
func (s *Screen) Terminal() bool { return s.fd >= 0 }

// Colour returns what goes with the screen.
func (s *Screen) Colour() Colour {
	if s.Terminal() && os.Getenv("NO_COLOR") == "" {
		return ANSI
	}
	return NoColour
}

// Show shows a text in place of the last one.
func (s *Screen) Show(text string) {
	if !s.Terminal() {
		if s.shown {
			fmt.Fprintln(s.out)
		}
		s.shown = true
		fmt.Fprint(s.out, text)
		return
	}
	width, height, err := term.GetSize(s.fd)
	if err != nil {
		width, height = 80, 24
	}
	text = fit(text, width, height-1)
	if s.lines > 0 {
		fmt.Fprintf(s.out, "\x1b[%dA\x1b[J", s.lines)
	}
	fmt.Fprint(s.out, text)
	s.lines = strings.Count(text, "\n")
}

// Keep leaves what is shown where it is: the next text comes below.
func (s *Screen) Keep() { s.lines, s.shown = 0, false }

// fit cuts a text to a number of columns and lines. Less than two of either count as
// unknown, and cut nothing.
func fit(text string, columns, lines int) string {
	all := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if lines > 1 && len(all) > lines {
		all = append(all[:lines-1], fmt.Sprintf("… and %d more lines\n", len(all)-lines+1))
	}
	var b strings.Builder
	for _, l := range all {
		b.WriteString(fitLine(strings.TrimSuffix(l, "\n"), columns) + "\n")
	}
	return b.String()
}

// fitLine cuts a line to a number of columns; sequences that set a colour take none.
func fitLine(line string, columns int) string {
	if columns < 2 || utf8.RuneCountInString(colours.ReplaceAllString(line, "")) <= columns {
		return line
	}
	var b strings.Builder
	column, escape := 0, false
	for _, r := range line {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		case column == columns-1:
			return b.String() + "…" + plain
		default:
			column++
		}
		b.WriteRune(r)
	}
	return b.String()
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")
