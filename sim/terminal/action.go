package terminal

import (
	"math"
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Action plays the action frames that are left, and leaves out those in which
// nothing can happen (with a Record it plays them all).
func (g *Game) Action(s *State) {
	if g.rec != nil || g.decay > 0 {
		for g.Frame(s) {
		}
		return
	}
	for g.Frame(s) {
		if len(g.live) > 1 {
			if !g.contact {
				g.frame = max(g.frame, g.soonest)
			}
		} else if !g.alone(s) {
			return
		}
	}
}

// alone plays on with the only stack left, up to the frame in which it is at
// its goal, and reports whether it gets there. It does what Frame would, without
// looking for what cannot be.
func (g *Game) alone(s *State) bool {
	a := &g.phase
	st := &a.stacks[a.live[0]]
	for {
		if st.next == a.frame {
			if st.epoch != a.epoch {
				g.resolve(st)
			}
			if st.phase == 0 && g.atGoal(st) {
				a.contact = g.faces(st)
				return true
			}
			g.step(st)
			g.wait(st)
			g.arrive(s, st)
		}
		if !g.faces(st) {
			a.frame = st.next
			continue
		}
		st.shots, st.fired = st.n, 0
		for _, shot := range a.gunsOf(st)[:st.guns] {
			if g.wound(st, g.shot[form(s.Cells[shot.cell()].Mark)]); st.n == 0 {
				break
			}
		}
		if st.near {
			g.siege(s, st)
		}
		if len(a.fallen) > 0 {
			g.bury(s)
		}
		a.frame++
		if st.n == 0 {
			g.compact()
			return false
		}
	}
}

// Frame plays one action frame and reports whether another follows. It is what
// Action does frame by frame, for those who want to look in between: at s,
// whose structures and resources are those at the end of the frame, and at
// AppendMobile. After Deploy there is always at least one frame.
func (g *Game) Frame(s *State) (more bool) {
	a := &g.phase
	changed := false
	a.soonest = math.MaxInt32
	for _, i := range a.live {
		st := &a.stacks[i]
		if st.next == a.frame && !g.advance(s, st) {
			changed, a.thinned = true, true
			continue
		}
		a.soonest = min(a.soonest, st.next)
		if g.decay > 0 {
			g.fade(st)
		}
		if st.arrived {
			g.arrive(s, st)
			changed = true
		}
	}
	if len(a.granted) > 0 {
		g.recordShields()
	}
	if changed {
		g.meet()
	}
	if a.contact || a.doomed {
		g.fight(s)
	} else if a.thinned {
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

// advance takes the step of a stack that is due (3.1), and tells whether it is
// still on the board. What stacks do in steps 1 to 3 of a frame makes no
// difference to others, so each takes all three at once.
func (g *Game) advance(s *State, st *stack) bool {
	if st.epoch != g.epoch {
		g.resolve(st)
	}
	if st.phase == 0 && g.atGoal(st) {
		if st.field < 4 {
			g.breach(s, st)
			return false
		}
		st.doomed, g.doomed = true, true
	} else {
		g.step(st)
	}
	g.wait(st)
	return true
}

// atGoal reports whether a unit whose distance is 0 modulo 4 is there.
func (g *Game) atGoal(st *stack) bool {
	if st.field < 4 {
		return sides[st.lane>>6].Has(int(st.cell))
	}
	return g.pockets[st.field-4].goal == st.cell
}

// step moves a stack one cell on (3.3 to 3.5).
func (g *Game) step(st *stack) {
	st.phase = (st.phase - 1) & 3
	board := &g.fields[st.field].Step[st.phase>>1]
	cell := int(st.cell)
	up, left := cell+256, cell+240 // and right, down beside them
	if cell >= 256 {
		up, left = cell-241, cell-257
	}
	set := board[up>>6&7]>>(up&63)&3 | board[left>>6&7]>>(left&63)&3<<2
	to := choice[st.lane|uint8(set)]
	next := st.cell + uint16(stepDelta[cell>>8&1][to&3])
	if g.rec != nil {
		g.recordMove(st, next)
	}
	st.cell, st.lane = next, st.lane&^(3<<4)|to&(3<<4)
	st.moves++
	st.arrived = true
}

// resolve finds the field that a stack follows (3.2): to its side, or, where
// that is cut off, to the end of its pocket.
func (g *Game) resolve(st *stack) {
	a := &g.phase
	st.epoch = a.epoch
	side, cell := int(st.lane>>6), int(st.cell)
	f := &a.fields[side]
	if a.sideAt[side] != a.epoch {
		a.sideAt[side] = a.epoch
		goals, wanted := sides[side], bitboard.Diamond{}
		for w := range goals {
			goals[w] &= a.free[w]
		}
		for _, i := range a.live {
			if other := &a.stacks[i]; other.lane>>6 == st.lane>>6 {
				wanted.Add(int(other.cell))
			}
		}
		f.Fill(&a.free, &goals, side&1, &wanted)
	}
	if f.Reached(cell) {
		st.field, st.phase = uint16(side), f.Phase(cell, side&1)
		return
	}
	i := 0
	for i < len(a.pockets) && !(int(a.pockets[i].side) == side && a.fields[4+i].Reached(cell)) {
		i++
	}
	if i == len(a.pockets) {
		a.explore(cell, side)
	}
	st.field, st.phase = uint16(4+i), a.fields[4+i].Phase(cell, int(a.pockets[i].goal>>8))
}

// explore adds the pocket around a cell. Units bound for a side go to its
// deepest cell in the enemy's land, and of those to the furthest towards the
// side.
func (a *phase) explore(cell, side int) {
	a.fields = a.fields[:len(a.fields)+1]
	f := &a.fields[len(a.fields)-1]
	var goals bitboard.Diamond
	goals.Add(cell)
	f.Fill(&a.free, &goals, cell>>8, &bitboard.Everywhere)
	goal := deepest(f, side)
	goals = bitboard.Diamond{}
	goals.Add(goal)
	f.Fill(&a.free, &goals, goal>>8, &bitboard.Everywhere)
	a.pockets = append(a.pockets, pocket{uint16(goal), uint8(side)})
}

// deepest is the cell reached that lies deepest in the land of the side; of
// several, the one furthest towards it in x.
func deepest(f *bitboard.Field, side int) int {
	var reached bitboard.Diamond
	for w := range reached {
		reached[w] = f.Step[0][w] | f.Step[1][w]
	}
	low, high := 0, Side // rows from the far end: the deepest is one of low … high−1
	for high-low > 1 {
		if middle := (low + high) / 2; meets(&reached, &beyond[side>>1][middle]) {
			low = middle
		} else {
			high = middle
		}
	}
	y := low
	if side == bottomLeft || side == bottomRight {
		y = Side - 1 - low
	}
	best, x := 0, -1
	for w := range reached {
		for b := reached[w] & rowCells[y][w]; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			at := int(positions[cell].X)
			if side == topLeft || side == bottomLeft {
				at = Side - 1 - at
			}
			if at > x {
				best, x = cell, at
			}
		}
	}
	return best
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
	g.scored[p] += st.n
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
