package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/cmd/armature/tree"
)

// play shows one step, and returns when it has come true.
func (s *stage) play(ctx context.Context, number int, st step) error {
	begun := s.now()
	fmt.Fprintf(s.out, "\n%d. %s\n", number, st.name)
	for _, a := range st.acts {
		if err := s.act(ctx, st.name, a); err != nil {
			return err
		}
	}
	if st.finally != nil {
		if err := st.finally(ctx, s); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.out, "   %.1fs\n", s.now().Sub(begun).Seconds())
	return nil
}

// act runs a command and watches until all that is wanted of it is true.
func (s *stage) act(ctx context.Context, name string, a act) error {
	ctx, stop := s.attentive(ctx)
	defer stop()
	r, err := observe(ctx, s.dynamic, a.want)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "   $ kubectl %s\n", quoted(a.do))
	screen := tree.NewScreen(s.out)
	var failure error
	commanding := make(chan struct{})
	go func(done chan<- struct{}) {
		failure = s.quietly(ctx, a.do)
		close(done)
	}(commanding)
	for commanding != nil || r.missing() >= 0 {
		if screen.Terminal() {
			screen.Show(r.text())
		}
		select {
		case <-commanding:
			if failure != nil {
				return fmt.Errorf("%s: %w", name, failure)
			}
			commanding = nil
		case e := <-r.events:
			r.take(e)
		case <-ctx.Done():
			if commanding != nil {
				<-commanding // it hears the same context
			}
			screen.Show(r.text())
			if cause := context.Cause(ctx); !errors.Is(cause, errOutOfPatience) {
				return cause
			}
			return s.disappointed(ctx, name, r)
		}
	}
	screen.Show(r.text())
	return nil
}

// disappointed is the error of an act that has not come true in time.
func (s *stage) disappointed(ctx context.Context, name string, r *record) error {
	i := r.missing()
	w, values := r.wants[i], r.values[i]
	problem := fmt.Sprintf("%s: %s is %s (%s), and should be %s", w.of.short(), w.field.name, last(values), way(values), w.goal.text)
	if !r.current[i] {
		problem += "; it was not judged anew since the last change"
	}
	return s.failed(ctx, name, problem, w.of, webapp)
}

// failed is the error of a step: what is wrong, what the objects say about themselves,
// and the operator's last words.
func (s *stage) failed(ctx context.Context, name, problem string, about ...subject) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mercy) // the one of the step has ended
	defer cancel()
	lines := []string{fmt.Sprintf("%s: this did not come true within %s", name, s.opts.Patience), problem}
	for _, of := range slices.Compact(about) {
		if of.selector != "" {
			continue
		}
		obj, err := s.dynamic.Resource(of.resource).Namespace(namespace).Get(ctx, of.name, metav1.GetOptions{})
		if err != nil {
			lines = append(lines, fmt.Sprintf("%s: %v", of.short(), err))
			continue
		}
		lines = append(lines, of.short()+": "+lastCondition(obj))
	}
	a := s.cast[len(s.cast)-1]
	lines = append(lines, "the end of what the "+a.name+" said:", a.tail())
	return errors.New(strings.Join(lines, "\n"))
}

// nothingLeft waits until the cluster has no object of any kind that an operator made.
func nothingLeft(ctx context.Context, s *stage) error {
	ctx, stop := s.attentive(ctx)
	defer stop()
	for {
		left, err := s.reader.Labelled(ctx, namespace)
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, errOutOfPatience):
			return s.failed(ctx, "Delete it", fmt.Sprintf("with the label of a component there are still %v", left))
		case cause != nil:
			return cause
		case err != nil:
			return err
		case len(left) == 0:
			fmt.Fprintf(s.out, "     with the label %s, of every kind that the cluster serves: none\n", apply.ComponentLabel)
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(treeEvery):
		}
	}
}
