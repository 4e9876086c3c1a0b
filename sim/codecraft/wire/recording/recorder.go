package recording

import (
	"io"

	"moonfarm/sim/codecraft"
)

// Recorder writes a replay file while a game is played: create it with the game and its first
// state, then call Tick after every Step.
type Recorder struct {
	out        io.Writer
	err        error // the first error
	file       []byte
	game       *codecraft.Game
	record     codecraft.Record
	last, next World
	events     []Event
	delta      Delta
}

// NewRecorder writes the beginning of the file, and makes the game record its events until
// Close. If the state is the state after a Reset, World.Seed returns its seed from the file.
func NewRecorder(out io.Writer, g *codecraft.Game, s *codecraft.State) *Recorder {
	r := &Recorder{out: out, game: g}
	r.last.Fill(g, s)
	r.write(r.last.withSeed(g, s).Append(nil))
	g.Record(&r.record)
	return r
}

// Tick writes the tick that ended in state s. It returns the first error of the file.
func (r *Recorder) Tick(s *codecraft.State) error {
	r.next.Fill(r.game, s)
	r.events = r.events[:0]
	for _, h := range r.record.Attacks {
		r.events = append(r.events, Event{int32(h.Attacker), int32(h.Victim)})
	}
	r.delta.Fill(&r.last, &r.next)
	r.last, r.next = r.next, r.last
	return r.write(r.delta.Append(r.file[:0], r.events))
}

// Close ends the recording; the game no longer records its events. It returns the first error
// of the file.
func (r *Recorder) Close() error {
	r.game.Record(nil)
	return r.err
}

func (r *Recorder) write(b []byte) error {
	if r.file = b; r.err == nil {
		_, r.err = r.out.Write(b)
	}
	return r.err
}
