package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/recording"
)

// maxReplay bounds the bytes of a Replay's file.
const maxReplay = 1 << 28

// Replay is a recorded game as a replay file in memory, and its orders.
type Replay struct {
	File  []byte          // the first state, then the events and changes of every tick
	Ends  []int           // where each tick ends in File
	Start recording.World // the first state, in the order of the file

	// Orders has the orders of all ticks and players one after the other: player p's orders
	// in tick t are Orders[OrderEnds[k-1]:OrderEnds[k]] with k = t*players+p.
	Orders    []sim.Order
	OrderEnds []int32

	scores []int64
}

// Read reads a recorded game: a replay file, or JSON Lines, which it converts to a replay file.
// The name is for errors. For a damaged recording it returns the ticks before the damage and an
// error; the Replay is nil if the first state cannot be read.
func Read(name string, in io.Reader) (*Replay, error) {
	r, err := recording.NewReader(name, in)
	if err != nil {
		return nil, err
	}
	rules, err := r.World.Rules(codecraft.DefaultRules())
	if err != nil {
		return nil, r.Errorf("%w", err)
	}
	x := &Replay{File: r.World.Append(nil)}
	r.World.CopyTo(&x.Start)
	recording.SortEntities(r.World.Entities)
	t := new(sim.Turn)
	for {
		err := r.Next()
		if err != nil && r.Inapplicable() {
			x.Cut(len(x.Ends) - 1)
			return x, err
		}
		x.scores = x.scores[:0]
		for _, q := range r.World.Players {
			x.scores = append(x.scores, int64(q.Score))
		}
		if err == nil && len(x.File) > maxReplay {
			err = r.Errorf("a recording of more than %d bytes", maxReplay)
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

// Scores returns the scores of the players after the last tick.
func (r *Replay) Scores() []int64 { return r.scores }

// Ticks returns the number of ticks.
func (r *Replay) Ticks() int { return len(r.Ends) }

// Cut removes all but the first ticks.
func (r *Replay) Cut(ticks int) {
	players := len(r.Start.Players)
	r.Ends, r.OrderEnds = r.Ends[:ticks], r.OrderEnds[:ticks*players]
	if ticks == 0 {
		r.File, r.Orders = r.Start.Append(nil), nil
		return
	}
	r.File, r.Orders = r.File[:r.Ends[ticks-1]], r.Orders[:r.OrderEnds[ticks*players-1]]
}

// OrdersOf returns the orders of player p in a tick.
func (r *Replay) OrdersOf(tick int, p sim.Player) []sim.Order {
	k, from := tick*len(r.Start.Players)+int(p), int32(0)
	if k > 0 {
		from = r.OrderEnds[k-1]
	}
	return r.Orders[from:r.OrderEnds[k]]
}

// RecordedGame is the game of a replay whose seed is unknown. It has the rules of the replay,
// but Reset and Step return the recorded states, whatever the seed and the orders. After the
// last tick, Step keeps the state.
type RecordedGame struct {
	*codecraft.Game
	Replay *Replay
	Status sim.Status // after the last tick: Running if the recording breaks off
	Last   codecraft.State

	in  *recording.Reader
	pos codecraft.Position
}

// Check verifies the replay under these rules, as Verify does, and returns its game. If a tick
// differs from the rules, the error is a *Difference, and good is the number of ticks before
// it.
func (r *Replay) Check(base codecraft.Rules) (g *RecordedGame, good int, err error) {
	report, err := Verify("replay", bytes.NewReader(r.File), base)
	if err != nil {
		return nil, 0, err
	}
	if d := report.First; d != nil {
		return nil, d.Tick - int(r.Start.CurrentTick), d
	}
	return r.Game(base)
}

// Game returns the game of the replay as Check does, but without checking the ticks against the
// rules.
func (r *Replay) Game(base codecraft.Rules) (g *RecordedGame, good int, err error) {
	rules, err := r.Start.Rules(base)
	if err != nil {
		return nil, 0, err
	}
	g = &RecordedGame{Replay: r}
	if g.Game, err = codecraft.New(rules); err != nil {
		return nil, 0, err
	}
	g.Reset(&g.Last, 0)
	for tick := range r.Ticks() {
		if g.Status != sim.Running {
			return nil, tick - 1, fmt.Errorf("tick %d: the game is over, but more are recorded", tick)
		}
		g.Status = g.Step(&g.Last, nil)
	}
	if g.in == nil {
		return nil, 0, errors.New("a state of the recording that no game has")
	}
	return g, r.Ticks(), nil
}

// Reset sets s to the first recorded state.
func (r *RecordedGame) Reset(s *codecraft.State, _ uint64) {
	var err error
	if r.in, err = recording.NewReader("replay", bytes.NewReader(r.Replay.File)); err != nil {
		r.in = nil
	}
	r.next(s)
}

// Step sets s to the next recorded state.
func (r *RecordedGame) Step(s *codecraft.State, _ *sim.Turn) sim.Status {
	r.next(s)
	if r.Over(s) {
		return sim.Over
	}
	return sim.Running
}

// next reads a tick and sets s to the state before it.
func (r *RecordedGame) next(s *codecraft.State) {
	if r.in == nil {
		return
	}
	rules := r.Rules()
	err := r.in.Next()
	if err == nil || err == io.EOF {
		if err = r.in.World.Position(&r.pos, &rules); err == nil {
			err = r.Restore(s, &r.pos)
		}
	}
	if err != nil {
		r.in = nil // cannot happen after Game has read all states
	}
}
