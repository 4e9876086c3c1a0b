package rollout

import (
	"moonfarm/env"
	"moonfarm/sim"
)

// Asker asks a policy what it would choose in the rows of a Vector: labels for a
// learner in the states that the learner reaches. The answer for a row depends on
// nothing but that row, as the choices of every policy; a Recurrent one must be asked in
// every turn of a game. An Asker is not safe for concurrent use, and Ask allocates
// nothing itself.
type Asker struct {
	policy Policy
	v      env.Vector
	batch  *env.Batch
	seats  int
	heads  int
	room   int     // orders of a row
	games  []int32 // [rows] the game of each row: a division for each row takes longer

	// In a sequential form the policy answers for a whole turn. The answers are
	// kept until the game comes to another turn.
	sequential bool
	known      []uint64 // [rows] Vector.TurnID of the turn whose answer the batch holds
	unknown    []int32  // rows to ask for
}

// NewAsker returns an Asker of the policy that maker makes, for the games of v. It
// fails if the policy cannot play them.
func NewAsker(v env.Vector, maker Maker) (*Asker, error) {
	s := v.Spec()
	p, err := maker(s)
	if err != nil {
		return nil, err
	}
	a := &Asker{policy: p, v: v, seats: s.Info.Players, heads: len(s.Heads), room: s.Info.MaxOrders, sequential: s.Sequential}
	a.batch = env.NewBatch(s, s.Games, p.Wants()|env.WantAction)
	a.known, a.unknown, a.games = make([]uint64, a.batch.Rows), make([]int32, 0, a.batch.Rows), make([]int32, a.batch.Rows)
	for row := range a.games {
		a.games[row] = int32(row / a.seats)
	}
	return a, nil
}

// Policy returns the policy that is asked.
func (a *Asker) Policy() Policy { return a.policy }

// Forget drops the answers that are kept. Call it after the policy has been interrupted
// (Interruptible), whose answers are then undefined.
func (a *Asker) Forget() { clear(a.known) }

// Close closes the policy.
func (a *Asker) Close() error { return CloseSeats(a.policy) }

// Ask writes to dst [len(rows), Heads] the action that the policy would choose in
// each row (game*Players + seat), in the form of the Vector. A head is −1 if no
// choice stands for the policy's orders, if the game has ended, or if the seat waits
// for others (Vector.Waits). In a sequential form the action is the next one on the way
// from what the seat has given so far to the policy's orders of the whole turn. The
// rows of a game come one after the other.
func (a *Asker) Ask(dst []int32, rows []int32) {
	a.choose(rows)
	b := a.batch
	for k, row := range rows {
		if a.heads == 1 && b.OrderLen[row] < 0 && !a.sequential && b.Status[a.games[row]] == sim.Running {
			dst[k] = b.Action[row] // as label does it
			continue
		}
		a.label(dst[k*a.heads:][:a.heads], row)
	}
}

// choose lets the policy choose in the rows.
func (a *Asker) choose(rows []int32) {
	a.observe(rows)
	if asked := a.pending(rows); len(asked) > 0 {
		a.policy.Act(a.v, a.batch, asked)
	}
}

// appendOrders appends the orders that the policy chose for a row of the latest choose.
func (a *Asker) appendOrders(dst []sim.Order, row int32) []sim.Order {
	n := a.batch.OrderLen[row]
	if n < 0 {
		return a.v.AppendOrders(dst, int(row)/a.seats, sim.Player(int(row)%a.seats), a.batch.Action[int(row)*a.heads:][:a.heads])
	}
	return append(dst, a.batch.Orders[int(row)*a.room:][:n]...)
}

// observe observes the games of the rows, each once. In a sequential form it leaves out the games
// whose answers are known.
func (a *Asker) observe(rows []int32) {
	if !a.sequential {
		a.v.ObserveRows(a.batch, rows)
		return
	}
	last := -1
	for _, row := range rows {
		game := int(a.games[row])
		switch {
		case game == last:
		case a.known[row] != a.v.TurnID(game):
			a.v.ObserveGame(a.batch, game) // overwrites the answers of all seats
			clear(a.known[game*a.seats : (game+1)*a.seats])
			if a.batch.RowSeed != nil {
				a.v.TurnSeeds(a.batch.RowSeed, game)
			}
			last = game
		}
	}
}

// pending returns the rows for which the policy must choose: rows of games that have ended, and
// of seats that wait for others, have no answer, and some answers are known.
func (a *Asker) pending(rows []int32) []int32 {
	a.unknown = a.unknown[:0]
	for _, row := range rows {
		game := int(a.games[row])
		if a.batch.Status[game] != sim.Running {
			continue
		}
		if a.sequential {
			id := a.v.TurnID(game)
			if a.known[row] == id || a.v.Waits(int(row)) {
				continue
			}
			a.known[row] = id
		}
		a.unknown = append(a.unknown, row)
	}
	return a.unknown
}

// label writes the answer for a row.
func (a *Asker) label(dst []int32, row int32) {
	b, game := a.batch, int(a.games[row])
	n := b.OrderLen[row]
	switch {
	case b.Status[game] != sim.Running || a.sequential && a.v.Waits(int(row)):
		for h := range dst {
			dst[h] = -1
		}
	case n < 0:
		copy(dst, b.Action[int(row)*a.heads:])
	default:
		a.v.Label(dst, game, sim.Player(int(row)-game*a.seats), b.Orders[int(row)*a.room:][:n])
	}
}

// ask appends the orders that the asked policy would give in this turn to the episodes.
func (g *Games) ask() {
	g.asked = g.asked[:0]
	for i, e := range g.playing {
		for p := range g.players {
			if e != nil {
				g.asked = append(g.asked, int32(i*g.players+p))
			}
		}
	}
	g.asker.choose(g.asked)
	for _, row := range g.asked {
		e := g.playing[int(row)/g.players]
		e.AskedOrders = g.asker.appendOrders(e.AskedOrders, row)
		e.AskedEnds = append(e.AskedEnds, int32(len(e.AskedOrders)))
	}
}
