package arena

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/rollout/arena/schedule"
	"moonfarm/sim/prng"
)

// A line of version 2 is a JSON object whose last member is its checksum: the CRC-32C of the first
// line and of the line itself, both without that member. This finds altered lines and lines from
// another tournament's journal; CRC-32C finds every damage of up to four adjacent bytes.
const (
	checkBegin = `,"check":"`
	checkEnd   = `"}`
	checkLen   = len(checkBegin) + 8 + len(checkEnd)
)

var (
	errDamaged = errors.New(`the line was altered: its checksum ("check") differs; delete the line of a game, and the same eval command plays that game again`)
	errLong    = fmt.Errorf("more than %d bytes", maxLine)
)

// mostBad bounds how many damaged lines are listed besides the first.
const mostBad = 20

// lineError is the error of the first damaged line, with the numbers of the others.
type lineError struct {
	line   int
	err    error
	others []int
}

func (l *lineError) Error() string {
	text := l.err.Error()
	if len(l.others) > 0 {
		text += "; so are lines " + strings.Trim(fmt.Sprint(l.others), "[]")
		if len(l.others) >= mostBad {
			text += " …"
		}
	}
	return text
}

// Unwrap returns the error of the first line.
func (l *lineError) Unwrap() error { return l.err }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf returns the checksum of a line, which also covers the first line, key.
func sumOf(key, line []byte) string {
	return fmt.Sprintf("%08x", crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, line))
}

func cutCheck(line []byte) (body []byte, sum string, ok bool) {
	line = bytes.TrimRight(line, "\r\n")
	at := len(line) - checkLen
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(checkBegin)) || !bytes.HasSuffix(line, []byte(checkEnd)) {
		return nil, "", false
	}
	return append(bytes.Clone(line[:at]), '}'), string(line[at+len(checkBegin):][:8]), true
}

// overfull reports whether the rest after the last newline contains a checksum and more after it.
// The incomplete line of a killed program never does.
func overfull(rest []byte) bool {
	at := bytes.LastIndex(rest, []byte(checkBegin))
	return at >= 0 && len(rest) > at+checkLen
}

// checked checks a line after the first and returns it without its checksum.
func (j *Journal) checked(one []byte) ([]byte, error) {
	if j.Terms.Journal < 2 {
		if hasNull(one) {
			return nil, errors.New("expected numbers and texts, found null")
		}
		return one, nil
	}
	body, sum, ok := cutCheck(one)
	if !ok || sum != sumOf(j.key, body) {
		return nil, errDamaged
	}
	return body, nil
}

// hasNull reports whether a JSON line has null anywhere, which decoding would read as 0.
func hasNull(one []byte) bool {
	d := json.NewDecoder(bytes.NewReader(one))
	for {
		switch token, err := d.Token(); {
		case err != nil:
			return false
		case token == nil:
			return true
		}
	}
}

func decodeLine(one []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(one))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more after it")
	}
	return nil
}

func (j *Journal) played(g *gameLine) (p Played, err error) {
	if err := errors.Join(g.check(), g.checkTurns(&j.Terms), g.checkFaults()); err != nil {
		return p, err
	}
	sum, err := strconv.ParseUint(g.Sum, 16, 64)
	if err != nil || len(g.Sum) != 16 {
		return p, fmt.Errorf("sum %q, expected 16 hexadecimal digits", g.Sum)
	}
	p = Played{Fixture: schedule.Fixture{Number: g.Game, Seed: g.Seed, Round: g.Round, Stage: g.Stage},
		Turns: g.Turns, Cut: g.End == endCut, Clock: g.Clock, Results: g.Results, Scores: g.Scores,
		Sum: prng.Digest(sum), Faults: g.Faults, Seconds: g.Seconds, Files: g.Files, Box: g.Box}
	for _, name := range g.Seats {
		k := slices.Index(j.Players, name)
		switch {
		case k < 0:
			return p, fmt.Errorf("player %q has not entered", name)
		case slices.Contains(p.Players, k):
			return p, fmt.Errorf("player %q sits at two seats", name)
		}
		p.Players = append(p.Players, k)
	}
	if k := slices.IndexFunc(j.Games, func(o Played) bool { return o.Stage == p.Stage }); k >= 0 && len(j.Games[k].Players) != len(p.Players) {
		return p, fmt.Errorf("%d seats, the games before it have %d", len(p.Players), len(j.Games[k].Players))
	}
	return p, nil
}

