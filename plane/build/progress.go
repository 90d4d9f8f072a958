package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress tells a person how far a build is: in one line that changes on a
// terminal, in a line from time to time elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	start    time.Time

	mu      sync.Mutex
	total   int // packages to compile; 0 while that is not known
	done    int
	modules int
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{
		out: out, start: time.Now(), //nolint:forbidigo // told to a person
		terminal: err == nil && info.Mode()&os.ModeCharDevice != 0,
	}
}

func (p *progress) elapsed() time.Duration {
	return time.Since(p.start).Round(time.Second) //nolint:forbidigo // told to a person
}

func (p *progress) say(text string) { fmt.Fprintln(p.out, "build:", text) }

func (p *progress) expect(total int) {
	p.mu.Lock()
	p.total = total
	p.mu.Unlock()
}

func (p *progress) compiled() {
	p.mu.Lock()
	p.done++
	p.mu.Unlock()
}

func (p *progress) downloaded() {
	p.mu.Lock()
	p.modules++
	p.mu.Unlock()
}

// line is the state of the build. Linking comes last and names no package.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.total == 0:
		return fmt.Sprintf("fetched %d modules, after %s", p.modules, p.elapsed())
	case p.done >= p.total:
		return fmt.Sprintf("linking, after %s", p.elapsed())
	default:
		return fmt.Sprintf("compiled %d of %d packages (%d%%), after %s", p.done, p.total, 100*p.done/p.total, p.elapsed())
	}
}

// tick shows the line until the returned function is called.
func (p *progress) tick() (stop func()) {
	every := interval
	if p.terminal {
		every = time.Second
	}
	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-end:
				return
			case <-t.C:
				p.show()
			}
		}
	})
	return func() {
		close(end)
		wg.Wait()
		if p.terminal {
			fmt.Fprint(p.out, "\r\x1b[K")
		}
	}
}

func (p *progress) show() {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[Kbuild: "+p.line())
		return
	}
	p.say(p.line())
}
