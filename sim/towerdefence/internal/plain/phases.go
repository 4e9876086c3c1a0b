package plain

import (
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// construct advances the construction of all buildings (3.2).
func (g *Game) construct() {
	for i := range g.Buildings {
		g.Buildings[i].BuildTime--
	}
}

// updateCurtains makes the curtains available (3.4) and counts active ones down
// (3.5).
func (g *Game) updateCurtains() {
	period := g.Rules.CurtainResetPeriod
	reset := g.Round > 0 && period > 0 && g.Round%period == 0
	for i := range g.Players {
		p := &g.Players[i]
		if reset {
			p.CurtainAvailable = true
			p.CurtainTime = max(0, p.CurtainTime)
		}
		p.CurtainTime--
	}
}

// fireTeslas lets all finished towers shoot, the oldest first (3.7 to 3.13). Of
// two towers of the same age First's shoots first. Towers destroyed by an
// earlier shot still shoot.
func (g *Game) fireTeslas() {
	var towers []int
	for i, b := range g.Buildings {
		if b.Kind == towerdefence.Tesla && finished(b) {
			towers = append(towers, i)
		}
	}
	slices.SortStableFunc(towers, func(i, j int) int { return g.Buildings[i].BuildTime - g.Buildings[j].BuildTime })
	for _, i := range towers {
		tower := &g.Buildings[i]
		owner := &g.Players[tower.Owner]
		switch {
		case tower.Cooldown == 0 && owner.Energy >= g.Rules.TeslaEnergyPerShot:
			owner.Energy -= g.Rules.TeslaEnergyPerShot
			tower.Cooldown = g.Rules.Buildings[towerdefence.Tesla].Cooldown
			g.strike(*tower)
		case tower.Cooldown > 0:
			tower.Cooldown--
		}
	}
}

// strike lets a tower shoot: into the curtain, or at the base and at the
// topmost building of each column in range.
func (g *Game) strike(tower Building) {
	self := Cell{tower.X, tower.Y, tower.Owner}
	victim := opponent(tower.Owner)
	if g.Players[victim].CurtainActive() {
		shield := Cell{front(victim), tower.Y, tower.Owner}
		g.TeslaHits = append(g.TeslaHits, []Cell{self, shield})
		g.CurtainHits = append(g.CurtainHits, shield)
		return
	}
	damage := g.Rules.Buildings[towerdefence.Tesla].Damage
	var hits []Cell
	if tower.X == front(tower.Owner) {
		g.hitBase(victim, damage)
		hits = append(hits, Cell{0, 0, victim})
	}
	for step := 1; step <= g.Rules.Buildings[towerdefence.Tesla].Range; step++ {
		x := tower.X + step*direction(tower.Owner)
		if x < 0 || x >= width {
			break
		}
		for y := tower.Y - 1; y <= tower.Y+1; y++ {
			if i := g.buildingAt(x, y); i >= 0 && g.canBeHit(i, victim) {
				g.hitBuilding(i, damage)
				hits = append(hits, Cell{x, y, victim})
				break
			}
		}
	}
	if len(hits) > 0 {
		g.TeslaHits = append(g.TeslaHits, append(hits, self))
	}
}

// fireAttackBuildings lets the attack buildings that are due shoot (3.14),
// including those that lightning has just destroyed (3.13).
func (g *Game) fireAttackBuildings() {
	for i := range g.Buildings {
		b := &g.Buildings[i]
		if b.Kind != towerdefence.Attack || !finished(*b) {
			continue
		}
		if b.Cooldown > 0 {
			b.Cooldown--
			continue
		}
		g.Fired++
		g.Missiles = append(g.Missiles, Missile{b.X, b.Y, b.Owner, g.Fired})
		b.Cooldown = g.Rules.Buildings[towerdefence.Attack].Cooldown
	}
}

// moveMissiles moves all missiles by one step (3.15 to 3.20).
func (g *Game) moveMissiles() {
	var flying []Missile
	for _, m := range g.Missiles {
		if m.X += direction(m.Owner); g.staysInFlight(m) {
			flying = append(flying, m)
		}
	}
	g.Missiles = flying
}

// staysInFlight carries out the effect of a missile on the cell it has reached,
// and reports whether it flies on.
func (g *Game) staysInFlight(m Missile) bool {
	victim := opponent(m.Owner)
	damage := g.Rules.Buildings[towerdefence.Attack].Damage
	if m.X == front(victim) && g.Players[victim].CurtainActive() {
		g.CurtainHits = append(g.CurtainHits, Cell{m.X, m.Y, m.Owner})
		return false
	}
	if m.X < 0 || m.X >= width {
		g.hitBase(victim, damage)
		return false
	}
	if i := g.buildingAt(m.X, m.Y); i >= 0 && g.canBeHit(i, victim) {
		g.hitBuilding(i, damage)
		return false
	}
	return true
}

// canBeHit reports whether building i is a target for the opponent of owner.
func (g *Game) canBeHit(i int, owner sim.Player) bool {
	b := g.Buildings[i]
	return b.Owner == owner && finished(b) && b.Health > 0
}

// hitBase damages the base of victim; the opponent scores the health removed.
func (g *Game) hitBase(victim sim.Player, damage int) {
	done := min(damage, g.Players[victim].Health)
	g.Players[victim].Health -= done
	g.Players[victim].HitsTaken++
	g.Players[opponent(victim)].score(done * g.Rules.HealthScoreMultiplier)
}

// hitBuilding damages building i; the opponent scores the health removed.
func (g *Game) hitBuilding(i, damage int) {
	b := &g.Buildings[i]
	done := min(damage, b.Health)
	b.Health -= done
	g.Players[opponent(b.Owner)].score(done * g.Rules.Buildings[b.Kind].DestroyMultiplier)
}

// removeRuins removes the buildings without health (3.21).
func (g *Game) removeRuins() {
	var standing []Building
	for _, b := range g.Buildings {
		if b.Health > 0 {
			standing = append(standing, b)
		}
	}
	g.Buildings = standing
}

// payIncome pays both players (3.22).
func (g *Game) payIncome() {
	for i := range g.Players {
		income := g.Rules.RoundIncome
		for _, b := range g.Buildings {
			if b.Owner == sim.Player(i) && b.Kind == towerdefence.Energy && finished(b) {
				income += g.Rules.Buildings[towerdefence.Energy].EnergyPerTurn
			}
		}
		g.Players[i].Energy += income
		g.Players[i].score(income * g.Rules.EnergyScoreMultiplier)
	}
}
