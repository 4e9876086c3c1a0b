package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// The heads of a slot: head k of slot i is head k·slots + i of the action. The first head has a
// mask. The other heads describe the parts of any action by numbers in the player's own frame; 0
// means no part.
const (
	headOrder   = iota // see choices
	headMove           // 1 + moveFlags
	headMoveX          // 1 + x
	headMoveY          //
	headBuild          // 1 + type
	headBuildX         // 1 + x of the lowest corner
	headBuildY         //
	headTargetX        // 1 + x of a cell of the target of the attack
	headTargetY        //
	headLow            // types of the auto attack: the set of the first five …
	headHigh           // … and of the last five
	headRange          // of the auto attack: see ranges
	headRepairX        // 1 + x of a cell of the target of the repair
	headRepairY        //
	headsOfSlot
)

// moveFlags are the flags of a move in the game's order, from FindClosest on:
// closest position, break through, outside of the map.
const moveFlags = cc.FindClosest | cc.BreakThrough | cc.MoveOutside

const (
	halfTypes     = cc.Types / 2
	outsideChoice = side + 1 // choice of both coordinates of a build outside of the map
	closeRange    = 160      // ranges up to this have their own choices; the greatest distance of two cells is 158
)

// farRanges has the greater ranges with choices.
var farRanges = [...]uint16{200, 255, 256, 300, 400, 500, 999, 1000, 6400, 9999, 10000, 65535}

// headSizes has the number of choices of each head.
var headSizes = [headsOfSlot]int{
	headOrder: choices,
	headMove:  1 + 8, headMoveX: 1 + side, headMoveY: 1 + side,
	headBuild: 1 + cc.Types, headBuildX: 2 + side, headBuildY: 2 + side,
	headTargetX: 1 + side, headTargetY: 1 + side,
	headLow: 1 << halfTypes, headHigh: 1 << (cc.Types - halfTypes), headRange: 2 + closeRange + len(farRanges),
	headRepairX: 1 + side, headRepairY: 1 + side,
}

// observer has the parts of a state that a seat sees. It finds the cells in sight at the first use.
type observer struct {
	a      *Actions
	s      *cc.State
	p      sim.Player
	looked bool
	seen   bitboard.Square // cells in sight, if looked
}

// look finds the cells in sight.
func (e *observer) look() {
	if !e.looked {
		e.a.game.Sight(&e.seen, e.s, e.p)
		e.looked = true
	}
}

// inSight reports whether a square of the map is in sight. It first checks the sight of entity u
// alone, which nearly always sees the square.
func (e *observer) inSight(u *cc.Unit, x, y, size int) bool {
	if !e.a.rules.Fog || e.a.gapTo(u, x, y, size) <= int(e.a.rules.Types[u.Type].Sight) {
		return true
	}
	e.look()
	return e.seen.MeetsSquare(x, y, size)
}

// cellOf returns the lowest corner, as seen, of the entity with that id, and whether it exists and is
// in sight.
func (e *observer) cellOf(u *cc.Unit, id uint32) (x, y int, ok bool) {
	size := 1
	if i := e.s.Find(id); i >= 0 {
		w := &e.s.Units[i]
		x, y, size = int(w.X), int(w.Y), e.a.types[w.Type].size
		ok = w.Owner == e.p || e.inSight(u, x, y, size)
	} else if x, y, ok = e.s.ResourceAt(id); ok {
		ok = e.s.Health[cc.CellOf(x, y)] != 0 && e.inSight(u, x, y, 1)
	}
	x, y = cc.Turn(e.p, x, y, size)
	return x, y, ok
}

// entityAt returns the entity on a cell of the player's frame, and whether there is one in sight.
func (e *observer) entityAt(u *cc.Unit, x, y int) (id uint32, ok bool) {
	x, y = cc.TurnBack(e.p, x, y, 1)
	cell := cc.CellOf(x, y)
	if i := e.s.At[cell]; i != 0 {
		w := &e.s.Units[(i-1)%cc.MaxUnits]
		return w.ID, w.Owner == e.p || e.inSight(u, int(w.X), int(w.Y), e.a.types[w.Type].size)
	}
	return e.s.ResourceID(x, y), e.s.Health[cell] != 0 && e.inSight(u, x, y, 1)
}

// parts has the choices of one slot.
type parts struct {
	action []int32 // the choices of all heads
	slot   int
}

// at returns the choice of a head.
func (l parts) at(head int) int { return int(l.action[head*slots+l.slot]) }

func (l parts) put(head, choice int) { l.action[head*slots+l.slot] = int32(choice) }

// pair returns the cell of two heads.
func (l parts) pair(headX int) (x, y int, ok bool) {
	x, y = l.at(headX)-1, l.at(headX+1)-1
	return x, y, uint(x) < side && uint(y) < side
}

// set returns the set of types of a head.
func (l parts) set(head int) cc.TypeSet {
	if c := l.at(head); uint(c) < uint(headSizes[head]) {
		return cc.TypeSet(c)
	}
	return 0
}

