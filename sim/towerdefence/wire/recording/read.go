package recording

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/referee"
	"moonfarm/sim/unzip"
)

// LineKind is the kind of a line of a recording.
type LineKind uint8

// The kinds of lines.
const (
	HeaderLine LineKind = iota + 1
	RoundLine
	ResultLine
)

// String returns "a header line", "a round line" or "an end line".
func (l LineKind) String() string {
	switch l {
	case HeaderLine:
		return "a header line"
	case RoundLine:
		return "a round line"
	case ResultLine:
		return "an end line"
	}
	return "no line"
}

// Reader reads recordings line by line and holds only the last line of each
// kind. It checks the form of the lines, the ranges of cells, kinds and seats,
// that buildings and missiles are sorted, and that headers, rounds 0, 1, 2, …
// and ends follow each other; it does not check the play.
type Reader struct {
	Header Header         // of the current game
	Round  Round          // valid until the next line is read: its lists are reused
	Result referee.Result // of the game just ended

	name  string
	in    *bufio.Reader
	long  []byte // a line longer than the buffer of in
	again []byte // a line to be read once more, or nil
	lost  bool   // no header line was found after a damaged match: the rest is not read
	line  int    // number of the last line read
	last  LineKind
	cells []display.Cell
	err   error

	scanner scanner // of the last line
}

// NewReader returns a reader of the recording in r, compressed with gzip or
// not. Errors have the form "recording NAME: line N: column C: want …, found
// …".
func NewReader(name string, r io.Reader) (*Reader, error) {
	in, err := unzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("recording %s: gzip: %w", name, err)
	}
	return &Reader{name: name, in: in, last: ResultLine, scanner: newScanner()}, nil
}

// Line returns the number of the last line read, from 1.
func (r *Reader) Line() int { return r.line }

// Next reads the next line into Header, Round or Result and returns its kind. At the end of
// a recording, after the end line of a game, the error is io.EOF; a recording that stops
// within a game gives io.ErrUnexpectedEOF. After an error all further calls return the same
// error.
func (r *Reader) Next() (LineKind, error) {
	if r.err != nil {
		return 0, r.err
	}
	line, err := r.readLine()
	if err == nil {
		r.line++
		err = r.parse(line)
	} else if err == io.EOF {
		if r.last == ResultLine {
			r.err = io.EOF
			return 0, io.EOF
		}
		r.line++
		err = fmt.Errorf("expected the rest of game %q, found the end of the file: %w", r.Header.Game, io.ErrUnexpectedEOF)
	} else {
		r.line++
	}
	if err != nil {
		r.err = fmt.Errorf("recording %s: line %d: %w", r.name, r.line, err)
		if r.last != ResultLine && bytes.HasPrefix(line, headerHead) {
			r.again, r.line = line, r.line-1 // the next match, if the reader goes on there
		}
		return 0, r.err
	}
	return r.last, nil
}

// readLine reads a line without its end.
func (r *Reader) readLine() ([]byte, error) {
	if line := r.again; line != nil {
		r.again = nil
		return line, nil
	}
	line, err := r.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.long = r.long[:0]
		for err == bufio.ErrBufferFull && len(r.long) <= maxLine {
			r.long = append(r.long, line...)
			line, err = r.in.ReadSlice('\n')
		}
		r.long = append(r.long, line...)
		line = r.long
	}
	if len(line) > maxLine {
		return nil, errLine{}
	}
	if err != nil && (err != io.EOF || len(line) == 0) {
		if err != io.EOF {
			err = fmt.Errorf("reading: %w", err)
		}
		return nil, err
	}
	return bytes.TrimSuffix(line, []byte("\n")), nil
}

// key describes a key of a line: its kind of line, whether it is optional, and how its value
// is read.
type key struct {
	name     string
	kind     LineKind
	optional bool
	read     func(r *Reader, s *scanner)
}

