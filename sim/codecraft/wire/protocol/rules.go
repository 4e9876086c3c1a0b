package protocol

import (
	"errors"
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Rules returns base with the rules in the header, the properties and the number of players.
// It fails if they are no rules of a game.
func (h *Header) Rules(base codecraft.Rules, properties PropertyMap, players int) (codecraft.Rules, error) {
	base.Players, base.Fog, base.MaxTurns, base.MaxNodes = int32(players), h.FogOfWar, h.MaxTickCount, h.MaxPathfindNodes
	if players < 1 || players > sim.MaxPlayers {
		return base, fmt.Errorf("found %d players, expected 1 to %d", players, sim.MaxPlayers)
	}
	err := readProperties(&base, properties)
	return base, err
}

// readProperties sets the numbers of all types in r.
func readProperties(r *codecraft.Rules, list []TypeProperties) error {
	known := codecraft.TypeSet(0)
	for i := range list {
		t := list[i].Type
		if known.Has(t) {
			return fmt.Errorf("the properties of %s appear twice", t)
		}
		known |= 1 << t
		var err error
		if r.Types[t], err = list[i].properties(); err != nil {
			return fmt.Errorf("properties of %s: %w", t, err)
		}
	}
	if known != codecraft.EveryType {
		return fmt.Errorf("found properties of %d types, expected %d", len(list), codecraft.Types)
	}
	return r.Validate()
}

// properties returns the numbers in the form of codecraft.Rules.
func (e *EntityProperties) properties() (q codecraft.Properties, err error) {
	q = codecraft.Properties{
		Size: e.Size, BuildScore: e.BuildScore, DestroyScore: e.DestroyScore, CanMove: e.CanMove,
		PopProvide: e.PopulationProvide, PopUse: e.PopulationUse, MaxHealth: e.MaxHealth,
		Cost: e.InitialCost, Sight: e.SightRange, Yield: e.ResourcePerHealth,
		CanBuild: e.Build.Given, CanAttack: e.Attack.Given, CanRepair: e.Repair.Given,
	}
	if b := &e.Build.Value; q.CanBuild {
		if b.InitHealth.Given && b.InitHealth.Value == 0 {
			return q, errors.New("build.init_health is 0, expected 1 or more")
		}
		q.InitHealth = b.InitHealth.Value
		if q.Builds, err = typeList(b.Options); err != nil {
			return q, fmt.Errorf("build.options: %w", err)
		}
	}
	if a := &e.Attack.Value; q.CanAttack {
		q.Range, q.Damage, q.Collects = a.AttackRange, a.Damage, a.CollectResource
	}
	if r := &e.Repair.Value; q.CanRepair {
		q.Power = r.Power
		if q.Repairs, err = typeList(r.ValidTargets); err != nil {
			return q, fmt.Errorf("repair.valid_targets: %w", err)
		}
	}
	return q, nil
}

func typeList(types []codecraft.Type) (l codecraft.TypeList, err error) {
	set := codecraft.TypeSet(0)
	for _, t := range types {
		if set.Has(t) {
			return l, fmt.Errorf("%s appears twice", t)
		}
		set |= 1 << t
	}
	return codecraft.ListOf(types...), nil
}

// HeaderOf returns the header of a state under rules.
func HeaderOf(r *codecraft.Rules, s *codecraft.State) Header {
	return Header{codecraft.Side, r.Fog, r.MaxTurns, r.MaxNodes, s.Tick}
}

// PropertiesOf returns the numbers of all types in the order of the types; the original writes
// them in any order.
func PropertiesOf(r *codecraft.Rules) (m PropertyMap) {
	for t := range r.Types {
		p := &r.Types[t]
		q := EntityProperties{
			Size: p.Size, BuildScore: p.BuildScore, DestroyScore: p.DestroyScore, CanMove: p.CanMove,
			PopulationProvide: p.PopProvide, PopulationUse: p.PopUse, MaxHealth: p.MaxHealth,
			InitialCost: p.Cost, SightRange: p.Sight, ResourcePerHealth: p.Yield,
		}
		if p.CanBuild {
			q.Build = Some(BuildProperties{slices.Clone(p.Builds.All()), Optional[int32]{p.InitHealth != 0, p.InitHealth}})
		}
		if p.CanAttack {
			q.Attack = Some(AttackProperties{p.Range, p.Damage, p.Collects})
		}
		if p.CanRepair {
			q.Repair = Some(RepairProperties{slices.Clone(p.Repairs.All()), p.Power})
		}
		m = append(m, TypeProperties{codecraft.Type(t), q})
	}
	return m
}
