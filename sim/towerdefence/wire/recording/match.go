package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/command"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/referee"
)

// Match holds the rules and orders of a recorded game, which are enough to play it again.
type Match struct {
	Number int // in the recording, from 1
	Header Header
	Rules  towerdefence.Rules // with the start of the header
	Orders [][2]sim.Order     // of A and B, by round from 0
	Result referee.Result     // without an end line only Rounds is set

	// Err says why the rest of the match cannot be read: the Orders end there. If the
	// header cannot be read, all other fields but Number are empty.
	Err error
	// Different is the first difference between the recording and the match as played
	// here, or nil. The rounds before Same are as recorded.
	Different *Difference
	Same      int
}

// ReadMatches reads the matches of a recording one after the other, plays them again,
// compares everything that is recorded, and calls each with them; an error of each ends the
// reading. The Match is reused after the call. A damaged match has an Err, and reading goes
// on with the next header line. Values that headers lack come from rules. The
// name is for errors.
func ReadMatches(name string, in io.Reader, rules towerdefence.Rules, each func(m *Match) error) error {
	r, err := NewReader(name, in)
	if err != nil {
		return err
	}
	game, err := towerdefence.New(rules)
	if err != nil {
		return err
	}
	x := matchReader{verifier: verifier{in: r, rules: rules, game: game}}
	for more := true; more; {
		if more = x.next(); !x.found {
			break
		}
		if err := each(&x.m); err != nil {
			return err
		}
	}
	return nil
}

// matchReader reads the matches of a recording.
type matchReader struct {
	verifier
	m     Match
	found bool // a match was read, complete or damaged
}

// next reads the next match into m; more is false after the last.
func (x *matchReader) next() (more bool) {
	kind, err := x.in.Next()
	if err == io.EOF {
		x.found = false
		return false
	}
	x.found = true
	x.m = Match{Number: x.m.Number + 1, Orders: x.m.Orders[:0]}
	for {
		if err == nil {
			err = x.line(kind)
		}
		if err != nil {
			x.m.Err = err
			return x.in.resync()
		}
		if kind == ResultLine {
			return true
		}
		kind, err = x.in.Next()
	}
}

// line processes the line just read.
func (x *matchReader) line(kind LineKind) error {
	m := &x.m
	switch kind {
	case HeaderLine:
		m.Header, m.Rules = x.in.Header, x.rules
		m.Rules.SetStart(m.Header.Energy, m.Header.Health)
		return x.start()
	case ResultLine:
		m.Result = x.in.Result
		if !x.skip {
			if x.result(); x.skip {
				m.Different = x.last
			}
		}
		return nil
	}
	if most := x.rules.MaxRounds + 1; len(m.Orders) == most {
		return x.broken("at most %d rounds, found more", most)
	}
	m.Orders = append(m.Orders, [2]sim.Order{command.Parse(x.in.Round.Commands[0]), command.Parse(x.in.Round.Commands[1])})
	m.Result.Rounds = len(m.Orders)
	if x.skip {
		return nil
	}
	if x.round(); x.skip {
		m.Different = x.last
		return nil
	}
	m.Same = len(m.Orders)
	return nil
}

// resync skips the rest of a damaged match and finds the next header line. It returns false
// if there is none or the file cannot be read any further. It gives up after maxSkip bytes:
// a small compressed file can hold gigabytes of blank lines.
func (r *Reader) resync() bool {
	for skipped := 0; !r.lost; {
		line, err := r.readLine()
		var long errLine
		if errors.As(err, &long) {
			skipped += maxLine
		} else if err != nil {
			return false
		}
		if skipped += len(line) + 1; skipped > maxSkip {
			r.lost = true
			r.err = fmt.Errorf("recording %s: line %d: expected the header line of a game, found none in %d bytes", r.name, r.line+1, maxSkip)
			return true // the next match is this error
		}
		if bytes.HasPrefix(line, headerHead) {
			r.again, r.err, r.last = line, nil, ResultLine
			return true
		}
		r.line++
	}
	return false
}

// headerHead begins a header line.
var headerHead = []byte(`{"game":`)

// errLine is the error for a line that is too long.
type errLine struct{}

func (errLine) Error() string {
	return fmt.Sprintf("expected at most %d bytes in a line, found more", maxLine)
}

// WriteMatch writes a match as a recording, played from its start by these
// commands. It returns how the match stands after them.
func WriteMatch(w *Writer, h Header, rules towerdefence.Rules, commands [][2]string) (referee.Result, error) {
	for p := range h.Energy {
		h.Energy[p], h.Health[p] = rules.Start(sim.Player(p))
	}
	r := referee.New(rules)
	if h.First == display.Letters[1:] {
		r.First(display.SeatB)
	}
	w.Header(h)
	for n, c := range commands {
		r.Play(c[0], c[1])
		round := RoundOf(r.Position(), c)
		round.Number = n // an aborted one leaves the position as it was
		if err := w.Round(&round); err != nil {
			return referee.Result{}, err
		}
	}
	result := r.Result()
	return result, w.Result(result)
}