var keys = []key{
	{"game", HeaderLine, false, func(r *Reader, s *scanner) { r.Header.Game = s.text() }},
	{"seed", HeaderLine, false, func(r *Reader, s *scanner) { r.Header.Seed = s.text() }},
	{"policy", HeaderLine, false, func(r *Reader, s *scanner) { s.pair("policies", &r.Header.Policy) }},
	{"energy", HeaderLine, false, func(r *Reader, s *scanner) { s.tuple("energies", r.Header.Energy[:]) }},
	{"health", HeaderLine, false, func(r *Reader, s *scanner) { s.tuple("healths", r.Header.Health[:]) }},
	{"first", HeaderLine, true, func(r *Reader, s *scanner) { r.Header.First = s.oneOf(display.Letters[:1], display.Letters[1:]) }},
	{"r", RoundLine, false, func(r *Reader, s *scanner) { r.Round.Number = s.integer() }},
	{"c", RoundLine, false, func(r *Reader, s *scanner) { s.pair("commands", &r.Round.Commands) }},
	{"p", RoundLine, false, (*Reader).readPlayers},
	{"b", RoundLine, false, (*Reader).readBuildings},
	{"m", RoundLine, false, (*Reader).readMissiles},
	{"th", RoundLine, true, (*Reader).readTeslaHits},
	{"ih", RoundLine, true, func(r *Reader, s *scanner) { r.Round.CurtainHits = r.readCells(s) }},
	{"end", ResultLine, false, func(r *Reader, s *scanner) {
		r.Result.End = s.oneOf(referee.EndDead, referee.EndMaxRounds, referee.EndTimeout, referee.EndCut, referee.EndAborted)
	}},
	{"round", ResultLine, false, func(r *Reader, s *scanner) { r.Result.Rounds = s.within("rounds", 0, math.MaxInt32) }},
	{"winner", ResultLine, false, func(r *Reader, s *scanner) { r.Result.Winner = s.oneOf(referee.WinnerA, referee.WinnerB, referee.Tie) }},
	{"dead", ResultLine, false, func(r *Reader, s *scanner) { r.Result.Dead = s.within("dead bases", 0, 2) }},
}

// parse reads the keys of a line and checks that the line belongs here.
func (r *Reader) parse(line []byte) error {
	s := &r.scanner
	s.Reset(line)
	var kind LineKind
	var seen uint
	expectedRound := 0
	if r.last == RoundLine {
		expectedRound = r.Round.Number + 1
	}
	r.Round.TeslaHits, r.Round.CurtainHits, r.cells = r.Round.TeslaHits[:0], nil, r.cells[:0]
	s.object(func(name string) {
		i := indexOf(name)
		switch {
		case i < 0:
			s.wrong("a key of a recording", strconv.Quote(name))
		case kind != 0 && keys[i].kind != kind:
			s.wrong("a key of "+kind.String(), strconv.Quote(name))
		case seen&(1<<i) != 0:
			s.wrong("no key twice", strconv.Quote(name))
		default:
			kind, seen = keys[i].kind, seen|1<<i
			keys[i].read(r, s)
		}
	})
	s.End()
	if s.Err != nil {
		return s.Err
	}
	if first := indexOf("first"); kind == HeaderLine && seen&(1<<first) == 0 {
		r.Header.First = ""
	}
	for i, k := range keys {
		if k.kind == kind && !k.optional && seen&(1<<i) == 0 {
			return fmt.Errorf("expected the key %q in %v, found none", k.name, kind)
		}
	}
	return r.follows(kind, expectedRound)
}

func indexOf(name string) int {
	for i := range keys {
		if keys[i].name == name {
			return i
		}
	}
	return -1
}

// follows checks that a line of this kind may follow the last one.
func (r *Reader) follows(kind LineKind, round int) error {
	if kind == 0 {
		return errors.New("expected a header, round or end line, found an object without keys")
	}
	if r.last == ResultLine && kind != HeaderLine {
		return fmt.Errorf("expected %v, found %v", HeaderLine, kind)
	}
	if r.last != ResultLine && kind == HeaderLine {
		return fmt.Errorf("expected %v or %v, found %v", RoundLine, ResultLine, kind)
	}
	if kind == RoundLine && r.Round.Number != round {
		return fmt.Errorf("expected round %d, found round %d", round, r.Round.Number)
	}
	r.last = kind
	return nil
}

