package plain

import (
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// Restore ends the turn (3.16 to 3.20, 5.3): nothing more happens in a game
// that is over; otherwise the next turn begins with decay, income and
// removals. At the limit of turns the income is the last of the game, and what
// is marked stands.
func (g *Game) Restore() sim.Status {
	g.Removed = nil
	if g.over() {
		return sim.Over
	}
	g.Turn++
	for p := range sim.Player(2) {
		g.income(p)
	}
	if g.Turn >= uint32(g.Rules.MaxTurns) {
		return sim.Over
	}
	g.removals()
	return sim.Running
}

func (g *Game) income(p sim.Player) {
	r, player := &g.Rules, &g.Players[p]
	kept := 1 - r.BitDecay
	player.Bits = round(float32(player.Bits * kept))

	givenBits, givenCores := g.given(p)
	player.Bits += r.BitsPerTurn + g.growth() + givenBits
	if r.CapBits && r.CapInterval > 0 {
		more := float32(r.CapGrowth * float32(int32(g.Turn)/r.CapInterval))
		player.Bits = min(player.Bits, r.MaxBits+more)
	}
	player.Cores += r.CoresPerTurn + givenCores
}

// growth is what players get in bits beyond BitsPerTurn.
func (g *Game) growth() float32 {
	r := &g.Rules
	turn := int32(g.Turn)
	if turn < r.GrowthStart || r.GrowthInterval <= 0 {
		return 0
	}
	return float32(r.BitGrowth * float32(1+(turn-r.GrowthStart)/r.GrowthInterval))
}

// given is what a player's structures give, added up kind by kind like the
// lists of the frames. No recording tells the order.
func (g *Game) given(p sim.Player) (bits, cores float32) {
	for k := range terminal.Kind(terminal.Structures) {
		for _, s := range g.Structures {
			if s.Player == p && s.Kind == k && (s.RemoveIn != 1 || g.Rules.RemovedGive) {
				bits += s.values.GivesBits
				cores += s.values.GivesCores
			}
		}
	}
	return bits, cores
}

// removals takes away the structures whose time has come and pays for them.
func (g *Game) removals() {
	g.Structures = slices.DeleteFunc(g.Structures, func(u *Unit) bool {
		if u.RemoveIn == 0 {
			return false
		}
		u.RemoveIn--
		if u.RemoveIn > 0 {
			return false
		}
		paid := g.Rules.Units[u.Kind].Cores
		if u.Upgraded {
			paid += g.Rules.Upgraded[u.Kind].Cores
		}
		back := float32(float32(u.values.Refund*paid)*u.Base) / u.values.Health
		g.Players[u.Player].Cores = round(g.Players[u.Player].Cores + back)
		g.grid[u.At.Y][u.At.X] = nil
		g.Removed = append(g.Removed, terminal.DeathEvent{At: u.At.event(), Kind: u.Kind, Player: u.Player, ID: u.ID, Removed: true})
		return true
	})
}
