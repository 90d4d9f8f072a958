package supervise

import (
	"encoding/json"
	"os"
	"time"

	"github.com/armature-go/armature/plane/proxy"
)

// Status describes a plane. The same form is kept in state.json in its
// directory, so that it can be found, and printed by plane status -o json.
// Readers of the file should know that a plane that was killed leaves it behind.
type Status struct {
	Version    int         `json:"version"` // of this form: 1
	Up         bool        `json:"up"`      // everything is ready
	Step       string      `json:"step"`    // what it is doing
	PID        int         `json:"pid"`     // of the supervisor
	Dir        string      `json:"dir"`
	Server     string      `json:"server"`
	Kubeconfig string      `json:"kubeconfig"`
	Audit      string      `json:"audit,omitempty"`
	Proxy      *ProxyState `json:"proxy,omitempty"`
	StartedAt  time.Time   `json:"startedAt"`
	Components []Component `json:"components"`
	Error      string      `json:"error,omitempty"` // why it went down
}

// ProxyState tells where the fault proxy is and what it does to requests.
type ProxyState struct {
	Server     string      `json:"server"`
	Kubeconfig string      `json:"kubeconfig"`
	Rule       *proxy.Rule `json:"rule,omitempty"`
}

// Component is one child of the supervisor. State is running, frozen or
// stopped; a stopped one has no PID.
type Component struct {
	Name      string    `json:"name"`
	State     string    `json:"state"`
	PID       int       `json:"pid,omitempty"`
	StartedAt time.Time `json:"startedAt"`
	Log       string    `json:"log"`
}

func (l layout) writeState(s Status) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return replace(l.path("state.json"), append(data, '\n'))
}

func (l layout) readState() (Status, error) {
	var s Status
	data, err := os.ReadFile(l.path("state.json"))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}
