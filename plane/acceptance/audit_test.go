package acceptance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

type auditLine struct {
	Level     string `json:"level"`
	Stage     string `json:"stage"`
	Verb      string `json:"verb"`
	UserAgent string `json:"userAgent"`
	User      struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource string `json:"resource"`
	} `json:"objectRef"`
}

func auditLines(t *testing.T, path string) []auditLine {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []auditLine
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var l auditLine
		if json.Unmarshal(scan.Bytes(), &l) == nil { // the last line may be half written
			out = append(out, l)
		}
	}
	return out
}

func TestAuditCountsRequestsPerUserAgent(t *testing.T) {
	w := setup(t)
	cfg := *w.config
	cfg.UserAgent = "counting-" + w.ns
	client, err := kubernetes.NewForConfig(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.AppsV1().Deployments(w.ns).Create(t.Context(), deployment(1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := client.AppsV1().Deployments(w.ns).Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	path := readState(t, w.plane.dir).Audit
	eventually(t, "four requests in the audit log", func() error {
		verbs := map[string]int{}
		for _, l := range auditLines(t, path) {
			if l.UserAgent != cfg.UserAgent {
				continue
			}
			verbs[l.Verb]++
			if l.User.Username != "plane-admin" || l.Level != "Metadata" || l.Stage != "ResponseComplete" || l.ObjectRef.Resource != "deployments" {
				t.Fatalf("unexpected line %+v", l)
			}
		}
		if verbs["get"] != 3 || verbs["create"] != 1 {
			return fmt.Errorf("counted %v", verbs)
		}
		return nil
	})
	for _, l := range auditLines(t, path) {
		if strings.HasPrefix(l.User.Username, "system:") && !strings.HasPrefix(l.User.Username, "system:serviceaccount:") {
			t.Fatalf("a request of the plane itself is in the log: %+v", l)
		}
	}
}
