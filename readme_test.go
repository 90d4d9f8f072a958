package armature_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Code in README.md and docs is not typed there: what follows a line
// <!-- from FILE --> stands in that file, word for word.
func TestCodeInDocsIsRealCode(t *testing.T) {
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	guides, err := filepath.Glob("docs/guides/*.md")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, guides...)
	found := 0
	for _, file := range append(files, "README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range quotations(string(text)) {
			found++
			code, err := os.ReadFile(q.file)
			if err != nil {
				t.Errorf("%s quotes a file that cannot be read: %v", file, err)
			} else if !strings.Contains(string(code), q.code) {
				t.Errorf("%s quotes what %s does not hold; copy it anew:\n%s", file, q.file, q.code)
			}
		}
	}
	if found == 0 {
		t.Error("README.md quotes no code")
	}
}

type quotation struct{ file, code string }

var quoted = regexp.MustCompile("(?ms)^<!-- from (\\S+) -->\n```\\w+\n(.*?)^```$")

func quotations(text string) []quotation {
	var all []quotation
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		all = append(all, quotation{m[1], m[2]})
	}
	return all
}
