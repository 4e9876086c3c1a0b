package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
	"moonfarm/cmd/moonfarm/internal/cli"
)

// print prints v as indented JSON if --json is given, else it calls text.
func (a *app) print(v any, text func()) error {
	if !a.json {
		text()
		return nil
	}
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printf prints to standard output.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// table prints rows of cells in columns. The first row has the headings. Columns of
// numbers are aligned to the right.
func (a *app) table(rows ...[]string) {
	for _, r := range rows {
		var line strings.Builder
		for i, cell := range r {
			width, numbers := 0, true
			for j, other := range rows {
				width = max(width, utf8.RuneCountInString(other[i]))
				numbers = numbers && (j == 0 || other[i] != "" && strings.ContainsRune("0123456789+-", rune(other[i][0])))
			}
			pad := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if numbers {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		a.printf("%s\n", strings.TrimRight(line.String(), " "))
	}
}

// lasting formats a duration for people: "9.5 s", "30 min".
func lasting(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// shape formats sizes as "12×8×16".
func shape(sizes []int) string {
	words := make([]string, len(sizes))
	for i, n := range sizes {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, "×")
}

// heads formats the numbers of choices of an action's heads: "322", "84 of 32, 210 of
// 16".
func heads(choices []int) string {
	var words []string
	for len(choices) > 0 {
		n := 1
		for ; n < len(choices) && choices[n] == choices[0]; n++ {
		}
		words = append(words, fmt.Sprintf("%d of %d", n, choices[0]))
		choices = choices[n:]
	}
	return strings.TrimPrefix(strings.Join(words, ", "), "1 of ")
}

// headsInShort formats the heads for a table: the choices of the heads that have a
// mask, and the number of the other heads.
func headsInShort(choices []int, unmasked int) string {
	text := heads(choices[:len(choices)-unmasked])
	if unmasked > 0 {
		text += " and " + cli.Plural(unmasked, "more head")
	}
	return text
}

// decimal formats a number with at most six digits.
func decimal(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// progressEvery is the least time between two lines of progress.
const progressEvery = 200 * time.Millisecond

// meter shows the progress of a command on a terminal, in one line that it rewrites. On
// any other output it shows nothing.
type meter struct {
	w     io.Writer // nil: show nothing
	what  string    // "episodes"
	start time.Time
	last  time.Time
	base  uint64 // done at the first call of show
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

// show shows that done of all items are done. If otherWhat is not "", the rate shown is
// that of other, else that of done: per second since the start.
func (m *meter) show(done, all, other uint64, otherWhat string) {
	if m.w == nil {
		return
	}
	if !m.begun {
		m.begun, m.base = true, done
	}
	if m.due() {
		m.say(m.line(time.Since(m.start), done, all, other, otherWhat))
	}
}

// due reports whether it is time to rewrite the line, and counts it as rewritten.
func (m *meter) due() bool {
	now := time.Now()
	if now.Sub(m.last) < progressEvery {
		return false
	}
	m.last = now
	return true
}

// line returns the text of the progress.
func (m *meter) line(passed time.Duration, done, all, other uint64, otherWhat string) string {
	s := fmt.Sprintf("%s of %s %s", cli.Group(done), cli.Group(all), m.what)
	if all > 0 {
		s += fmt.Sprintf(" (%d %%)", done*100/all)
	}
	if seconds := passed.Seconds(); seconds > 0.5 {
		if otherWhat != "" {
			s += fmt.Sprintf(", %s %s/s", cli.Group(uint64(float64(other)/seconds)), otherWhat)
		} else if made := done - m.base; made > 0 {
			s += fmt.Sprintf(", %s/s", cli.Group(uint64(float64(made)/seconds)))
		}
		if made := done - m.base; made > 0 && done < all {
			left := time.Duration(seconds * float64(all-done) / float64(made) * float64(time.Second))
			s += ", " + lasting(left) + " left"
		}
	}
	return s
}

// end removes the line and returns the time since the start.
func (m *meter) end() time.Duration {
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
	return time.Since(m.start)
}

// say shows a text as the line.
func (m *meter) say(what string) {
	if m.w != nil {
		m.shown = true
		fmt.Fprintf(m.w, "\r\x1b[K%s", what)
	}
}

// leave writes a line that stays on the terminal.
func (m *meter) leave(line string) {
	if m.w != nil {
		fmt.Fprintf(m.w, "\r\x1b[K%s\n", line)
	}
}
