package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"moonfarm/sim/texts"
)

// The least times between two lines of progress, on a terminal and elsewhere.
const (
	progressEvery = 200 * time.Millisecond
	logEvery      = time.Minute
)

// quietAtMost is the longest time that a meter leaves a terminal without a change, so that a person sees that the command
// works.
const quietAtMost = time.Second

// Meter shows the progress of a command on a terminal, in one line that it rewrites: from the first second on the time that
// has passed, then what Show or Say is told. Any other output, such as a log, gets a line a minute, if Show or Say is called;
// with --json it gets the steps of Show as objects, for a program that shows them. It may be used by several goroutines at once.
type Meter struct {
	w     io.Writer // nil: show nothing
	log   bool      // w is no terminal
	json  bool      // lines of a log are objects
	what  string    // "episodes"
	start time.Time
	end   func() // ends the goroutine that rewrites the line; may be nil

	mu    sync.Mutex
	last  time.Time
	base  uint64 // done at the first call of Show
	begun bool
	shown bool
	text  func() string // of the line as time passes; nil: it is not rewritten
}

// Meter returns a meter on standard error. End ends it, and so does the end of the command.
func (c *Console) Meter(what string) *Meter {
	if IsTerminal(c.Stderr) {
		return c.meter(c.Stderr, what)
	}
	now := time.Now()
	return &Meter{w: c.Stderr, log: true, json: c.JSON, what: what, start: now, last: now}
}

// meter returns a meter on a terminal.
func (c *Console) meter(terminal io.Writer, what string) *Meter {
	m := &Meter{w: terminal, what: what, start: time.Now()}
	m.last = m.start
	m.text = func() string { return fmt.Sprintf("%s: %s so far", what, FormatDuration(time.Since(m.start))) }
	done := make(chan struct{})
	m.end = sync.OnceFunc(func() { close(done) })
	go m.rewrite(done)
	c.meters = append(c.meters, m)
	return m
}

// EndMeters ends all meters, so that output is not mixed with them. Print does so.
func (c *Console) EndMeters() {
	for _, m := range c.meters {
		m.End()
	}
	c.meters = nil
}

// rewrite rewrites a line that would stay the same.
func (m *Meter) rewrite(done <-chan struct{}) {
	t := time.NewTicker(quietAtMost / 2)
	defer t.Stop()
	for {
		select {
		case <-done:
			return
		case <-t.C:
		}
		m.mu.Lock()
		if m.text != nil && time.Since(m.last) >= quietAtMost {
			m.write(m.text())
		}
		m.mu.Unlock()
	}
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

// Show shows that done of all items are done; all is 0 if it is not known. If otherWhat is not "", the rate shown is
// that of other, else that of done: per second since the start.
func (m *Meter) Show(done, all, other uint64, otherWhat string) {
	m.show(done, func(passed time.Duration) string { return m.line(passed, done, all, other, otherWhat, "") })
}

// ShowAbout is Show for a number of all items that is an estimate, which is only asked for if it is shown.
func (m *Meter) ShowAbout(done uint64, all func() uint64) {
	m.show(done, func(passed time.Duration) string { return m.line(passed, done, all(), 0, "", "about ") })
}

func (m *Meter) show(done uint64, line func(passed time.Duration) string) {
	if m.w == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.begun {
		m.begun, m.base = true, done
	}
	m.text = func() string { return line(time.Since(m.start)) }
	if m.due() {
		m.write(m.text())
	}
}

// Due reports whether it is time for another line, and counts it as written.
func (m *Meter) Due() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.due()
}

func (m *Meter) due() bool {
	now, every := time.Now(), progressEvery
	if m.log {
		every = logEvery
	}
	if m.json { // often at first, then at each fiftieth of the time
		every = min(max(now.Sub(m.start)/50, quietAtMost), logEvery)
	}
	if (m.shown || m.log) && now.Sub(m.last) < every {
		return false
	}
	m.last = now
	return true
}

// line returns the text of the progress.
func (m *Meter) line(passed time.Duration, done, all, other uint64, otherWhat, about string) string {
	if m.json {
		return fmt.Sprintf(`{"progress":%q,"done":%d,"all":%d}`, m.what, done, all)
	}
	s := texts.Plural(done, strings.TrimSuffix(m.what, "s"))
	if all > 0 {
		s = fmt.Sprintf("%s of %s%s %s (%d %%)", texts.Group(done), about, texts.Group(all), m.what, done*100/all)
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
		} else if made == 0 {
			s += ", " + FormatDuration(passed) + " so far"
		}
	}
	return s
}

// End removes the line and returns the time since the start. Calls after the first one have no other effect.
func (m *Meter) End() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil {
		m.end()
	}
	if m.text = nil; m.shown {
		m.shown = false
		fmt.Fprint(m.w, "\r\x1b[K")
	}
	return time.Since(m.start)
}

// write rewrites the line, or adds one to a log.
func (m *Meter) write(what string) {
	m.last = time.Now()
	if m.log {
		tell(m.w, "%s\n", what)
	} else {
		m.shown = true
		tell(m.w, "\r\x1b[K%s", what)
	}
}

// Say shows a text as the line. A log gets it if a line is due, and is not of objects.
func (m *Meter) Say(what string) {
	if m.w == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = nil
	if !m.json && (!m.log || m.due()) {
		m.write(what)
	}
}

// Leave writes lines that stay on the terminal.
func (m *Meter) Leave(lines string) {
	if !m.Visible() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprintf(m.w, "\r\x1b[K%s\n", escapedLines(lines))
}
