package codecraft

import "moonfarm/sim"

// status tells whether the game is over (RULES.md, 5), and gives the bonus.
func (g *Game) status(s *State) sim.Status {
	left, last := g.left(s)
	if !g.Over(s) {
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

// Over tells whether the game that led to s is over: Step has said so. Bonus and
// outcome are settled then.
func (g *Game) Over(s *State) bool {
	left, _ := g.left(s)
	solo := g.rules.Players == 1 && !g.rules.SoloEnds
	return s.Tick >= g.rules.MaxTurns || left <= 1 && !solo
}

// left counts the players that are left, and tells the last of them.
func (g *Game) left(s *State) (n, last int) {
	for p := range int(g.rules.Players) {
		if g.lives(s, p) {
			n, last = n+1, p
		}
	}
	return n, last
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
