package condition

import (
	"fmt"
	"strings"
)

// Markdown returns the vocabulary as a table for people, in the order of [Rows],
// operators' own reasons included.
func Markdown() string { return markdown(Rows()) }

func markdown(rows []Row) string {
	var b strings.Builder
	b.WriteString("| priority | reason | status | category | graded | sticky | meaning |\n")
	b.WriteString("|--:|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s | %s | %s | %s |\n",
			r.Priority, r.Reason, r.Status, r.Category, mark[r.Graded], mark[r.Sticky], r.Meaning)
	}
	return b.String()
}

// mark writes a property that most rows do not have.
var mark = map[bool]string{true: "yes", false: ""}
