package terminal

import "moonfarm/sim"

// Exchange sums up an action phase, by player.
type Exchange struct {
	Breaches   [2]int32   // units of the player that scored
	Health     [2]float32 // health the player lost by breaches of the enemy
	Cores      [2]float32 // cores it earned by its own
	Structures [2]int32   // structures it lost …
	Value      [2]float32 // … what it had paid for them, in cores …
	Damage     [2]float32 // … and health lost by all its structures, those that fell and those that stand
}

// Simulate plays the deployment and the action phase of s with the orders of
// both sides and leaves in dst the state at its end, before the restore (which
// is Restore's: the game may go on from there). s is not changed, and dst may
// be s. It is what a search inside a player asks again and again: it allocates
// nothing, and costs a copy of the state more than the turn itself.
func (g *Game) Simulate(dst, s *State, t *sim.Turn) Exchange {
	if dst != s {
		*dst = *s
	}
	g.Deploy(dst, t)
	var x Exchange
	for p := range 2 {
		x.Health[p], x.Cores[p] = dst.Health[p], dst.Cores[p]
		x.count(g, dst, p, 1)
	}
	g.scored = [2]int32{}
	g.Action(dst)
	for p := range 2 {
		x.Health[p] -= dst.Health[p]
		x.Cores[p] = dst.Cores[p] - x.Cores[p]
		x.count(g, dst, p, -1)
	}
	x.Breaches = g.scored
	return x
}

// count adds the structures of a player, or with sign −1 takes them off.
func (x *Exchange) count(g *Game, s *State, p int, sign int32) {
	for k := range s.Ages[p] {
		list := &s.Ages[p][k]
		x.Structures[p] += sign * int32(list.N)
		for _, local := range list.Cell[:list.N] {
			c := s.Cells[localCell[p][local]]
			paid := g.rules.Units[k].Cores
			if c.Upgraded() {
				paid += g.rules.Upgraded[k].Cores
			}
			x.Value[p] += float32(float32(sign) * paid)
			x.Damage[p] += float32(float32(sign) * c.Health)
		}
	}
}
