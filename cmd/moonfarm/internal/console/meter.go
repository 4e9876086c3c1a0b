package console

import (
	"fmt"
	"io"
	"os"
	"time"

	"moonfarm/sim/texts"
)

// The least times between two lines of progress, on a terminal and elsewhere.
const (
	progressEvery = 200 * time.Millisecond
	logEvery      = time.Minute
)

// Meter shows the progress of a command on a terminal, in one line that it rewrites. Any
// other output, such as a log, gets a line a minute.
type Meter struct {
	w     io.Writer // nil: show nothing
	log   bool      // w is no terminal
	what  string    // "episodes"
	start time.Time
	last  time.Time
	base  uint64 // done at the first call of Show
	begun bool
	shown bool
}

// Meter returns a meter on standard error.
func (c *Console) Meter(what string) *Meter {
	m := &Meter{w: c.Stderr, what: what, start: time.Now()}
	if m.log = !IsTerminal(c.Stderr); m.log {
		m.last = m.start
	}
	return m
}

// Colours reports whether standard output is a terminal that shows colours, and the user has not
// refused them (no-color.org).
func (c *Console) Colours() bool {
	term := os.Getenv("TERM")
	known := term != "" && term != "dumb" || os.Getenv("WT_SESSION") != "" // Windows Terminal
	return known && os.Getenv("NO_COLOR") == "" && !c.JSON && IsTerminal(c.stdout)
}

// IsTerminal reports whether an output is a terminal, or another character device such as
// /dev/null, where a progress line does no harm.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Visible reports whether the meter has a line on a terminal.
func (m *Meter) Visible() bool { return m.w != nil && !m.log }

// Show shows that done of all items are done. If otherWhat is not "", the rate shown is
// that of other, else that of done: per second since the start.
func (m *Meter) Show(done, all, other uint64, otherWhat string) {
	if m.w == nil {
		return
	}
	if !m.begun {
		m.begun, m.base = true, done
	}
	if m.Due() {
		m.put(m.line(time.Since(m.start), done, all, other, otherWhat))
	}
}

// Due reports whether it is time for another line, and counts it as written.
func (m *Meter) Due() bool {
	now, every := time.Now(), progressEvery
	if m.log {
		every = logEvery
	}
	if now.Sub(m.last) < every {
		return false
	}
	m.last = now
	return true
}

// line returns the text of the progress.
func (m *Meter) line(passed time.Duration, done, all, other uint64, otherWhat string) string {
	s := fmt.Sprintf("%s of %s %s", texts.Group(done), texts.Group(all), m.what)
	if all > 0 {
		s += fmt.Sprintf(" (%d %%)", done*100/all)
	}
	if seconds := passed.Seconds(); seconds > 0.5 {
		if otherWhat != "" {
			s += fmt.Sprintf(", %s %s/s", texts.Group(uint64(float64(other)/seconds)), otherWhat)
		} else if made := done - m.base; made > 0 {
			s += fmt.Sprintf(", %s/s", texts.Group(uint64(float64(made)/seconds)))
		}
		if made := done - m.base; made > 0 && done < all {
			left := time.Duration(seconds * float64(all-done) / float64(made) * float64(time.Second))
			s += ", " + FormatDuration(left) + " left"
		}
	}
	return s
}

// End removes the line and returns the time since the start.
func (m *Meter) End() time.Duration {
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
	return time.Since(m.start)
}

// Say shows a text as the line. A log gets it if a line is due.
func (m *Meter) Say(what string) {
	if m.w != nil && (!m.log || m.Due()) {
		m.put(what)
	}
}

func (m *Meter) put(what string) {
	if m.log {
		tell(m.w, "%s\n", what)
	} else {
		m.shown = true
		tell(m.w, "\r\x1b[K%s", what)
	}
}

// Leave writes lines that stay on the terminal.
func (m *Meter) Leave(lines string) {
	if m.Visible() {
		fmt.Fprintf(m.w, "\r\x1b[K%s\n", escapedLines(lines))
	}
}
