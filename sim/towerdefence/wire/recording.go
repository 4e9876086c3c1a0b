package wire

import (
	"io"
	"slices"
	"unicode/utf8"

	"moonfarm/sim"
)

// A recording is a text of JSON Lines, mostly compressed with gzip: for each
// game a Header line, a Round line for each round and a Result line.

// Header is the first line of a recorded game.
type Header struct {
	Game   string
	Seed   string
	Policy [2]string // of A and B, by name
	Energy [2]int    // of A and B at the start
	Health [2]int    // of the bases of A and B at the start
	// First is the letter of the player whose command is carried out first in every
	// round, "A" or "B"; "" if the recording does not tell, which is then found out.
	First string
}

// Round is a line of a recorded game: the commands of a round and the
// position after it.
type Round struct {
	Number      int       // 0, 1, 2, …
	Commands    [2]string // texts as given by A and B
	Players     [2]Player
	Buildings   []Building // by row, then column; the owner follows from the column
	Missiles    []Stack    // by row, column, owner
	TeslaHits   [][]Cell   // shots in firing order
	CurtainHits []Cell     // in the original's order
}

// Stack is the missiles of one player on one cell.
type Stack struct {
	X, Y  int // absolute column, row
	Owner sim.Player
	Count int
}

// Result is the last line of a recorded game.
type Result struct {
	End    string // one of the End constants
	Rounds int    // played
	Winner string // WinnerA, WinnerB or Tie, by the formula of the rules, for an unfinished game too
	Dead   int    // bases at 0
}

// Why a recorded game ended.
const (
	EndDead      = "dead"      // a base is at 0
	EndMaxRounds = "maxrounds" // the last round was played
	EndTimeout   = "timeout"   // a player's failures reached the limit
	EndCut       = "cut"       // it simply stops
	EndAborted   = "aborted"   // a command made the engine throw; in no recording of the original
)

// Values of Result.Winner.
const (
	WinnerA = "A"
	WinnerB = "B"
	Tie     = "tie"
)

// RoundOf is the line of the round that led to position p with these
// commands.
func RoundOf(p *Position, commands [2]string) Round {
	r := Round{Number: p.Round - 1, Commands: commands, Players: p.Players, TeslaHits: p.TeslaHits, CurtainHits: p.CurtainHits}
	r.Buildings = slices.Clone(p.Buildings)
	slices.SortFunc(r.Buildings, func(a, b Building) int { return placeOf(a) - placeOf(b) })
	flying := slices.Clone(p.Missiles)
	slices.SortStableFunc(flying, func(a, b Missile) int { return cellOrder(a.X, a.Y, a.Owner) - cellOrder(b.X, b.Y, b.Owner) })
	for _, m := range flying {
		last := len(r.Missiles) - 1
		if last >= 0 && r.Missiles[last].X == m.X && r.Missiles[last].Y == m.Y && r.Missiles[last].Owner == m.Owner {
			r.Missiles[last].Count++
			continue
		}
		r.Missiles = append(r.Missiles, Stack{m.X, m.Y, m.Owner, 1})
	}
	return r
}

// cellOrder sorts by row, column, owner.
func cellOrder(x, y int, owner sim.Player) int { return (y*Columns+x)*2 + int(owner) }

func placeOf(b Building) int   { return cellOrder(b.X, b.Y, 0) }
func placeOfStack(s Stack) int { return cellOrder(s.X, s.Y, s.Owner) }

// AppendLine appends the header as a line of a recording.
func (h Header) AppendLine(dst []byte) []byte {
	dst = appendString(append(dst, `{"game":`...), h.Game)
	dst = appendString(append(dst, `,"seed":`...), h.Seed)
	dst = appendString(append(dst, `,"policy":[`...), h.Policy[0])
	dst = appendString(append(dst, ','), h.Policy[1])
	dst = appendInts(append(dst, `],"energy":`...), h.Energy[:]...)
	dst = appendInts(append(dst, `,"health":`...), h.Health[:]...)
	if h.First != "" {
		dst = appendString(append(dst, `,"first":`...), h.First)
	}
	return append(dst, "}\n"...)
}

// AppendLine appends the round as a line of a recording.
func (r *Round) AppendLine(dst []byte) []byte {
	dst = appendInt(append(dst, `{"r":`...), r.Number)
	dst = appendString(append(dst, `,"c":[`...), r.Commands[0])
	dst = appendString(append(dst, ','), r.Commands[1])
	dst = append(dst, `],"p":[`...)
	for i, p := range r.Players {
		available := 0
		if p.CurtainAvailable {
			available = 1
		}
		dst = appendComma(dst, i)
		dst = appendInts(dst, p.Energy, p.Health, p.HitsTaken, p.Score, available, p.CurtainTime, p.FailCount)
	}
	dst = append(dst, `],"b":[`...)
	for i, b := range r.Buildings {
		dst = appendComma(dst, i)
		dst = appendInts(dst, b.X, b.Y, int(b.Kind), b.Health, b.BuildTime, b.Cooldown)
	}
	dst = append(dst, `],"m":[`...)
	for i, m := range r.Missiles {
		dst = appendComma(dst, i)
		dst = appendInts(dst, m.X, m.Y, int(m.Owner), m.Count)
	}
	dst = append(dst, ']')
	if len(r.TeslaHits) > 0 {
		dst = append(dst, `,"th":[`...)
		for i, shot := range r.TeslaHits {
			dst = appendComma(dst, i)
			dst = appendCells(dst, shot)
		}
		dst = append(dst, ']')
	}
	if len(r.CurtainHits) > 0 {
		dst = appendCells(append(dst, `,"ih":`...), r.CurtainHits)
	}
	return append(dst, "}\n"...)
}

// AppendLine appends the result as a line of a recording.
func (r Result) AppendLine(dst []byte) []byte {
	dst = appendString(append(dst, `{"end":`...), r.End)
	dst = appendInt(append(dst, `,"round":`...), r.Rounds)
	dst = appendString(append(dst, `,"winner":`...), r.Winner)
	dst = appendInt(append(dst, `,"dead":`...), r.Dead)
	return append(dst, "}\n"...)
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func appendInts(dst []byte, list ...int) []byte {
	dst = append(dst, '[')
	for i, n := range list {
		dst = appendInt(appendComma(dst, i), n)
	}
	return append(dst, ']')
}

func appendCells(dst []byte, list []Cell) []byte {
	dst = append(dst, '[')
	for i, c := range list {
		dst = appendInts(appendComma(dst, i), c.X, c.Y, int(c.Owner))
	}
	return append(dst, ']')
}

// appendString appends a string as JSON. Bytes that are not UTF-8 become the
// replacement character.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// RecordingWriter writes recordings, uncompressed. The first error sticks and
// is returned by every later call.
type RecordingWriter struct {
	w   io.Writer
	buf []byte
	err error
}

// NewRecordingWriter returns a writer of recordings to w.
func NewRecordingWriter(w io.Writer) *RecordingWriter { return &RecordingWriter{w: w} }

// Header starts a game.
func (w *RecordingWriter) Header(h Header) error { return w.write(h.AppendLine(w.buf[:0])) }

// Round writes a round.
func (w *RecordingWriter) Round(r *Round) error { return w.write(r.AppendLine(w.buf[:0])) }

// Result ends a game.
func (w *RecordingWriter) Result(r Result) error { return w.write(r.AppendLine(w.buf[:0])) }

func (w *RecordingWriter) write(line []byte) error {
	w.buf = line
	if w.err == nil {
		_, w.err = w.w.Write(line)
	}
	return w.err
}
