package codecraft

import "moonfarm/sim/bitboard"

// Steps is a set of directions: bit 0 +x, bit 1 −x, bit 2 +y, bit 3 −y.
type Steps uint8

// stepX and stepY are the directions of Steps.
var (
	stepX = [4]int{1, -1, 0, 0}
	stepY = [4]int{0, 0, 1, -1}
)

// plan is what Plan finds out.
type plan struct {
	steps [MaxUnits]Steps
	seen  [4]bitboard.Square
}

// Plan finds out what the units may do in s with their stored actions: whom
// they may attack and what their next cells may be. Steps and AppendVictims
// tell it until the next Plan or Step. Step begins with it.
func (g *Game) Plan(s *State) {}

// Steps returns the directions in which the next cell of unit i may lie: the
// first steps of all paths that are as good as any (RULES.md, 3). Units that
// do not move at all, or attack before they would, have none.
func (g *Game) Steps(i int) Steps { return g.plan.steps[i] }

// AppendVictims appends the ids of those that unit i may attack by its attack
// action, in ascending order: one if its target is in range, else the valid
// targets of its auto attack in range. Whom it attacks because it stands in the
// way, Steps tells.
func (g *Game) AppendVictims(dst []uint32, s *State, i int) []uint32 { return dst }
