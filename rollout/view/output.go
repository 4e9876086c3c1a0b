package view

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Bounds of an Output.
const (
	mostLines   = 100     // of a turn and seat
	mostWidth   = 300     // characters of a line
	mostPrinted = 8 << 20 // bytes of all lines
	mostEntries = 100_000 // turns and seats with lines; only a bot that forges marks of turns gets there
	mostHeld    = 4 << 10 // bytes of a line that are read; the marks of turns are shorter
)

// Output is what the bots of a game printed, by position and seat: a position has the lines since the position
// before, position 0 those before the first turn. It is bounded, and counts the lines that it leaves out. It may be
// used by several goroutines at once.
type Output struct {
	mu      sync.Mutex
	seats   int
	kept    map[int]*printed // by position·seats + seat
	bytes   int
	changes int
}

// printed has the lines of a turn and seat.
type printed struct {
	Lines []string `json:"lines"`
	Left  int      `json:"left"` // number of further lines
}

// NewOutput returns the output of a game in which nobody has printed anything.
func NewOutput(seats int) *Output { return &Output{seats: seats, kept: map[int]*printed{}} }

// Any reports whether there are lines.
func (o *Output) Any() bool { return o.version() > 0 }

// version returns the number of lines that were added.
func (o *Output) version() int {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.changes
}

// Add adds the lines of a text to those of a position and seat.
func (o *Output) Add(position, seat int, text []byte) {
	for line := range bytes.Lines(text) {
		o.add(position, seat, line[:min(len(line), mostHeld)])
	}
}

// add adds a line. It leaves out blank lines.
func (o *Output) add(position, seat int, raw []byte) {
	line := shownLine(raw)
	if strings.TrimSpace(line) == "" || position < 0 || seat < 0 || seat >= o.seats {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changes++
	key := position*o.seats + seat
	k := o.kept[key]
	if k == nil {
		if len(o.kept) == mostEntries {
			return
		}
		k = &printed{Lines: []string{}}
		o.kept[key] = k
	}
	if len(k.Lines) == mostLines || o.bytes+len(line) > mostPrinted {
		k.Left++
		return
	}
	k.Lines = append(k.Lines, line)
	o.bytes += len(line)
}

// sequences matches the sequences of ECMA-48 that colour a text or move the cursor.
var sequences = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]`)

// shownLine returns a line for display: without characters that cannot be printed, and cut after mostWidth characters.
func shownLine(raw []byte) string {
	line := strings.ToValidUTF8(string(sequences.ReplaceAll(raw, nil)), "\uFFFD")
	line = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, line)
	if all := []rune(line); len(all) > mostWidth {
		line = string(all[:mostWidth-1]) + "…"
	}
	return line
}

// positions returns the lines of count positions from first on, by position and seat; nil where there are none.
func (o *Output) positions(first, count int) [][]*printed {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make([][]*printed, count)
	for i := range all {
		for p := range o.seats {
			k := o.kept[(first+i)*o.seats+p]
			if k == nil {
				continue
			}
			if all[i] == nil {
				all[i] = make([]*printed, o.seats)
			}
			all[i][p] = &printed{k.Lines[:len(k.Lines):len(k.Lines)], k.Left}
		}
	}
	return all
}

// Log returns a writer for the log of a seat's bot, as package players writes it: with a line such as "== turn 3 =="
// when the bot is asked, and one such as "== turn 3: answer ==" when it has answered. A line that is read late, since
// it came through another pipe than the answer, can be added to the position after its own. Write never fails.
func (o *Output) Log(seat int) io.Writer { return &logReader{o: o, seat: seat} }

// logReader reads a log.
type logReader struct {
	o        *Output
	seat     int
	held     []byte // the line so far
	position int
	turn     int // of the last mark, by the game's count
}

func (l *logReader) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		l.held = append(l.held, part[:min(len(part), mostHeld-len(l.held))]...)
		if part[len(part)-1] == '\n' {
			l.line(bytes.TrimRight(l.held, "\r\n"))
			l.held = l.held[:0]
		}
	}
	return len(p), nil
}

// marked matches the lines of a log that are not the bot's.
var marked = regexp.MustCompile(`^== (?:turn|round|tick) (\d{1,9})(:.*)? ==$`)

// line reads a line. A mark counts only if its turn comes next, because a bot can print such lines.
func (l *logReader) line(line []byte) {
	m := marked.FindSubmatch(line)
	if m == nil {
		l.o.add(l.position, l.seat, line)
		return
	}
	turn, _ := strconv.Atoi(string(m[1])) // it has digits only
	switch answered := m[2] != nil; {
	case answered && l.position > 0 && turn == l.turn:
	case !answered && (l.position == 0 || turn == l.turn+1): // a game can begin at a later turn
		l.position, l.turn = l.position+1, turn
	default:
		l.o.add(l.position, l.seat, line)
	}
}
