package plain

import (
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// Restore ends the turn (3.16 to 3.20, 5.3) with decay, income and removals. It does nothing if the
// match is over. After the last turn it pays income but removes nothing.
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

// growth returns the bits that players get beyond BitsPerTurn.
func (g *Game) growth() float32 {
	r := &g.Rules
	turn := int32(g.Turn)
	if turn < r.GrowthStart || r.GrowthInterval <= 0 {
		return 0
	}
	return float32(r.BitGrowth * float32(1+(turn-r.GrowthStart)/r.GrowthInterval))
}

// given returns the resources that a player's structures give. It adds them kind by kind, like the
// lists of the frames; no recording shows the original's order.
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

// removals removes the structures whose turns are over and pays refunds.
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
