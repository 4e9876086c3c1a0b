package codecraft

import "moonfarm/sim"

// status tells whether the game is over (RULES.md, 7), and gives the bonus.
func (g *Game) status(s *State) sim.Status {
	left, last := 0, 0
	for p := range int(g.rules.Players) {
		if g.lives(s, p) {
			left, last = left+1, p
		}
	}
	solo := g.rules.Players == 1 && !g.rules.SoloEnds
	if left > 1 || solo {
		if s.Tick >= g.rules.MaxTurns {
			return sim.Over
		}
		return sim.Running
	}
	if left == 1 && g.rules.Bonus {
		best := s.Score[last]
		for p, score := range s.Score[:g.rules.Players] {
			if p != last && score+g.rules.BonusOver > best {
				best = score + g.rules.BonusOver
			}
		}
		s.Score[last] = best
	}
	return sim.Over
}

// lives tells whether a player is left.
func (g *Game) lives(s *State, p int) bool {
	n := int16(0)
	for t, c := range s.Count[p] {
		if !g.rules.WallsDoNotLive || Type(t) != Wall && Type(t) != House {
			n += c
		}
	}
	return n > 0
}
