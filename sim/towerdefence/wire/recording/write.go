package recording

import (
	"io"
	"strconv"

	"moonfarm/sim/texts/jsonscan"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/referee"
)

// AppendLine appends the header as a line of a recording.
func (h Header) AppendLine(dst []byte) []byte {
	dst = jsonscan.AppendString(append(dst, `{"game":`...), h.Game)
	dst = jsonscan.AppendString(append(dst, `,"seed":`...), h.Seed)
	dst = jsonscan.AppendString(append(dst, `,"policy":[`...), h.Policy[0])
	dst = jsonscan.AppendString(append(dst, ','), h.Policy[1])
	dst = appendInts(append(dst, `],"energy":`...), h.Energy[:]...)
	dst = appendInts(append(dst, `,"health":`...), h.Health[:]...)
	if h.First != "" {
		dst = jsonscan.AppendString(append(dst, `,"first":`...), h.First)
	}
	return append(dst, "}\n"...)
}

// AppendLine appends the round as a line of a recording.
func (r *Round) AppendLine(dst []byte) []byte {
	dst = appendNumber(append(dst, `{"r":`...), r.Number)
	dst = jsonscan.AppendString(append(dst, `,"c":[`...), r.Commands[0])
	dst = jsonscan.AppendString(append(dst, ','), r.Commands[1])
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

// appendResult appends the result as a line of a recording.
func appendResult(dst []byte, r referee.Result) []byte {
	dst = jsonscan.AppendString(append(dst, `{"end":`...), r.End)
	dst = appendNumber(append(dst, `,"round":`...), r.Rounds)
	dst = jsonscan.AppendString(append(dst, `,"winner":`...), r.Winner)
	dst = appendNumber(append(dst, `,"dead":`...), r.Dead)
	return append(dst, "}\n"...)
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func appendNumber(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

func appendInts(dst []byte, list ...int) []byte {
	dst = append(dst, '[')
	for i, n := range list {
		dst = appendNumber(appendComma(dst, i), n)
	}
	return append(dst, ']')
}

func appendCells(dst []byte, list []display.Cell) []byte {
	dst = append(dst, '[')
	for i, c := range list {
		dst = appendInts(appendComma(dst, i), c.X, c.Y, int(c.Owner))
	}
	return append(dst, ']')
}

// Writer writes recordings, uncompressed. The first error sticks and is
// returned by every later call.
type Writer struct {
	w   io.Writer
	buf []byte
	err error
}

// NewWriter returns a writer of recordings to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Header starts a game.
func (w *Writer) Header(h Header) error { return w.write(h.AppendLine(w.buf[:0])) }

// Round writes a round.
func (w *Writer) Round(r *Round) error { return w.write(r.AppendLine(w.buf[:0])) }

// Result ends a game.
func (w *Writer) Result(r referee.Result) error { return w.write(appendResult(w.buf[:0], r)) }

func (w *Writer) write(line []byte) error {
	w.buf = line
	if w.err == nil {
		_, w.err = w.w.Write(line)
	}
	return w.err
}
