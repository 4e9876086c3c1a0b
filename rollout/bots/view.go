package bots

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire"
)

// fixed fills in what is the same in all views of a game.
func fixed(v *wire.PlayerView, r *codecraft.Rules, p sim.Player) {
	*v = wire.PlayerView{
		MyID: int32(p) + 1, MapSize: codecraft.Side, FogOfWar: r.Fog,
		MaxTickCount: r.MaxTurns, MaxPathfindNodes: r.MaxNodes,
	}
	for t := range codecraft.Type(codecraft.Types) {
		v.EntityProperties = append(v.EntityProperties, wire.TypeProperties{Type: t, EntityProperties: propertiesOf(&r.Types[t])})
	}
}

func propertiesOf(p *codecraft.Properties) wire.EntityProperties {
	e := wire.EntityProperties{
		Size: p.Size, BuildScore: p.BuildScore, DestroyScore: p.DestroyScore, CanMove: p.CanMove,
		PopulationProvide: p.PopProvide, PopulationUse: p.PopUse, MaxHealth: p.MaxHealth, InitialCost: p.Cost,
		SightRange: p.Sight, ResourcePerHealth: p.Yield,
	}
	if p.CanBuild {
		e.Build = wire.Some(wire.BuildProperties{Options: p.Builds.All()})
		if p.InitHealth != 0 {
			e.Build.Value.InitHealth = wire.Some(p.InitHealth)
		}
	}
	if p.CanAttack {
		e.Attack = wire.Some(wire.AttackProperties{AttackRange: p.Range, Damage: p.Damage, CollectResource: p.Collects})
	}
	if p.CanRepair {
		e.Repair = wire.Some(wire.RepairProperties{ValidTargets: p.Repairs.All(), Power: p.Power})
	}
	return e
}

// look fills in what player p sees now.
func look(v *wire.PlayerView, g *codecraft.Game, r *codecraft.Rules, s *codecraft.State, p sim.Player) {
	v.CurrentTick = s.Tick
	v.Players = v.Players[:0]
	for q := range r.Players {
		v.Players = append(v.Players, wire.Player{ID: q + 1, Score: s.Score[q], Resource: s.Resource[q]})
	}
	var seen bitboard.Square
	if r.Fog {
		g.Sight(&seen, s, p)
	}
	v.Entities = v.Entities[:0]
	veins := false
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if !veins && u.ID > s.FirstID { // ids of resources lie between those of the start and the rest
			veins = true
			lookAtVeins(v, r, s, p, &seen)
		}
		size := int(r.Types[u.Type].Size)
		if r.Fog && u.Owner != p && !seen.MeetsSquare(int(u.X), int(u.Y), size) {
			continue
		}
		x, y := codecraft.Turn(p, int(u.X), int(u.Y), size)
		v.Entities = append(v.Entities, wire.Entity{
			ID: int32(u.ID), PlayerID: wire.Some(int32(u.Owner) + 1), Type: u.Type,
			X: int32(x), Y: int32(y), Health: int32(u.Health), Active: u.Active,
		})
	}
	if !veins {
		lookAtVeins(v, r, s, p, &seen)
	}
}

func lookAtVeins(v *wire.PlayerView, r *codecraft.Rules, s *codecraft.State, p sim.Player, seen *bitboard.Square) {
	for x := range codecraft.Side {
		for y := range codecraft.Side {
			health := s.Health[codecraft.CellOf(x, y)]
			if health == 0 || r.Fog && !seen.Has(x, y) {
				continue
			}
			vx, vy := codecraft.Turn(p, x, y, 1)
			v.Entities = append(v.Entities, wire.Entity{
				ID: int32(s.ResourceID(x, y)), Type: codecraft.Resource,
				X: int32(vx), Y: int32(vy), Health: int32(health), Active: true,
			})
		}
	}
}
