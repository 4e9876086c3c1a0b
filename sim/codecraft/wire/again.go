package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Replay is a recorded game as a replay file in memory, and the orders in it.
type Replay struct {
	File  []byte // the state at the start, then the events and changes of every tick
	Ends  []int  // of the ticks in File
	Start World  // in the order of the file

	// Orders of all ticks and players one after the other: those of player p in
	// tick t are Orders[OrderEnds[k-1]:OrderEnds[k]] with k = t*players+p.
	Orders    []sim.Order
	OrderEnds []int32

	scores []int64
}

// ReadReplay reads a recorded game: a replay file, or JSON Lines, which become
// one. The name is for errors. A damaged recording gives the ticks before the damage
// and an error, and nil if its start cannot be read.
func ReadReplay(name string, in io.Reader) (*Replay, error) {
	r, err := NewRecording(name, in)
	if err != nil {
		return nil, err
	}
	rules, err := r.World.Rules(codecraft.DefaultRules())
	if err != nil {
		return nil, r.errorf("%w", err)
	}
	x := &Replay{File: r.World.Append(nil)}
	r.World.copyTo(&x.Start)
	sortByID(r.World.Entities, entityID)
	t := new(sim.Turn)
	for {
		err := r.Next()
		if err != nil && r.read { // the tick before cannot be applied
			x.Cut(len(x.Ends) - 1)
			return x, err
		}
		x.scores = x.scores[:0]
		for _, q := range r.World.Players {
			x.scores = append(x.scores, int64(q.Score))
		}
		if err == nil && len(x.File) > maxReplay {
			err = r.errorf("a recording of more than %d bytes", maxReplay)
		}
		if err == io.EOF {
			return x, nil
		}
		if err != nil {
			return x, err
		}
		x.File = r.Delta.Append(x.File, r.Events)
		x.Ends = append(x.Ends, len(x.File))
		r.Delta.Orders(t, &r.World, &rules)
		for p := range sim.Player(rules.Players) {
			x.Orders = append(x.Orders, t.Orders(p)...)
			x.OrderEnds = append(x.OrderEnds, int32(len(x.Orders)))
		}
	}
}

// Scores are those after the last tick.
func (x *Replay) Scores() []int64 { return x.scores }

// Ticks is how many ticks it has.
func (x *Replay) Ticks() int { return len(x.Ends) }

// Cut leaves the first ticks.
func (x *Replay) Cut(ticks int) {
	players := len(x.Start.Players)
	x.Ends, x.OrderEnds = x.Ends[:ticks], x.OrderEnds[:ticks*players]
	if ticks == 0 {
		x.File, x.Orders = x.Start.Append(nil), nil
		return
	}
	x.File, x.Orders = x.File[:x.Ends[ticks-1]], x.Orders[:x.OrderEnds[ticks*players-1]]
}

// OrdersOf returns the orders of player p in a tick.
func (x *Replay) OrdersOf(tick int, p sim.Player) []sim.Order {
	k, from := tick*len(x.Start.Players)+int(p), int32(0)
	if k > 0 {
		from = x.OrderEnds[k-1]
	}
	return x.Orders[from:x.OrderEnds[k]]
}

// RecordedGame is the game of a replay whose chance is not known. It is the
// game of its rules, but Reset and Step go through the recorded states, whatever
// the seed and the orders. After the last tick it stays where it is.
type RecordedGame struct {
	*codecraft.Game
	Replay *Replay
	Status sim.Status // after the last tick: Running if the recording breaks off
	Last   codecraft.State

	in  *Recording
	pos codecraft.Position
}

// Check verifies the replay under these rules, as Verify does, and returns the
// game of it. If ticks differ the error is a *Difference, and good is how many
// ticks before are by the rules.
func (x *Replay) Check(base codecraft.Rules) (g *RecordedGame, good int, err error) {
	report, err := Verify("replay", bytes.NewReader(x.File), base)
	if err != nil {
		return nil, 0, err
	}
	if d := report.First; d != nil {
		return nil, d.Tick - int(x.Start.CurrentTick), d
	}
	return x.Game(base)
}

// Game returns the game of the replay as Check does, but its ticks need not be by
// the rules.
func (x *Replay) Game(base codecraft.Rules) (g *RecordedGame, good int, err error) {
	rules, err := x.Start.Rules(base)
	if err != nil {
		return nil, 0, err
	}
	g = &RecordedGame{Replay: x}
	if g.Game, err = codecraft.New(rules); err != nil {
		return nil, 0, err
	}
	g.Reset(&g.Last, 0)
	for tick := range x.Ticks() {
		if g.Status != sim.Running {
			return nil, tick - 1, fmt.Errorf("tick %d: the game is over, but more are recorded", tick)
		}
		g.Status = g.Step(&g.Last, nil)
	}
	if g.in == nil {
		return nil, 0, errors.New("a state of the recording that no game has")
	}
	return g, x.Ticks(), nil
}

// Reset makes s the first recorded state.
func (g *RecordedGame) Reset(s *codecraft.State, _ uint64) {
	var err error
	if g.in, err = NewRecording("replay", bytes.NewReader(g.Replay.File)); err != nil {
		g.in = nil
	}
	g.next(s)
}

// Step makes s the next recorded state.
func (g *RecordedGame) Step(s *codecraft.State, _ *sim.Turn) sim.Status {
	g.next(s)
	if g.Over(s) {
		return sim.Over
	}
	return sim.Running
}

// next reads a tick and makes s the state before it.
func (g *RecordedGame) next(s *codecraft.State) {
	if g.in == nil {
		return
	}
	rules := g.Rules()
	err := g.in.Next()
	if err == nil || err == io.EOF {
		if err = g.in.World.Position(&g.pos, &rules); err == nil {
			err = g.Restore(s, &g.pos)
		}
	}
	if err != nil {
		g.in = nil // Check has found it out
	}
}