func (l parts) putPair(headX, x, y int) {
	l.put(headX, x+1)
	l.put(headX+1, y+1)
}

// decode returns the action of the heads of an entity's slot. It leaves out parts with an incomplete
// set of heads.
func (e *observer) decode(u *cc.Unit, l parts) (act cc.Action) {
	act.Parts = cc.Given
	if m := l.at(headMove) - 1; uint(m) < 8 {
		if x, y, ok := l.pair(headMoveX); ok {
			how := cc.Parts(m) * cc.FindClosest
			if x > 0 && y > 0 && x < side-1 && y < side-1 { // nearest to no place outside of the map
				how &^= cc.MoveOutside
			}
			x, y = cc.TurnBack(e.p, x, y, 1)
			act.AddMove(x, y, how)
		}
	}
	if t := l.at(headBuild) - 1; uint(t) < cc.Types {
		x, y, ok := l.pair(headBuildX)
		if ok {
			x, y = cc.TurnBack(e.p, x, y, e.a.types[t].size)
		} else {
			ok = l.at(headBuildX) == outsideChoice && l.at(headBuildY) == outsideChoice
		}
		if ok {
			act.AddBuild(cc.Type(t), x, y)
		}
	}
	if x, y, ok := l.pair(headTargetX); ok {
		if id, ok := e.entityAt(u, x, y); ok {
			act.AddTarget(id)
		}
	}
	valid := l.set(headLow) | l.set(headHigh)<<halfTypes
	if r, ok := rangeOf(l.at(headRange)); ok && valid != 0 {
		act.AddAuto(int(r), valid)
	}
	if x, y, ok := l.pair(headRepairX); ok {
		if id, ok := e.entityAt(u, x, y); ok {
			act.AddRepair(id)
		}
	}
	return act
}

// rangeOf returns the pathfind range of a choice.
func rangeOf(c int) (r uint16, ok bool) {
	switch {
	case c < 1 || c >= headSizes[headRange]:
		return 0, false
	case c <= 1+closeRange:
		return uint16(c - 1), true
	}
	return farRanges[c-2-closeRange], true
}

// encode writes the choices for an action of an entity, and reports whether all of its parts have
// choices.
func (e *observer) encode(l parts, u *cc.Unit, act *cc.Action) bool {
	l.put(headOrder, choiceParts)
	ok := true
	if act.Parts&cc.HasMove != 0 {
		x, y := cc.Turn(e.p, int(act.MoveX), int(act.MoveY), 1)
		l.put(headMove, 1+int(act.Parts&moveFlags/cc.FindClosest))
		l.putPair(headMoveX, x, y)
	}
	if act.Parts&cc.HasBuild != 0 {
		ok = e.encodeBuild(l, act)
	}
	if act.Parts&cc.HasTarget != 0 {
		x, y, there := e.cellOf(u, act.Target)
		ok = l.encodeCell(headTargetX, x, y, there) && ok
	}
	if act.Parts&cc.HasAuto != 0 {
		l.put(headLow, int(act.Valid&(1<<halfTypes-1)))
		l.put(headHigh, int(act.Valid>>halfTypes))
		c, there := choiceOfRange(act.Range)
		l.put(headRange, c)
		ok = ok && there
	}
	if act.Parts&cc.HasRepair != 0 {
		x, y, there := e.cellOf(u, act.Repair)
		ok = l.encodeCell(headRepairX, x, y, there) && ok
	}
	return ok
}

// encodeBuild writes the choices of a build. A square that is partly outside of the map may have its
// lowest corner, as seen, outside.
func (e *observer) encodeBuild(l parts, act *cc.Action) bool {
	if act.BuildType >= cc.Types {
		l.put(headBuild, -1)
		return l.encodeCell(headBuildX, 0, 0, false)
	}
	l.put(headBuild, 1+int(act.BuildType))
	if act.BuildX >= side || act.BuildY >= side {
		return l.encodeCell(headBuildX, outsideChoice-1, outsideChoice-1, true)
	}
	x, y := cc.Turn(e.p, int(act.BuildX), int(act.BuildY), e.a.types[act.BuildType].size)
	return l.encodeCell(headBuildX, x, y, x >= 0 && y >= 0)
}

// encodeCell writes the choices of two heads for a cell, −1 if the cell has no choices.
func (l parts) encodeCell(headX, x, y int, ok bool) bool {
	if !ok {
		x, y = -2, -2
	}
	l.putPair(headX, x, y)
	return ok
}

// choiceOfRange returns the choice for a pathfind range.
func choiceOfRange(r uint16) (c int, ok bool) {
	if r <= closeRange {
		return 1 + int(r), true
	}
	for k, n := range farRanges {
		if n == r {
			return 2 + closeRange + k, true
		}
	}
	return -1, false
}

// clear resets all choices of a slot.
func (l parts) clear() {
	for head := range headsOfSlot {
		l.put(head, 0)
	}
}
