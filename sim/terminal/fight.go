package terminal

import (
	"math/bits"

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
	}
	g.compact()
}

// roll calls the roll before explosions and shots: all that stand now shoot in
// this frame, even those that will be dead by then. Their ids are needed only
// for events and explosions.
func (g *Game) roll() {
	a := &g.phase
	names := g.rec != nil || a.doomed
	for _, i := range a.live {
		st := &a.stacks[i]
		st.shots, st.fired = st.n, 0
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
		if g.shoots[form(c.Mark)] {
			a.guns[p].alive[a.gunNo[cell]>>6] &^= 1 << (a.gunNo[cell] & 63)
		}
		if g.shields[form(c.Mark)] {
			a.wards[p].alive[a.wardNo[cell]>>6] &^= 1 << (a.wardNo[cell] & 63)
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

// compact takes the stacks without units off the list.
func (g *Game) compact() {
	a := &g.phase
	n := 0
	for _, i := range a.live {
		if a.stacks[i].n > 0 {
			a.live[n] = i
			n++
		}
	}
	a.live = a.live[:n]
	g.meet()
}

// meet finds out whether anybody can shoot: then every frame counts until
// somebody moves or falls.
func (g *Game) meet() {
	a := &g.phase
	var any uint64
	var sides [2]bool
	for _, i := range a.live {
		st := &a.stacks[i]
		if st.near {
			a.contact = true
			return
		}
		guns := &a.guns[st.owner^1]
		for w := range a.words {
			any |= st.cover.guns[w] & guns.alive[w]
		}
		sides[st.owner] = true
	}
	a.contact = any != 0 || sides[0] && sides[1] && g.duels()
}

// duels reports whether a mobile unit has one of the enemy's in range.
func (g *Game) duels() bool {
	for _, i := range g.live {
		st := &g.stacks[i]
		for _, j := range g.live {
			if foe := &g.stacks[j]; foe.owner != st.owner && distance(int(st.cell), int(foe.cell)) <= g.duel[st.kind][foe.kind] {
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
	guns := &a.guns[p]
	next := 0
	for w := range a.words {
		var ready uint64
		for _, i := range a.live {
			if st := &a.stacks[i]; st.owner != uint8(p) && st.n > 0 {
				ready |= st.cover.guns[w]
			}
		}
		for ready &= guns.alive[w]; ready != 0; ready &= ready - 1 {
			i := w<<6 | bits.TrailingZeros64(ready)
			for next < len(a.live) && a.stacks[a.live[next]].first < guns.id[i] {
				g.volley(s, p, next)
				next++
			}
			g.fire(p, i)
		}
	}
	for ; next < len(a.live); next++ {
		g.volley(s, p, next)
	}
}

// fire lets gun i of player p shoot.
func (g *Game) fire(p sim.Player, i int) {
	a := &g.phase
	guns := &a.guns[p]
	var best aim
	for _, j := range a.live {
		if st := &a.stacks[j]; st.owner != uint8(p) && st.n > 0 && st.cover.guns[i>>6]>>(i&63)&1 != 0 {
			best.consider(g, p, st, distance(int(guns.cell[i]), int(st.cell)))
		}
	}
	if best.stack == nil {
		return
	}
	damage := guns.power[i]
	victim, killed := g.wound(best.stack, damage)
	if g.rec != nil {
		g.noteShot(p, guns.cell[i], wardKind(guns, i), guns.id[i], best.stack.cell, Scout+Kind(best.stack.kind), victim, damage, killed)
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
	st.n--
	runs := g.runs[st.base:][:st.runs]
	if runs[i].n--; runs[i].n == 0 {
		copy(runs[i:], runs[i+1:])
		st.runs--
	}
}

// volley lets the units of a stack shoot, if they are player p's: at mobile
// units as long as there are any in range, then at structures. Each target is
// shot at until it falls: it stays the best one, since only its health changes.
func (g *Game) volley(s *State, p sim.Player, at int) {
	a := &g.phase
	st := &a.stacks[a.live[at]]
	if st.owner != uint8(p) || st.shots == 0 {
		return
	}
	u := &g.rules.Units[Scout+Kind(st.kind)]
	duel := &g.duel[st.kind]
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
			break
		}
		for killed := false; !killed && st.fired < st.shots; st.fired++ {
			var victim uint32
			victim, killed = g.wound(best.stack, u.DamageMobile)
			if g.rec != nil {
				g.noteShot(p, st.cell, Scout+Kind(st.kind), a.ids[st.base+st.fired],
					best.stack.cell, Scout+Kind(best.stack.kind), victim, u.DamageMobile, killed)
			}
		}
	}
	if st.near && st.fired < st.shots {
		g.siege(s, st, u.DamageStruct)
	}
}

// siege lets the units of a stack that have not fired yet shoot at structures.
func (g *Game) siege(s *State, st *stack, damage float32) {
	p := sim.Player(st.owner)
	board := g.sighted(s, st)
	for st.fired < st.shots {
		cell := g.pick(s, st, &board)
		if cell < 0 {
			return
		}
		c := &s.Cells[cell]
		for killed := false; !killed && st.fired < st.shots; st.fired++ {
			c.Health -= damage
			if killed = c.Health <= g.rules.DeadAt; killed {
				g.fell(cell, p^1)
				board.Drop(cell)
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
	board := g.sighted(s, st)
	return !board.Empty()
}

// pick chooses the structure to shoot at (3.12); −1 if there is none.
func (g *Game) pick(s *State, st *stack, board *bitboard.Diamond) int {
	p := sim.Player(st.owner)
	best, near := -1, int32(0)
	for w, b := range board {
		for ; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			d := distance(int(st.cell), cell)
			if best >= 0 && (d > near || d == near && !g.rather(s, p, cell, best)) {
				continue
			}
			best, near = cell, d
		}
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
