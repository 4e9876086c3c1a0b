package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progressEvery is the least time between two lines of progress.
const progressEvery = 200 * time.Millisecond

// meter shows how far a command is: one line on a terminal, written over and
// over. On anything else it shows nothing.
type meter struct {
	w     io.Writer // nil: show nothing
	what  string    // "episodes"
	start time.Time
	last  time.Time
	base  uint64 // what was done at the first call
	begun bool
	shown bool
}

// meter returns a meter on standard error.
func (a *app) meter(what string) *meter {
	m := &meter{what: what, start: time.Now()}
	if f, ok := a.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		m.w = a.stderr
	}
	return m
}

// show tells that done of all are done, and a second number of which the rate
// is of interest: rates come per second since the start.
func (m *meter) show(done, all, other uint64, otherWhat string) {
	if m.w == nil {
		return
	}
	now := time.Now()
	if !m.begun {
		m.begun, m.base = true, done
	}
	if now.Sub(m.last) < progressEvery {
		return
	}
	m.last, m.shown = now, true
	fmt.Fprintf(m.w, "\r\x1b[K%s", m.line(now.Sub(m.start), done, all, other, otherWhat))
}

// line is the text of the progress.
func (m *meter) line(passed time.Duration, done, all, other uint64, otherWhat string) string {
	s := fmt.Sprintf("%s of %s %s", group(done), group(all), m.what)
	if all > 0 {
		s += fmt.Sprintf(" (%d %%)", done*100/all)
	}
	if seconds := passed.Seconds(); seconds > 0.5 {
		if otherWhat != "" {
			s += fmt.Sprintf(", %s %s/s", group(uint64(float64(other)/seconds)), otherWhat)
		} else if made := done - m.base; made > 0 {
			s += fmt.Sprintf(", %s/s", group(uint64(float64(made)/seconds)))
		}
		if made := done - m.base; made > 0 && done < all {
			left := time.Duration(seconds * float64(all-done) / float64(made) * float64(time.Second))
			s += ", " + lasting(left) + " left"
		}
	}
	return s
}

// end removes the line and tells how long it took.
func (m *meter) end() time.Duration {
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
	return time.Since(m.start)
}

// say shows what is being done.
func (m *meter) say(what string) {
	if m.w != nil {
		m.shown = true
		fmt.Fprintf(m.w, "\r\x1b[K%s", what)
	}
}
