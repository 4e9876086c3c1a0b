package terminal

import (
	"fmt"
	"math"
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// shoot lets the units of player p shoot (3.11): structures and mobile units in the order of ids.
// The order of the two players does not matter: the other player's shots hit only units of p,
// and these shoot even if they are dead.
func (a *actionPhase) shoot(s *State, p sim.Player) {
	next := 0 // index on the live list
	if a.crowd[p] == 0 {
		next = len(a.live)
	}
	for a.aims[p^1] > 0 {
		turret, reached, several := a.nextTurret(p ^ 1)
		if reached == nil {
			break
		}
		if next < len(a.live) {
			next = a.shootStacks(s, p, next, turret.id())
		}
		if several {
			reached = a.chooseStack(p, turret)
		} else {
			reached.spent++
			a.aims[p^1]--
		}
		if reached != nil && reached.n > 0 { // otherwise older units have just killed all units that it reached
			a.shootTurret(s, p, turret, reached)
		}
	}
	if next < len(a.live) {
		a.shootStacks(s, p, next, MaxID+1)
	}
}

// nextTurret returns the oldest turret that reaches units of player p and has not shot in this
// frame, with a stack that it reaches, and whether it reaches several stacks. The stack is nil if
// no such turret is left.
func (a *actionPhase) nextTurret(p sim.Player) (next aged, reached *stack, several bool) {
	for _, i := range a.live {
		st := &a.stacks[i]
		if st.player() != p || st.spent >= st.turrets || st.n == 0 {
			continue
		}
		switch turret := a.turretsOf(st)[st.spent]; {
		case reached == nil || turret < next:
			next, reached, several = turret, st, false
		case turret == next:
			several = true
		}
	}
	return next, reached, several
}

// chooseStack returns the stack at which a turret of player p shoots if it reaches several, or nil
// if all of them are dead.
func (a *actionPhase) chooseStack(p sim.Player, turret aged) *stack {
	var best target
	for _, i := range a.live {
		st := &a.stacks[i]
		if st.player() == p || st.spent == st.turrets || a.turretsOf(st)[st.spent] != turret {
			continue
		}
		st.spent++
		a.aims[p^1]--
		if st.n > 0 {
			a.consider(&best, p, st, squaredDistance(uint16(turret.cell()), st.cell))
		}
	}
	return best.stack
}

// shootTurret lets a turret of player p shoot at a stack.
func (a *actionPhase) shootTurret(s *State, p sim.Player, turret aged, at *stack) {
	c := s.Cells[turret.cell()]
	damage := a.damage[c.form()]
	victim, killed := a.wound(at, damage)
	if a.record != nil {
		a.noteShot(shotEvent{AttackEvent{positions[turret.cell()], positions[at.cell], c.Kind(), p, turret.id(), victim, damage},
			at.unitKind(), killed, at.exploded})
	}
}

// target is the best target so far among stacks (3.12).
type target struct {
	stack    *stack
	distance int32 // squared
}

// consider replaces best by a stack at the given squared distance if the stack is a better target.
// It is called for stacks in the order of ids, and prefers the last of equal ones.
func (a *actionPhase) consider(best *target, p sim.Player, st *stack, distance int32) {
	if best.stack != nil {
		if distance > best.distance {
			return
		}
		if distance == best.distance && a.earlierTargets {
			if !a.prefersStack(p, st, best.stack) {
				return
			}
		} else if distance == best.distance {
			_, old := a.weakest(best.stack)
			_, health := a.weakest(st)
			if health > old || health == old && prefers(p, best.stack.cell, st.cell) {
				return
			}
		}
	}
	*best = target{st, distance}
}

// prefers reports whether an attacker of player p prefers a target on cell a to an otherwise equal
// one on cell b, because a is nearer to its own end or, in the same row, nearer to a side.
func prefers(p sim.Player, a, b uint16) bool {
	u, v := positions[a&cellMask], positions[b&cellMask]
	if u.Y != v.Y {
		return (u.Y < v.Y) == (p == 0)
	}
	return abs(2*int(u.X)-(Side-1)) > abs(2*int(v.X)-(Side-1))
}

func abs(x int) int { return max(x, -x) }

// weakest returns the index and the health of the run with the lowest health, the last of equals.
func (a *actionPhase) weakest(st *stack) (i int, health float32) {
	runs := a.runsOf(st)
	health = runs[0].total
	for j := 1; j < len(runs); j++ {
		if runs[j].total <= health {
			i, health = j, runs[j].total
		}
	}
	return i, health
}

// shootStacks lets the stacks of player p shoot, from index next of the live list, while their ids
// are below before. It returns the index of the first stack that has not shot. Stacks shoot at
// mobile units while any is in range, then at structures. A target stays the best one until it is
// dead, because only its health changes.
func (a *actionPhase) shootStacks(s *State, p sim.Player, next int, before uint32) int {
	for ; next < len(a.live); next++ {
		st := &a.stacks[a.live[next]]
		if st.first >= before {
			break
		}
		if st.player() != p || st.shots == 0 {
			continue
		}
		if a.crowd[p^1] > 0 {
			a.shootMobile(st)
		}
		if st.near && st.fired < st.shots {
			a.shootStructures(s, st)
		}
	}
	return next
}

// shootMobile lets the units of a stack shoot at mobile units in range.
func (a *actionPhase) shootMobile(st *stack) {
	p := st.player()
	reach, damage := &a.mobileRange[st.kind], a.rules.Units[st.unitKind()].DamageMobile
	for st.fired < st.shots {
		var best target
		for _, j := range a.live {
			if foe := &a.stacks[j]; foe.owner != st.owner && foe.n > 0 {
				if d := squaredDistance(st.cell, foe.cell); d <= reach[foe.kind] {
					a.consider(&best, p, foe, d)
				}
			}
		}
		if best.stack == nil {
			return
		}
		for killed := false; !killed && st.fired < st.shots; st.fired++ {
			var victim uint32
			victim, killed = a.wound(best.stack, damage)
			if a.record != nil {
				a.noteShot(shotEvent{AttackEvent{positions[st.cell], positions[best.stack.cell], st.unitKind(), p,
					a.ids[st.base+st.fired], victim, damage}, best.stack.unitKind(), killed, best.stack.exploded})
			}
		}
	}
}

// shootStructures lets the units of a stack that have not shot yet shoot at structures.
func (a *actionPhase) shootStructures(s *State, st *stack) {
	p, damage := st.player(), a.rules.Units[st.unitKind()].DamageStruct
	for st.fired < st.shots {
		cell := int(st.aim)
		if cell == 0 || !a.targets[p^1].Board.Has(cell) {
			if cell = a.chooseStructure(s, st); cell == 0 {
				return
			}
		}
		c := &s.Cells[cell]
		first, fired, shots := st.fired, st.fired, st.shots
		health, dead, killed := c.Health, a.rules.DeadAt, false
		for !killed && fired < shots {
			health -= damage
			killed = health <= dead
			fired++
		}
		c.Health, st.fired = health, fired
		if a.record != nil {
			e := shotEvent{AttackEvent{From: positions[st.cell], To: positions[cell], Kind: st.unitKind(), Player: p,
				Target: c.ID(), Damage: damage}, c.Kind(), false, false}
			shots := a.shots[p]
			for _, id := range a.ids[st.base:][first:fired] {
				e.ID = id
				shots = append(shots, e)
			}
			shots[len(shots)-1].killed = killed
			a.shots[p] = shots
		}
		if killed {
			a.fell(cell, p^1)
		}
	}
}

// fell removes a structure of player p that has no health left from the targets.
func (a *actionPhase) fell(cell int, p sim.Player) {
	a.targets[p].Board.Drop(cell)
	a.fallen = append(a.fallen, uint16(cell))
}

// structuresInRange returns the structures that a stack may shoot at.
func (a *actionPhase) structuresInRange(s *State, st *stack) (board bitboard.Diamond) {
	p := st.player() ^ 1
	targets := &a.targets[p].Board
	switch class := a.siegeRange[st.kind]; class {
	case noRange:
	case severalRanges:
		for f, class := range a.formRange[st.kind] {
			form := s.form(p, f)
			form.And(targets)
			form.And(a.within(class, int(st.cell)))
			board.Or(&form)
		}
	default:
		board = *targets
		board.And(a.within(class, int(st.cell)))
	}
	return board
}

// seesStructures reports whether a stack may shoot at any structure.
func (a *actionPhase) seesStructures(s *State, st *stack) bool {
	if class := a.siegeRange[st.kind]; class >= 0 {
		return meets(&a.targets[st.owner^1].Board, a.within(class, int(st.cell)))
	}
	board := a.structuresInRange(s, st)
	return !board.Empty()
}

// chooseStructure returns the cell of the structure to shoot at (3.12), or 0 if none is in range.
// If no other structure is as near, or if no other stack of the player can change the choice, it
// stores the structure as the aim of the stack.
func (a *actionPhase) chooseStructure(s *State, st *stack) int {
	class := a.siegeRange[st.kind]
	if class < 0 || a.orders[class].lists == nil {
		return a.searchStructure(s, st)
	}
	p, order, from := st.player(), &a.orders[class], st.cell&cellMask
	st.aim = 0
	for first := 0; first < len(order.offsets); first += listed {
		found := order.lists[first/listed].Of(&a.targets[p^1], int(from))
		if found == 0 {
			continue
		}
		i := first + bits.TrailingZeros64(found)
		best, ties := order.cell(from, i), 0
		found &= 1<<order.ends[i] - 1
		for b := found & (found - 1); b != 0; b &= b - 1 {
			ties++
			if cell := order.cell(from, first+bits.TrailingZeros64(b)); a.prefersStructure(s, p, cell, best) {
				best = cell
			}
		}
		if ties == 0 || a.crowd[p] == 1 {
			st.aim = uint16(best)
		}
		if invariants && best != a.searchStructure(s, st) {
			panic(fmt.Sprintf("terminal: structure %v is not the target of stack %+v", positions[best], *st))
		}
		return best
	}
	return 0
}

// searchStructure does the work of chooseStructure without lists of cells: for kinds with several or
// long ranges, and where the processor does not gather fast.
func (a *actionPhase) searchStructure(s *State, st *stack) int {
	p := st.player()
	board := a.structuresInRange(s, st)
	best, shortest, ties := 0, int32(math.MaxInt32), 0
	for w, b := range board {
		for ; b != 0; b &= b - 1 {
			cell := cellOf(w, b)
			switch d := squaredDistance(st.cell, uint16(cell)); {
			case d < shortest:
				best, shortest, ties = cell, d, 0
			case d == shortest:
				ties++
				if a.prefersStructure(s, p, cell, best) {
					best = cell
				}
			}
		}
	}
	st.aim = 0
	if ties == 0 || a.crowd[p] == 1 {
		st.aim = uint16(best)
	}
	return best
}

// prefersStructure reports whether an attacker of player p prefers the structure on cell a to the
// one on cell b at the same distance (3.12).
func (t *tables) prefersStructure(s *State, p sim.Player, a, b int) bool {
	u, v := s.Cells[a], s.Cells[b]
	if u.Health != v.Health {
		return u.Health < v.Health
	}
	if prefers(p, uint16(a), uint16(b)) {
		return true
	}
	return !prefers(p, uint16(b), uint16(a)) && t.younger(u.ID(), v.ID())
}

// weakestUnit returns the unit of a stack that a shot hits under the rules of earlier engines
// (3.12): its run, its id and the health that was compared. These engines choose the weakest unit
// by its health without shields, or the youngest by the text of its id, so the unit may be in the
// middle of a run.
func (a *actionPhase) weakestUnit(st *stack) (i int, id uint32, health float32) {
	for j, r := range a.runsOf(st) {
		h := r.total
		if a.bare {
			h = r.base
		}
		last := r.first + uint32(r.n) - 1
		if a.byText {
			last = lastByText(r.first, last)
		}
		if j == 0 || h < health || h == health && a.younger(last, id) {
			i, id, health = j, last, h
		}
	}
	return i, id, health
}

// prefersStack reports whether an attacker of player p prefers stack st to another one at the same
// distance, under the rules of earlier engines.
func (a *actionPhase) prefersStack(p sim.Player, st, other *stack) bool {
	_, id, health := a.weakestUnit(st)
	_, otherID, otherHealth := a.weakestUnit(other)
	switch {
	case health != otherHealth:
		return health < otherHealth
	case prefers(p, st.cell, other.cell):
		return true
	}
	return !prefers(p, other.cell, st.cell) && a.younger(id, otherID)
}

// younger reports whether the unit with id a counts as younger than the one with id b in the last
// tie of 3.12.
func (t *tables) younger(a, b uint32) bool {
	if t.byText {
		return textAfter(a, b)
	}
	return a > b
}

// textAfter reports whether the decimal text of a sorts after that of b: 97 after 100, and 100
// after 10.
func textAfter(a, b uint32) bool {
	x, y := eightDigits(a), eightDigits(b)
	return x > y || x == y && a > b
}

// eightDigits appends zeros to the digits of an id until it has eight, as MaxID has.
func eightDigits(id uint32) uint32 {
	for id > 0 && id < 10_000_000 {
		id *= 10
	}
	return id
}

// lastByText returns the id from first to last whose decimal text sorts last: the id last, or an
// id of nines only.
func lastByText(first, last uint32) uint32 {
	best := last
	for nines := uint32(9); nines < last; nines = nines*10 + 9 {
		if nines >= first && textAfter(nines, best) {
			best = nines
		}
	}
	return best
}
