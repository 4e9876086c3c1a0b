package terminal

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Action plays the action frames that are left, and leaves out those in which
// nothing can happen (with a Record it plays them all).
func (g *Game) Action(s *State) {
	for g.Frame(s) {
		if !g.contact && g.rec == nil {
			g.skip()
		}
	}
}

// skip moves on to the next frame in which a unit takes a step.
func (a *phase) skip() {
	next := a.stacks[a.live[0]].next
	for _, i := range a.live[1:] {
		next = min(next, a.stacks[i].next)
	}
	a.frame = max(a.frame, next)
}

// Frame plays one action frame and reports whether another follows. It is what
// Action does frame by frame, for those who want to look in between: at s,
// whose structures and resources are those at the end of the frame, and at
// AppendMobile. After Deploy there is always at least one frame.
func (g *Game) Frame(s *State) (more bool) {
	a := &g.phase
	breached := g.move(s)
	if g.decay > 0 {
		g.fade()
	}
	if g.arrive(s) {
		g.meet()
	}
	if a.contact || a.doomed {
		g.fight(s)
	} else if breached {
		g.compact()
	}
	if g.rec != nil {
		g.rec.end()
	}
	a.frame++
	if invariants {
		g.check(s)
	}
	return len(a.live) > 0 && s.Health[0] > 0 && s.Health[1] > 0
}

// move takes the steps that are due (3.1), in the order of ids, and tells
// whether a unit breached.
func (g *Game) move(s *State) (breached bool) {
	a := &g.phase
	for _, i := range a.live {
		st := &a.stacks[i]
		if st.next != a.frame {
			continue
		}
		if st.epoch != a.epoch {
			g.resolve(st)
		}
		if st.phase == 0 && g.atGoal(st) {
			if st.field < 4 {
				g.breach(s, st)
				breached = true
				continue
			}
			st.doomed, a.doomed = true, true
		} else {
			g.step(st)
		}
		st.wait(g.rules.Units[Scout+Kind(st.kind)].Speed)
	}
	return breached
}

// atGoal reports whether a unit whose distance is 0 modulo 4 is there.
func (g *Game) atGoal(st *stack) bool {
	if st.field < 4 {
		return sides[st.side].Has(int(st.cell))
	}
	return g.pockets[st.field-4].goal == st.cell
}

// step moves a stack one cell on (3.3 to 3.5).
func (g *Game) step(st *stack) {
	f := &g.fields[st.field&3]
	if st.field >= 4 {
		f = &g.pockets[st.field-4].field
	}
	st.phase = (st.phase - 1) & 3
	board := &f.Step[st.phase>>1]
	cell := int(st.cell)
	up, left := cell+256, cell+240 // and right, down beside them
	if cell >= 256 {
		up, left = cell-241, cell-257
	}
	set := board[up>>6&7]>>(up&63)&3 | board[left>>6&7]>>(left&63)&3<<2
	d := choice[st.side][st.axis][set&15] & 3
	to := uint16(cell) + uint16(stepDelta[cell>>8&1][d])
	if g.rec != nil {
		g.recordMove(st, to)
	}
	st.cell, st.axis = to, stepAxis[d]
	st.moves++
	st.arrived = true
}

// resolve finds the field that a stack follows (3.2): to its side, or, where
// that is cut off, to the end of its pocket.
func (g *Game) resolve(st *stack) {
	a := &g.phase
	st.epoch = a.epoch
	side, cell := int(st.side), int(st.cell)
	f := &a.fields[side]
	if a.sideAt[side] != a.epoch {
		a.sideAt[side] = a.epoch
		goals := sides[side]
		for w := range goals {
			goals[w] &= a.free[w]
		}
		f.Fill(&a.free, &goals, side&1)
	}
	if f.Reached(cell) {
		st.field, st.phase = int16(side), f.Phase(cell, side&1)
		return
	}
	for i := range a.pockets {
		if p := &a.pockets[i]; p.side == st.side && p.field.Reached(cell) {
			st.field, st.phase = int16(4+i), p.field.Phase(cell, int(p.goal>>8))
			return
		}
	}
	st.field = int16(4 + len(a.pockets))
	p := a.explore(cell, side)
	st.phase = p.field.Phase(cell, int(p.goal>>8))
}

// explore finds the pocket around a cell and the cell in it where units bound
// for the side go: the deepest in the enemy's land, and of those the furthest
// towards the side.
func (a *phase) explore(cell, side int) *pocket {
	a.pockets = a.pockets[:len(a.pockets)+1]
	p := &a.pockets[len(a.pockets)-1]
	var goals bitboard.Diamond
	goals.Add(cell)
	p.field.Fill(&a.free, &goals, cell>>8)
	p.goal, p.side = uint16(deepest(&p.field, side)), uint8(side)
	goals = bitboard.Diamond{}
	goals.Add(int(p.goal))
	p.field.Fill(&a.free, &goals, int(p.goal>>8))
	return p
}

// deepest is the cell reached that lies deepest in the land of the side; of
// several, the one furthest towards it in x.
func deepest(f *bitboard.Field, side int) int {
	y, dy := 0, 1
	if side == topRight || side == topLeft {
		y, dy = Side-1, -1
	}
	for ; ; y += dy {
		found, best := -1, 0
		for w, row := range rowCells[y] {
			for b := row & (f.Step[0][w] | f.Step[1][w]); b != 0; b &= b - 1 {
				cell := w<<6 | bits.TrailingZeros64(b)
				x := int(positions[cell].X)
				if side == topLeft || side == bottomLeft {
					x = -x
				}
				if found < 0 || x > best {
					found, best = cell, x
				}
			}
		}
		if found >= 0 {
			return found
		}
	}
}

// recordMove notes the step of all units of a stack.
func (g *Game) recordMove(st *stack, to uint16) {
	for _, r := range g.runs[st.base:][:st.runs] {
		for j := range uint32(r.n) {
			g.rec.Moves = append(g.rec.Moves, MoveEvent{
				positions[st.cell], positions[to], Scout + Kind(st.kind), sim.Player(st.owner), r.first + j,
			})
		}
	}
}

// breach lets a stack score (3.6): each unit by itself, as every sum is
// rounded.
func (g *Game) breach(s *State, st *stack) {
	u := &g.rules.Units[Scout+Kind(st.kind)]
	p := sim.Player(st.owner)
	for range st.n {
		s.Health[p^1] -= u.BreachDamage
		s.Cores[p] += u.BreachCores
	}
	if g.rec != nil {
		for _, r := range g.runs[st.base:][:st.runs] {
			for j := range uint32(r.n) {
				at, k := positions[st.cell], Scout+Kind(st.kind)
				g.rec.Breaches = append(g.rec.Breaches, BreachEvent{at, k, p, r.first + j, u.BreachDamage})
				g.rec.Deaths = append(g.rec.Deaths, DeathEvent{at, k, p, r.first + j, false})
			}
		}
	}
	st.n, st.runs = 0, 0
}