func (r *Reader) readPlayers(s *scanner) {
	n := 0
	s.list(func(i int) {
		var v [7]int
		s.tuple("a player", v[:])
		if i < len(r.Round.Players) {
			r.Round.Players[i] = display.Player{Energy: v[0], Health: v[1], HitsTaken: v[2], Score: v[3],
				CurtainAvailable: v[4] != 0, CurtainTime: v[5], FailCount: v[6]}
		}
		if v[4] != 0 && v[4] != 1 {
			s.wrong("0 or 1 for the curtain's availability", v[4])
		}
		n++
	})
	if n != len(r.Round.Players) {
		s.wrong("two players", n)
	}
}

func (r *Reader) readBuildings(s *scanner) {
	r.Round.Buildings = r.Round.Buildings[:0]
	before := -1
	s.list(func(int) {
		var v [6]int
		s.tuple("a building", v[:])
		b := display.Building{X: v[0], Y: v[1], Health: v[3], BuildTime: v[4], Cooldown: v[5]}
		switch v[2] {
		case int(towerdefence.Defense), int(towerdefence.Attack), int(towerdefence.Energy), int(towerdefence.Tesla):
			b.Kind = towerdefence.Kind(v[2])
		default:
			s.wrong("a building of type 0, 1, 2 or 4", v[2])
		}
		if b.X >= towerdefence.Width {
			b.Owner = display.SeatB
		}
		before = s.ascending(b.X, b.Y, 0, before)
		r.Round.Buildings = append(r.Round.Buildings, b)
	})
}

func (r *Reader) readMissiles(s *scanner) {
	r.Round.Missiles = r.Round.Missiles[:0]
	before := -1
	s.list(func(int) {
		var v [4]int
		s.tuple("a missile", v[:])
		before = s.ascending(v[0], v[1], v[2], before)
		if v[3] < 1 || v[3] > maxStack {
			s.wrong(fmt.Sprintf("from 1 to %d missiles", maxStack), v[3])
		}
		r.Round.Missiles = append(r.Round.Missiles, Stack{v[0], v[1], sim.Player(v[2] & 1), v[3]})
	})
}

func (r *Reader) readTeslaHits(s *scanner) {
	s.list(func(int) { r.Round.TeslaHits = append(r.Round.TeslaHits, r.readCells(s)) })
}

// readCells reads a hit list.
func (r *Reader) readCells(s *scanner) []display.Cell {
	start := len(r.cells)
	s.list(func(int) {
		var v [3]int
		s.tuple("a hit", v[:])
		s.cell(v[0], v[1], v[2])
		r.cells = append(r.cells, display.Cell{X: v[0], Y: v[1], Owner: sim.Player(v[2] & 1)})
	})
	return r.cells[start:len(r.cells):len(r.cells)]
}

// cell fails unless x, y and owner are in range.
func (s *scanner) cell(x, y, owner int) {
	if !display.OnMap(x, y) || owner != 0 && owner != 1 {
		want := fmt.Sprintf("a column below %d, a row below %d and an owner 0 or 1", display.Columns, display.Rows)
		s.wrong(want, fmt.Sprintf("%d, %d and %d", x, y, owner))
	}
}

// ascending fails unless the cell is in range and comes after the one before;
// it returns the place of the cell.
func (s *scanner) ascending(x, y, owner, before int) int {
	s.cell(x, y, owner)
	at := cellOrder(x, y, sim.Player(owner&1))
	if at <= before {
		s.wrong("cells sorted by row, column and owner", fmt.Sprintf("[%d,%d] behind a later one or itself", x, y))
	}
	return at
}

// pair reads an array of two strings.
func (s *scanner) pair(what string, into *[2]string) {
	n := 0
	s.list(func(i int) {
		text := s.text()
		if i < len(into) {
			into[i] = text
		}
		n++
	})
	if n != len(into) {
		s.wrong("two "+what, n)
	}
}

// oneOf reads a string that must be in the list.
func (s *scanner) oneOf(list ...string) string {
	s.Space()
	start := s.At
	text := s.text()
	for _, w := range list {
		if text == w {
			return w
		}
	}
	s.FailAt(start, fmt.Sprintf("one of %q", list))
	return ""
}
