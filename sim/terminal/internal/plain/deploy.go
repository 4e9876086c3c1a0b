package plain

import (
	"math"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// Deploy carries out the orders of both players (4.1 to 4.9): the referee's orders first, then the
// lines of the players' answers.
func (g *Game) Deploy(orders [2][]sim.Order) {
	g.Events, g.Mobile, g.frames = terminal.Events{}, nil, 0
	for p := range sim.Player(2) {
		for _, o := range orders[p] {
			g.referee(p, terminal.Decode(o))
		}
	}
	for line := 1; line <= 2; line++ {
		for p := range sim.Player(2) {
			for _, o := range orders[p] {
				if c := terminal.Decode(o); lineOf(c) == line {
					g.carryOut(p, c)
				}
			}
		}
	}
	g.forgetFields()
}

// lineOf returns the line of a bot's answer that has a command.
func lineOf(c terminal.Command) int {
	line := 1
	if c.Op == terminal.OpSpawn {
		line = 2
	}
	if c.Swapped {
		line = 3 - line
	}
	return line
}

func (g *Game) referee(p sim.Player, c terminal.Command) {
	switch c.Op {
	case terminal.OpClock:
		g.Players[p].Time += min(c.Count, math.MaxUint32-g.Players[p].Time)
	case terminal.OpPenalty:
		if health := math.Float32frombits(c.Count); health > 0 && health <= 1e7 {
			g.Players[p].Health -= health
			if g.Rules.OldIDs && !g.Rules.FreePenalties { // 5.5: pays the other player like a breach
				g.Players[1-p].Cores += g.Rules.Units[terminal.Scout].BreachCores
			}
		}
	}
}

func (g *Game) carryOut(p sim.Player, c terminal.Command) {
	at := Pos{int(c.X), int(c.Y)}
	if !at.inside() {
		return
	}
	switch c.Op {
	case terminal.OpPlace:
		g.place(p, c.Kind, at)
	case terminal.OpUpgrade:
		g.upgrade(p, at)
	case terminal.OpRemove:
		g.remove(p, at)
	case terminal.OpSpawn:
		for range c.Count {
			if !g.spawn(p, c.Kind, at) {
				return
			}
		}
	}
}

// own reports whether the cell lies on the half of player p.
func own(p sim.Player, at Pos) bool { return (at.Y < side/2) == (p == 0) }

func (g *Game) place(p sim.Player, k terminal.Kind, at Pos) {
	if k > terminal.Turret || !own(p, at) || g.structure(at) != nil || g.mobileAt(at) {
		return
	}
	v := &g.Rules.Units[k]
	if g.Players[p].Cores < v.Cores {
		return
	}
	g.Players[p].Cores = round(g.Players[p].Cores - v.Cores)
	shown := g.takeID()
	id := shown
	if g.Rules.OldIDs {
		id = g.takeID()
	}
	u := &Unit{ID: id, Kind: k, Player: p, At: at, Base: v.Health, values: v}
	g.Structures = append(g.Structures, u)
	g.grid[at.Y][at.X] = u
	g.spawned(p, k, at, shown)
}

func (g *Game) mobileAt(at Pos) bool {
	return slices.ContainsFunc(g.Mobile, func(u *Unit) bool { return u.At == at })
}

// upgrade upgrades a structure (4.5), which becomes the youngest unit. It still lacks the health that
// it had lost, and is no longer marked for removal.
func (g *Game) upgrade(p sim.Player, at Pos) {
	u := g.structure(at)
	if u == nil || u.Player != p || u.Upgraded || !g.Rules.Upgradable[u.Kind] {
		return
	}
	base, better := &g.Rules.Units[u.Kind], &g.Rules.Upgraded[u.Kind]
	if g.Players[p].Cores < better.Cores {
		return
	}
	g.Players[p].Cores = round(g.Players[p].Cores - better.Cores)
	more := better.Health - base.Health
	u.Base += more
	u.ID, u.Upgraded, u.RemoveIn, u.values = g.takeID(), true, 0, better
	g.Structures = slices.DeleteFunc(g.Structures, func(s *Unit) bool { return s == u })
	g.Structures = append(g.Structures, u)
	shown := terminal.Upgrade
	if g.Rules.UpgradeAsKind {
		shown = u.Kind
	}
	g.spawned(p, shown, at, u.ID)
	if !g.alive(u) {
		g.died(u)
	}
}

func (g *Game) remove(p sim.Player, at Pos) {
	u := g.structure(at)
	if u == nil || u.Player != p || u.RemoveIn > 0 {
		return
	}
	u.RemoveIn = int(u.values.RemoveTurns)
	shown := u.ID
	if g.Rules.OldIDs {
		shown = g.takeID()
	}
	g.spawned(p, terminal.Removal, at, shown)
}

// spawn puts one mobile unit on the board. It returns false if the rules reject it.
func (g *Game) spawn(p sim.Player, k terminal.Kind, at Pos) bool {
	if k < terminal.Scout || k > terminal.Interceptor {
		return false
	}
	start, ok := edgeAt(at)
	if !ok || !own(p, at) || g.structure(at) != nil {
		return false
	}
	v := &g.Rules.Units[k]
	if g.Players[p].Bits < v.Bits {
		return false
	}
	g.Players[p].Bits = round(g.Players[p].Bits - v.Bits)
	u := &Unit{ID: g.takeID(), Kind: k, Player: p, At: at, Base: v.Health, Target: start.opposite(), values: v}
	g.Mobile = append(g.Mobile, u)
	g.spawned(p, k, at, u.ID)
	return true
}

func (g *Game) spawned(p sim.Player, k terminal.Kind, at Pos, id uint32) {
	g.Events.Spawns = append(g.Events.Spawns, terminal.SpawnEvent{At: at.event(), Kind: k, Player: p, ID: id})
}
