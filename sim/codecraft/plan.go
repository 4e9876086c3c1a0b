package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Steps is a set of directions: bit 0 +x, bit 1 −x, bit 2 +y, bit 3 −y.
type Steps uint8

// stepX and stepY are the directions of Steps.
var (
	stepX = [4]int{1, -1, 0, 0}
	stepY = [4]int{0, 0, 1, -1}
)

// aim is whom a unit attacks by its attack action.
type aim uint8

const (
	aimNone   aim = iota
	aimTarget     // the target of its action is in range
	aimAuto       // a valid target of its auto attack is in range
)

// plan is what Plan finds out.
type plan struct {
	aim   [MaxUnits]aim
	steps [MaxUnits]Steps
	sight [sim.MaxPlayers]bitboard.Square // under fog
	open  [sim.MaxPlayers]bitboard.Square // cells that are free as the player sees them
	aims  aims
	paths paths
}

// Plan finds out what the units may do in s with their stored actions: whom
// they may attack and what their next cells may be. Steps and AppendVictims
// tell it until the next Plan or Step. Step begins with it.
func (g *Game) Plan(s *State) {
	g.look(s)
	g.aims.clear()
	g.paths.clear()
	for i := range s.Units[:s.N] {
		g.aim[i], g.steps[i] = aimNone, 0
		u, a := &s.Units[i], &s.Acts[i]
		if !u.Active || a.Parts&(HasTarget|HasAuto) == 0 {
			continue
		}
		t := &g.rules.Types[u.Type]
		if !t.CanAttack {
			continue
		}
		if g.aim[i] = g.takeAim(s, u, a, t); g.aim[i] == aimNone && t.CanMove && a.Parts&HasAuto != 0 {
			g.chase(s, i, u, a, t)
		}
	}
	for i := range g.aims.list[:g.aims.n] {
		g.hunt(s, &g.aims.list[i])
	}
	for i := range s.Units[:s.N] {
		u, a := &s.Units[i], &s.Acts[i]
		if a.Parts&HasMove != 0 && g.aim[i] == aimNone && g.steps[i] == 0 && u.Active && g.rules.Types[u.Type].CanMove {
			g.steps[i] = g.towards(s, i, u, a)
		}
	}
	g.walk(s)
}

// Steps returns the directions in which the next cell of unit i may lie: the
// first steps of all paths that are as good as any (RULES.md, 3.11). Units that
// do not move at all, or attack before they would, have none.
func (g *Game) Steps(i int) Steps { return g.steps[i] }

// AppendVictims appends the ids of those that unit i may attack by its attack
// action, in ascending order: one if its target is in range, else the valid
// targets of its auto attack in range. Whom it attacks because it stands in the
// way, Steps tells.
func (g *Game) AppendVictims(dst []uint32, s *State, i int) []uint32 {
	switch g.aim[i] {
	case aimTarget:
		return append(dst, s.Acts[i].Target)
	case aimAuto:
		for _, v := range g.candidates(s, i) {
			dst = append(dst, v.id)
		}
	}
	return dst
}

// look finds out what the players see: sight and open.
func (g *Game) look(s *State) {
	for p := range sim.Player(g.rules.Players) {
		if !g.rules.Fog {
			g.open[p].Flip(&s.Occupied)
			continue
		}
		g.Sight(&g.sight[p], s, p)
		seen := s.Occupied
		seen.And(&g.sight[p])
		g.open[p].Flip(&seen)
	}
}

// sees tells whether player p sees the unit, or there is no need to.
func (g *Game) sees(p sim.Player, u *Unit) bool {
	return !g.rules.Fog || g.rules.ChaseUnseen || g.sight[p].MeetsSquare(int(u.X), int(u.Y), int(g.rules.Types[u.Type].Size))
}

// gap is the distance between two squares: RULES.md, 2.2.
func gap(ax, ay, asize, bx, by, bsize int) int {
	return max(bx-(ax+asize-1), ax-(bx+bsize-1), 0) + max(by-(ay+asize-1), ay-(by+bsize-1), 0)
}
