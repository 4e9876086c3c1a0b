package render

import (
	"fmt"
	"sync"

	"moonfarm/datasets/derive"
	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Game plays the episodes of one set of rules again.
type Game struct {
	Replayer  *rollout.Replayer
	MaxOrders int // of a seat in a turn
}

// Games returns what plays an episode of the rules of that number. It is used by
// one goroutine.
type Games func(rules int, e *rollout.Episode) (Game, error)

// episode is an episode in hand. Pieces of it may be in several windows.
type episode struct {
	rollout.Episode
	rules int

	choices []int32 // if moves of searches are wanted: Found.AppendChoiceEnds

	mu              sync.Mutex // of what follows
	returns, nsteps []float32  // once they were wanted before the end was played
}

// piece is some turns of an episode and the window's rows for them.
type piece struct {
	e        *episode
	from, to int // turns
	row      int // of the window, before it is shuffled
}

// player renders pieces. It is used by one goroutine at a time.
type player struct {
	c     *Config
	games Games
	batch *env.Batch
	turn  *Slabs // scratch: what is shuffled, or not wanted but needed, of one turn

	rewards, returns, nsteps []float32 // of the episode in hand [turns, seats]

	// The game in hand stands before the turn at of the episode in.
	game Game
	in   *episode
	at   int
}

func newPlayer(c *Config, games Games) *player {
	width := c.Width
	if c.wants(Opponent) {
		width[Action] = c.heads() * 4
	}
	return &player{c: c, games: games, turn: newSlabs(width, c.Players), batch: &env.Batch{
		Rows: c.Players, OrderLen: make([]int32, c.Players), Status: make([]sim.Status, 1), Turn: make([]int32, 1),
	}}
}

// render writes the rows of a piece into a window.
func (p *player) render(w *window, q piece) error {
	e, n := q.e, p.c.Players
	returns, nsteps := p.returns, p.nsteps
	if p.c.plays() {
		whole := q.from == 0 && q.to == e.Turns
		if !whole && p.c.sums() {
			if err := p.ahead(e); err != nil {
				return err
			}
			returns, nsteps = e.returns, e.nsteps
		}
		if err := p.seek(e, q.from, p.c.Memory); err != nil {
			return err
		}
		for t := q.from; t < q.to; t++ {
			row := q.row + (t-q.from)*n
			if w.order == nil || t == q.from { // scratch stays where it is
				p.window(w, row)
			}
			if err := p.step(); err != nil {
				return err
			}
			p.place(w, row)
		}
		if whole && p.c.sums() {
			p.sum(&p.returns, &p.nsteps)
			returns, nsteps = p.returns, p.nsteps
		}
		if w.final != nil {
			p.batch.Planes, p.batch.Packed, p.batch.Scalars = w.final.Planes, w.final.Packed, w.final.Scalars
			p.batch.Mask, p.batch.Action = nil, nil
			p.game.Replayer.Final(p.batch)
		}
	}
	p.fill(w, q, returns, nsteps)
	return nil
}

// seek makes the game in hand stand before a turn of the episode. With watch its
// planes are looked at on the way, so that it remembers what they showed.
func (p *player) seek(e *episode, turn int, watch bool) error {
	if p.in != e || p.at > turn {
		p.in = nil
		var err error
		if p.game, err = p.games(e.rules, &e.Episode); err != nil {
			return err
		}
		if err := p.game.Replayer.Start(&e.Episode); err != nil {
			return err
		}
		p.in, p.at = e, 0
		if n := p.c.Players * p.game.MaxOrders; cap(p.batch.Orders) < n {
			p.batch.Orders = make([]sim.Order, n)
		} else {
			p.batch.Orders = p.batch.Orders[:n]
		}
		if n := e.Turns * p.c.Players; len(p.rewards) < n {
			p.rewards = make([]float32, n+n/2)
		}
	}
	b := p.batch
	b.Planes, b.Packed, b.Scalars, b.Mask, b.Action = nil, nil, nil, nil, nil
	if watch {
		b.Planes = p.turn.bytes(Planes, 0, p.c.Players)
	}
	for p.at < turn {
		if err := p.step(); err != nil {
			return err
		}
	}
	return nil
}

// step plays a turn.
func (p *player) step() error {
	n := p.c.Players
	p.batch.Reward = p.rewards[p.at*n : (p.at+1)*n]
	if err := p.game.Replayer.Step(p.batch); err != nil {
		p.in = nil
		return err
	}
	p.at++
	return nil
}

// ahead plays an episode to its end for the returns of all its turns, unless that
// was done.
func (p *player) ahead(e *episode) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.returns != nil || e.nsteps != nil {
		return nil
	}
	if err := p.seek(e, e.Turns, false); err != nil {
		return err
	}
	p.sum(&e.returns, &e.nsteps)
	p.in = nil
	return nil
}