// maxNumber bounds the number of a game and all counts of a line.
const maxNumber = 1<<53 - 1

func (g *gameLine) check() error {
	n := len(g.Seats)
	switch {
	case n == 0 || len(g.Results) != n || len(g.Scores) != n || len(g.Seconds) != 0 && len(g.Seconds) != n:
		return fmt.Errorf("%d seats, %d results, %d scores, %d times", n, len(g.Results), len(g.Scores), len(g.Seconds))
	case g.Game < 0 || g.Game > maxNumber || g.Seed < 0 || g.Turns < 0 || g.Round < 0 || g.Stage < 0:
		return fmt.Errorf("game %d, seed %d, round %d, stage %d, %d turns", g.Game, g.Seed, g.Round, g.Stage, g.Turns)
	case g.End != endOver && g.End != endCut:
		return fmt.Errorf("end %q, expected %s or %s", g.End, endOver, endCut)
	case slices.ContainsFunc(g.Seconds, func(x float64) bool { return x < 0 }):
		return fmt.Errorf("times %v, expected 0 or more", g.Seconds)
	}
	if n == 1 {
		return nil
	}
	// By sim.Outcome, results are +1 for the first place, −1 for the last, and evenly spaced
	// between; seats that tie share the mean of their places.
	for _, own := range g.Results {
		ahead, level := standing(g.Results, own)
		if want := 1 - float64(2*ahead+level-1)/float64(n-1); math.Abs(float64(own)-want) > 1e-5 {
			return fmt.Errorf("results %v, expected results of %d places from +1 to −1", g.Results, n)
		}
	}
	return nil
}

func (g *gameLine) checkTurns(t *Terms) error {
	switch {
	case t.MaxTurns > 0 && g.Turns > t.MaxTurns:
		return fmt.Errorf("%d turns, the tournament has at most %d", g.Turns, t.MaxTurns)
	case t.GameTurns > 0 && g.Turns > t.GameTurns:
		return fmt.Errorf("%d turns, the game has at most %d", g.Turns, t.GameTurns)
	case t.MaxTurns > 0 && g.End == endCut && g.Turns != t.MaxTurns:
		return fmt.Errorf("cut after %d turns, the limit is %d", g.Turns, t.MaxTurns)
	}
	return nil
}

func (g *gameLine) checkFaults() error {
	for _, f := range g.Faults {
		switch n := len(g.Seats); {
		case f.Seat < 0 || f.Seat >= n:
			return fmt.Errorf("a fault at seat %d of %d", f.Seat, n)
		case f.Kind == "" || f.Turn < -1 || f.Turn > g.Turns || f.Times < 0:
			return fmt.Errorf("a fault %q in turn %d of %d, %d times", f.Kind, f.Turn, g.Turns, f.Times)
		}
	}
	return nil
}

// CheckTurns refuses a journal with a game of more turns than the rules allow (0: not known). It is
// for journals of version 1, whose terms lack that number.
func (j *Journal) CheckTurns(most int) error {
	if err := j.checkTurns(most); err != nil {
		return journalError(j.name, err)
	}
	return nil
}

func (j *Journal) checkTurns(most int) error {
	for i := range j.Games {
		if n := j.Games[i].Turns; most > 0 && n > most {
			return &lineError{line: j.at[i], err: fmt.Errorf("%d turns, the game has at most %d", n, most)}
		}
	}
	return nil
}
