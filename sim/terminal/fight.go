package terminal

import (
	"math/bits"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// shotEvent is a shot with what became of its target.
type shotEvent struct {
	AttackEvent
	target Kind
	killed bool
}

// fight plays explosions, shots and their dead (3.9 to 3.14).
func (g *Game) fight(s *State) {
	a := &g.phase
	g.roll()
	if a.doomed {
		g.explode(s)
		a.doomed = false
	}
	g.attack(s, 0)
	g.attack(s, 1)
	if g.rec != nil {
		g.recordShots()
	}
	if len(a.fallen) > 0 {
		g.bury(s)
		a.thinned = true
	}
	if a.thinned {
		g.compact()
		g.meet()
	}
}

// roll calls the roll before explosions and shots: all that stand now shoot in
// this frame, even those that will be dead by then. Their ids are needed only
// for events and explosions.
func (g *Game) roll() {
	a := &g.phase
	names := g.rec != nil || a.doomed
	for _, i := range a.live {
		st := &a.stacks[i]
		st.shots, st.fired, st.spent = st.n, 0, 0
		if !names {
			continue
		}
		ids := a.ids[st.base:][:0]
		for _, r := range a.runs[st.base:][:st.runs] {
			for j := range uint32(r.n) {
				ids = append(ids, r.first+j)
			}
		}
	}
}

// bury takes the fallen structures off the board.
func (g *Game) bury(s *State) {
	a := &g.phase
	for _, cell := range a.fallen {
		c := s.Cells[cell]
		p := c.Player()
		for m := range 3 {
			for i := range a.gunBoards[p][m] {
				a.gunBoards[p][m][i].Drop(int(cell))
			}
			for i := range a.wardBoards[p][m] {
				a.wardBoards[p][m][i].Drop(int(cell))
			}
		}
		if g.shoots[form(c.Mark)] {
			g.disarm(gun(c.ID())<<16 | gun(cell))
		}
		s.drop(int(cell))
		a.free.Add(int(cell))
	}
	a.fallen = a.fallen[:0]
	a.newEpoch()
	for _, i := range a.live {
		if st := &a.stacks[i]; st.near && st.n > 0 {
			st.near = g.inSight(s, st)
		}
	}
}

// disarm takes a gun off the lists of those it reached.
func (g *Game) disarm(fallen gun) {
	a := &g.phase
	for _, i := range a.live {
		st := &a.stacks[i]
		list := a.gunsOf(st)[:st.guns]
		if j, ok := slices.BinarySearch(list, fallen); ok {
			copy(list[j:], list[j+1:])
			st.guns--
		}
	}
}

// compact takes the stacks without units off the list.
func (g *Game) compact() {
	a := &g.phase
	n := 0
	for _, i := range a.live {
		st := &a.stacks[i]
		if st.n == 0 {
			a.crowd[st.owner]--
			continue
		}
		a.live[n] = i
		n++
	}
	a.live = a.live[:n]
	a.thinned = false
}

// meet finds out whether anybody can shoot: then every frame counts until
// somebody moves or falls.
func (g *Game) meet() {
	a := &g.phase
	for _, i := range a.live {
		if g.faces(&a.stacks[i]) {
			a.contact = true
			return
		}
	}
	a.contact = a.crowd[0] > 0 && a.crowd[1] > 0 && g.duels()
}

// faces reports whether a stack has structures in range, or guns reach it.
func (g *Game) faces(st *stack) bool { return st.near || st.guns > 0 }

// duels reports whether two mobile units are in range of each other, or one of
// them is.
func (g *Game) duels() bool {
	a := &g.phase
	for n, i := range a.live {
		st := &a.stacks[i]
		for _, j := range a.live[:n] {
			if foe := &a.stacks[j]; foe.owner != st.owner && distance(int(st.cell), int(foe.cell)) <= g.clash[st.kind][foe.kind] {
				return true
			}
		}
	}
	return false
}

// attack lets the units of player p shoot (3.11): structures and mobile units in
// the order of ids. What the other player's units do meanwhile makes no
// difference to it: they hit only units of p, and those shoot though dead.
func (g *Game) attack(s *State, p sim.Player) {
	a := &g.phase
	next := 0 // on the live list
	for a.crowd[p^1] > 0 {
		shot, ok := g.nextGun(p ^ 1)
		if !ok {
			break
		}
		for next < len(a.live) && a.stacks[a.live[next]].first < shot.id() {
			g.volley(s, p, &a.stacks[a.live[next]])
			next++
		}
		g.fire(s, p, shot)
	}
	if a.crowd[p] > 0 {
		for ; next < len(a.live); next++ {
			g.volley(s, p, &a.stacks[a.live[next]])
		}
	}
}

// nextGun is the oldest gun that reaches units of player p and has not shot in
// this frame.
func (g *Game) nextGun(p sim.Player) (next gun, ok bool) {
	a := &g.phase
	next = noGun
	for _, i := range a.live {
		if st := &a.stacks[i]; st.owner == uint8(p) && st.spent < st.guns && st.n > 0 {
			next = min(next, a.aimed[int(st.base)*HalfCells+int(st.spent)])
		}
	}
	return next, next != noGun
}

// fire lets a gun of player p shoot.
func (g *Game) fire(s *State, p sim.Player, shot gun) {
	a := &g.phase
	var best aim
	for _, i := range a.live {
		st := &a.stacks[i]
		if st.owner == uint8(p) || st.spent == st.guns || a.aimed[int(st.base)*HalfCells+int(st.spent)] != shot {
			continue
		}
		st.spent++
		if st.n > 0 {
			best.consider(g, p, st, distance(shot.cell(), int(st.cell)))
		}
	}
	if best.stack == nil {
		return // older units have just killed what it reached
	}
	c := s.Cells[shot.cell()]
	damage := g.shot[form(c.Mark)]
	victim, killed := g.wound(best.stack, damage)
	if g.rec != nil {
		g.noteShot(p, uint16(shot.cell()), c.Kind(), shot.id(), best.stack.cell, Scout+Kind(best.stack.kind), victim, damage, killed)
	}
}

// aim is the best target so far among stacks (3.12).
type aim struct {
	stack    *stack
	distance int32
	health   float32
}

// consider takes a stack at the given squared distance as the target if it is
// a better one. Stacks come in the order of ids, and the last of equals is
// preferred.
func (b *aim) consider(g *Game, p sim.Player, st *stack, distance int32) {
	if b.stack != nil && distance > b.distance {
		return
	}
	_, health := g.weakest(st)
	if b.stack != nil && distance == b.distance {
		if health > b.health || health == b.health && prefers(p, b.stack.cell, st.cell) {
			return
		}
	}
	b.stack, b.distance, b.health = st, distance, health
}

// prefers reports whether an attacker of player p prefers a target on cell a to
// one on cell b, all else equal: nearer to its own side, then nearer to a side
// edge.
func prefers(p sim.Player, a, b uint16) bool {
	u, v := positions[a&511], positions[b&511]
	if u.Y != v.Y {
		return (u.Y < v.Y) == (p == 0)
	}
	return abs(2*int(u.X)-27) > abs(2*int(v.X)-27)
}

func abs(x int) int { return max(x, -x) }

// weakest is the run with the lowest health, the last of equals.
func (g *Game) weakest(st *stack) (i int, health float32) {
	runs := g.runs[st.base:][:st.runs]
	health = runs[0].total
	for j := 1; j < len(runs); j++ {
		if runs[j].total <= health {
			i, health = j, runs[j].total
		}
	}
	return i, health
}

// wound hits the unit of a stack that a shot hits: the last one of those with
// the lowest health.
func (g *Game) wound(st *stack, damage float32) (victim uint32, killed bool) {
	i, _ := g.weakest(st)
	r := &g.runs[int(st.base)+i]
	hit := *r
	hit.n, hit.first = 1, r.first+uint32(r.n)-1
	hit.hurt(damage, g.sharesOf(st)[:st.shares])
	killed = hit.total <= g.rules.DeadAt
	switch {
	case killed:
		g.lose(st, i)
	case r.n == 1:
		*r = hit
	default:
		r.n--
		runs := g.runs[st.base:][:st.runs+1]
		copy(runs[i+2:], runs[i+1:])
		runs[i+1] = hit
		st.runs++
	}
	return hit.first, killed
}

// lose takes the last unit off run i.
func (g *Game) lose(st *stack, i int) {
	if st.n--; st.n == 0 {
		g.thinned = true
	}
	runs := g.runs[st.base:][:st.runs]
	if runs[i].n--; runs[i].n == 0 {
		copy(runs[i:], runs[i+1:])
		st.runs--
	}
}

// volley lets the units of a stack shoot, if they are player p's: at mobile
// units as long as there are any in range, then at structures. Each target is
// shot at until it falls: it stays the best one, since only its health changes.
func (g *Game) volley(s *State, p sim.Player, st *stack) {
	if st.owner != uint8(p) || st.shots == 0 {
		return
	}
	if g.crowd[p^1] > 0 {
		g.engage(st)
	}
	if st.near && st.fired < st.shots {
		g.siege(s, st)
	}
}

// engage lets the units of a stack shoot at mobile units in range.
func (g *Game) engage(st *stack) {
	a := &g.phase
	p := sim.Player(st.owner)
	duel, damage := &g.duel[st.kind], g.power[st.kind][0]
	for st.fired < st.shots {
		var best aim
		for _, j := range a.live {
			if foe := &a.stacks[j]; foe.owner != st.owner && foe.n > 0 {
				if d := distance(int(st.cell), int(foe.cell)); d <= duel[foe.kind] {
					best.consider(g, p, foe, d)
				}
			}
		}
		if best.stack == nil {
			return
		}
		for killed := false; !killed && st.fired < st.shots; st.fired++ {
			var victim uint32
			victim, killed = g.wound(best.stack, damage)
			if g.rec != nil {
				g.noteShot(p, st.cell, Scout+Kind(st.kind), a.ids[st.base+st.fired],
					best.stack.cell, Scout+Kind(best.stack.kind), victim, damage, killed)
			}
		}
	}
}

// siege lets the units of a stack that have not fired yet shoot at structures.
func (g *Game) siege(s *State, st *stack) {
	p, damage := sim.Player(st.owner), g.power[st.kind][1]
	for st.fired < st.shots {
		cell := int(st.aim)
		if cell == 0 || !g.targets[p^1].Has(cell) {
			if cell = g.pick(s, st); cell == 0 {
				return
			}
		}
		c := &s.Cells[cell]
		for killed := false; !killed && st.fired < st.shots; st.fired++ {
			c.Health -= damage
			if killed = c.Health <= g.rules.DeadAt; killed {
				g.fell(cell, p^1)
			}
			if g.rec != nil {
				g.noteShot(p, st.cell, Scout+Kind(st.kind), g.ids[st.base+st.fired], uint16(cell), c.Kind(), c.ID(), damage, killed)
			}
		}
	}
}

// fell takes a structure of player p that has no health left off the targets.
func (g *Game) fell(cell int, p sim.Player) {
	g.targets[p].Drop(cell)
	g.fallen = append(g.fallen, uint16(cell))
}

// sighted are the structures that a stack may shoot at.
func (g *Game) sighted(s *State, st *stack) (board bitboard.Diamond) {
	p := sim.Player(st.owner ^ 1)
	targets := &g.targets[p]
	class := g.oneAim[st.kind]
	switch {
	case class >= 0:
		mask := &g.reach[int(class)<<9|int(st.cell)]
		for w := range board {
			board[w] = targets[w] & mask[w]
		}
	case class == -2: // some have a larger radius than others
		for f, class := range g.aimAt[st.kind] {
			mask, of := &g.reach[int(class)<<9|int(st.cell)], s.form(p, f)
			for w := range board {
				board[w] |= targets[w] & mask[w] & of[w]
			}
		}
	}
	return board
}

// inSight reports whether there are any.
func (g *Game) inSight(s *State, st *stack) bool {
	if class := g.oneAim[st.kind]; class >= 0 {
		return meets(&g.targets[st.owner^1], &g.reach[int(class)<<9|int(st.cell)])
	}
	board := g.sighted(s, st)
	return !board.Empty()
}

// pick chooses the structure to shoot at (3.12); 0 if there is none. If no
// other is as near, or nobody else shoots at structures, it is also what the
// stack will shoot at next.
func (g *Game) pick(s *State, st *stack) int {
	p := sim.Player(st.owner)
	board := g.sighted(s, st)
	keys := &g.keys // distance<<9 | cell
	n, nearest := 0, ^uint32(0)
	for w, b := range board {
		for ; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			keys[n] = uint32(distance(int(st.cell), cell))<<9 | uint32(cell)
			nearest = min(nearest, keys[n])
			n++
		}
	}
	st.aim = 0
	if n == 0 {
		return 0
	}
	best, ties := int(nearest&511), 0
	for _, key := range keys[:n] {
		if key>>9 == nearest>>9 && key != nearest {
			ties++
			if g.rather(s, p, int(key&511), best) {
				best = int(key & 511)
			}
		}
	}
	if ties == 0 || g.crowd[p] == 1 {
		st.aim = uint16(best)
	}
	return best
}

// rather reports whether an attacker of player p shoots at the structure on
// cell a rather than at the one on b, which is as far.
func (g *Game) rather(s *State, p sim.Player, a, b int) bool {
	u, v := s.Cells[a], s.Cells[b]
	if u.Health != v.Health {
		return u.Health < v.Health
	}
	if prefers(p, uint16(a), uint16(b)) {
		return true
	}
	return !prefers(p, uint16(b), uint16(a)) && u.ID() > v.ID()
}
