package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/armature-go/armature/plane/proxy"
)

// Fault is something that goes wrong on purpose.
type Fault struct {
	Component string `json:"component"`
	Action    string `json:"action"` // one of Actions, or kill
}

// Actions are what can be done to the API server. After start, restart and
// thaw it is ready again.
var Actions = []string{"stop", "start", "restart", "freeze", "thaw"}

// Inflict lets a fault happen and returns when it has. Killing a component
// ends the whole plane, as its death always does.
func (p *Plane) Inflict(ctx context.Context, f Fault) error {
	p.faults.Lock()
	defer p.faults.Unlock()
	select {
	case <-p.ended:
		return errors.New("the plane is going down")
	default:
	}
	p.mu.Lock()
	ch, cmd := p.children[f.Component], p.commands[f.Component]
	known := strings.Join(p.order, ", ")
	p.mu.Unlock()
	if ch == nil {
		return fmt.Errorf("this plane has no component %q; it has %s", f.Component, known)
	}
	if f.Action == "kill" {
		return ch.cmd.Process.Signal(syscall.SIGKILL)
	}
	if f.Component != APIServer || !slices.Contains(Actions, f.Action) {
		return fmt.Errorf("%s cannot be done to %s; every component can be killed, and the API server takes %s",
			f.Action, f.Component, strings.Join(Actions, ", "))
	}
	return p.handle(ctx, ch, cmd, f.Action)
}

func (p *Plane) handle(ctx context.Context, ch *child, cmd command, action string) error {
	running, frozen := ch.running(), ch.status().State == "frozen"
	switch {
	case action == "start" && running:
		return fmt.Errorf("%s runs already", ch.name)
	case action != "start" && action != "restart" && !running:
		return fmt.Errorf("%s is stopped; bring it back with start first", ch.name)
	case action == "freeze" && frozen:
		return fmt.Errorf("%s is frozen already", ch.name)
	case action == "thaw" && !frozen:
		return fmt.Errorf("%s is not frozen", ch.name)
	}
	switch action {
	case "freeze":
		return ch.freeze()
	case "thaw":
		if err := ch.thaw(); err != nil {
			return err
		}
		return p.ready(ctx)
	}
	if action != "start" && running {
		ch.stop(stopLimit)
	}
	if action == "stop" {
		return nil
	}
	if err := p.start(cmd, sameLog); err != nil {
		return err
	}
	return p.ready(ctx)
}

// ready waits for the API server, and no longer than the plane lives.
func (p *Plane) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	go func() {
		select {
		case <-p.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := p.api.answers().await(ctx); err != nil {
		if dead := p.Err(); dead != nil {
			return dead
		}
		return err
	}
	return nil
}

// Disturb sets what the proxy does to requests; nil lets all pass.
func (p *Plane) Disturb(r *proxy.Rule) error {
	if p.proxy == nil {
		return errors.New("this plane has no proxy; start it with --proxy")
	}
	if r != nil {
		if err := r.Validate(); err != nil {
			return err
		}
	}
	p.proxy.Set(r)
	return nil
}