// sum computes what is wanted of the returns of the episode that was played.
func (p *player) sum(returns, nsteps *[]float32) {
	n := p.in.Turns * p.c.Players
	room := func(s *[]float32) []float32 {
		if cap(*s) < n {
			*s = make([]float32, n)
		}
		*s = (*s)[:n]
		return *s
	}
	if p.c.wants(Return) {
		derive.Returns(room(returns), p.rewards[:n], p.c.Players, p.c.Discount)
	}
	if p.c.wants(NStep) {
		derive.Steps(room(nsteps), p.rewards[:n], p.c.Players, p.c.Steps, p.c.Discount)
	}
}

// window points the batch at the rows of the next turn: those of the window, or
// scratch if they are shuffled.
func (p *player) window(w *window, row int) {
	to, b, n := w.slabs, p.batch, p.c.Players
	if w.order != nil {
		to, row = p.turn, 0
	}
	b.Planes = to.bytes(Planes, row, n)
	b.Packed = Rows[uint64](to, Packed, row, n)
	b.Scalars = Rows[float32](to, Scalars, row, n)
	b.Mask = Rows[uint64](to, Mask, row, n)
	if b.Action = Rows[int32](to, Action, row, n); b.Action == nil {
		b.Action = Rows[int32](p.turn, Action, 0, n)
	}
}

// place puts the rows of a turn that was played where they belong.
func (p *player) place(w *window, row int) {
	n := p.c.Players
	if w.order != nil {
		for c := Planes; c <= Action; c++ {
			size := p.c.Width[c]
			if size == 0 {
				continue
			}
			to, from := w.slabs.data[c], p.turn.data[c]
			for seat, at := range w.order[row : row+n] {
				copy(to[int(at)*size:][:size], from[seat*size:])
			}
		}
	}
	if !p.c.wants(Opponent) {
		return
	}
	heads := p.c.heads()
	for seat := range n {
		dst := Rows[int32](w.slabs, Opponent, w.at(row+seat), 1)
		for k := range n - 1 {
			other := (seat + 1 + k) % n
			copy(dst[k*heads:], p.batch.Action[other*heads:(other+1)*heads])
		}
	}
}

// fill writes the columns of a piece that no Batch has.
func (p *player) fill(w *window, q piece, returns, nsteps []float32) {
	e, n := q.e, p.c.Players
	first, rows := q.from*n, (q.to-q.from)*n
	spread(w, Episode, q.row, rows, func(int) uint64 { return e.ID })
	spread(w, Turn, q.row, rows, func(k int) int32 { return int32(q.from + k/n) })
	spread(w, Seat, q.row, rows, func(k int) uint8 { return uint8(k % n) })
	spread(w, Reward, q.row, rows, func(k int) float32 { return p.rewards[first+k] })
	spread(w, Return, q.row, rows, func(k int) float32 { return returns[first+k] })
	spread(w, NStep, q.row, rows, func(k int) float32 { return nsteps[first+k] })
	spread(w, Outcome, q.row, rows, func(k int) float32 { return e.Outcome[k%n].Result })
	last := (e.Turns-1)*n - first // from this row on
	spread(w, Terminated, q.row, rows, func(k int) uint8 { return flag(k >= last && e.Status == sim.Over) })
	spread(w, Truncated, q.row, rows, func(k int) uint8 { return flag(k >= last && e.Status == sim.Cut) })
	spread(w, Chosen, q.row, rows, func(k int) uint8 { return e.Chosen[first+k] })
	spread(w, Kept, q.row, rows, func(k int) uint8 { return flag(p.c.Keep(&e.Episode, q.from+k/n, k%n)) })
	spread(w, SearchValue, q.row, rows, func(k int) float32 { return e.Searches.Value[first+k] })
}

// spread writes one column of some rows.
func spread[T uint8 | int32 | uint64 | float32](w *window, c Column, row, rows int, value func(k int) T) {
	to := Rows[T](w.slabs, c, 0, len(w.slabs.data[c])/max(w.slabs.width[c], 1))
	if to == nil {
		return
	}
	if w.order == nil {
		to = to[row : row+rows]
		for k := range to {
			to[k] = value(k)
		}
		return
	}
	for k, at := range w.order[row : row+rows] {
		to[at] = value(k)
	}
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// newFinal has room for what all seats see after the last turn.
func newFinal(c *Config) *features.Rows {
	s := newSlabs(c.Width, c.Players)
	return &features.Rows{Planes: s.bytes(Planes, 0, c.Players), Packed: Rows[uint64](s, Packed, 0, c.Players), Scalars: Rows[float32](s, Scalars, 0, c.Players)}
}

// check fails if an episode cannot be one of the game.
func (c *Config) check(e *rollout.Episode, rules int) error {
	if e.Players != c.Players || rules < 0 || rules >= len(c.MaxTurns) {
		return fmt.Errorf("episode %d: %d seats, rules number %d; the game has %d, and %d sets of rules", e.ID, e.Players, rules, c.Players, len(c.MaxTurns))
	}
	if e.Turns > c.MaxTurns[rules] {
		return fmt.Errorf("episode %d: %d turns, the game has at most %d", e.ID, e.Turns, c.MaxTurns[rules])
	}
	return nil
}
