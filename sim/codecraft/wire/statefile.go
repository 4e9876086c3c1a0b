package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// A state file holds a World as a replay file begins with it. It tells
// everything of a game but its seed and those of its rules that the original
// has no names for. So a replay file is a state file, too: that of its start;
// and so is the first line of a recorded game as JSON.

// ReadState reads a state file. The rules are those given, with what the file
// tells of them in place of theirs. The name is for errors.
func ReadState(name string, in io.Reader, base codecraft.Rules) (codecraft.Rules, *codecraft.Position, error) {
	r, err := NewRecording(name, in)
	if err != nil {
		return base, nil, err
	}
	rules, err := r.World.Rules(base)
	p := new(codecraft.Position)
	if err == nil {
		err = r.World.Position(p, &rules)
	}
	if err != nil {
		return base, nil, fmt.Errorf("state %s: %w", name, err)
	}
	return rules, p, nil
}

// LoadState reads a state file and returns the game and the state. The seed,
// which no file has, is left 0.
func LoadState(name string, in io.Reader, base codecraft.Rules) (*codecraft.Game, *codecraft.State, error) {
	rules, p, err := ReadState(name, in, base)
	if err != nil {
		return nil, nil, err
	}
	g, err := codecraft.New(rules)
	s := new(codecraft.State)
	if err == nil {
		err = g.Restore(s, p)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("state %s: %w", name, err)
	}
	return g, s, nil
}

// Rules are base with what the world tells of them.
func (w *World) Rules(base codecraft.Rules) (codecraft.Rules, error) {
	base.Players, base.Fog, base.MaxTurns, base.MaxNodes = int32(len(w.Players)), w.FogOfWar, w.MaxTickCount, w.MaxPathfindNodes
	if n := len(w.Players); n < 1 || n > sim.MaxPlayers {
		return base, fmt.Errorf("found %d players, want 1 to %d", n, sim.MaxPlayers)
	}
	err := readProperties(&base, w.EntityProperties)
	return base, err
}

// readProperties fills in the numbers of all types.
func readProperties(r *codecraft.Rules, list []TypeProperties) error {
	known := codecraft.TypeSet(0)
	for i := range list {
		t := list[i].Type
		if known.Has(t) {
			return fmt.Errorf("the properties of %s are there twice", t)
		}
		known |= 1 << t
		var err error
		if r.Types[t], err = list[i].properties(); err != nil {
			return fmt.Errorf("properties of %s: %w", t, err)
		}
	}
	if known != codecraft.EveryType {
		return fmt.Errorf("found properties of %d types, want %d", len(list), codecraft.Types)
	}
	return r.Validate()
}

// properties are the numbers as rules have them.
func (p *EntityProperties) properties() (q codecraft.Properties, err error) {
	q = codecraft.Properties{
		Size: p.Size, BuildScore: p.BuildScore, DestroyScore: p.DestroyScore, CanMove: p.CanMove,
		PopProvide: p.PopulationProvide, PopUse: p.PopulationUse, MaxHealth: p.MaxHealth,
		Cost: p.InitialCost, Sight: p.SightRange, Yield: p.ResourcePerHealth,
		CanBuild: p.Build.Given, CanAttack: p.Attack.Given, CanRepair: p.Repair.Given,
	}
	if b := &p.Build.Value; q.CanBuild {
		if b.InitHealth.Given && b.InitHealth.Value == 0 {
			return q, errors.New("build.init_health is 0, want 1 or more")
		}
		q.InitHealth = b.InitHealth.Value
		if q.Builds, err = typeList(b.Options); err != nil {
			return q, fmt.Errorf("build.options: %w", err)
		}
	}
	if a := &p.Attack.Value; q.CanAttack {
		q.Range, q.Damage, q.Collects = a.AttackRange, a.Damage, a.CollectResource
	}
	if r := &p.Repair.Value; q.CanRepair {
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
			return l, fmt.Errorf("%s is there twice", t)
		}
		set |= 1 << t
	}
	return codecraft.ListOf(types...), nil
}

// headerOf is the header of what tells of a state.
func headerOf(r *codecraft.Rules, s *codecraft.State) Header {
	return Header{codecraft.Side, r.Fog, r.MaxTurns, r.MaxNodes, s.Tick}
}

// propertiesOf are the numbers of all types, in the order of the types; the
// original has them in any order.
func propertiesOf(r *codecraft.Rules) (m PropertyMap) {
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

// Position fills p with the world; its lists are reused. Actions of entities
// that are not there are left out, as the original ignores them.
func (w *World) Position(p *codecraft.Position, r *codecraft.Rules) error {
	*p = codecraft.Position{Tick: w.CurrentTick, NextID: uint32(w.NextID), Units: p.Units[:0], Acts: p.Acts[:0], Veins: p.Veins[:0]}
	for i, q := range w.Players {
		if int(q.Index) >= len(w.Players) || q.ID != q.Index+1 {
			return fmt.Errorf("found a player with id %d and index %d, want ids from 1 to %d and indices one less", q.ID, q.Index, len(w.Players))
		}
		if slices.ContainsFunc(w.Players[:i], func(o Seat) bool { return o.ID == q.ID }) {
			return fmt.Errorf("player %d is there twice", q.ID)
		}
		p.Score[q.Index], p.Resource[q.Index] = q.Score, q.Resource
	}
	if err := position(p, w.Entities, len(w.Players)); err != nil {
		return err
	}
	acts := map[int32]*EntityAction{}
	for i := range w.Actions {
		acts[w.Actions[i].ID] = &w.Actions[i].EntityAction
	}
	for i := range p.Units {
		p.Acts = append(p.Acts, codecraft.Action{})
		if a := acts[int32(p.Units[i].ID)]; a != nil {
			p.Acts[i] = ActionOf(a, 0, r)
		}
	}
	return nil
}

// position fills in entities.
func position(p *codecraft.Position, list []Entity, players int) error {
	for i := range list {
		e := &list[i]
		switch {
		case e.ID > codecraft.MaxID:
			return fmt.Errorf("entity %d: want ids up to %d", e.ID, codecraft.MaxID)
		case !codecraft.OnMap(int(e.X), int(e.Y), 1):
			return fmt.Errorf("entity %d: (%d, %d) lies outside of the map", e.ID, e.X, e.Y)
		case e.Health < 0 || e.Health > 1<<15-1:
			return fmt.Errorf("entity %d: health %d, want 0 to %d", e.ID, e.Health, 1<<15-1)
		case e.PlayerID.Given == (e.Type == codecraft.Resource):
			return fmt.Errorf("entity %d: resources, and only they, have no player", e.ID)
		case e.PlayerID.Given && (e.PlayerID.Value < 1 || int(e.PlayerID.Value) > players):
			return fmt.Errorf("entity %d: player %d, want 1 to %d", e.ID, e.PlayerID.Value, players)
		case e.Type == codecraft.Resource && !e.Active:
			return fmt.Errorf("entity %d: a resource that is not active", e.ID)
		case e.Type == codecraft.Resource:
			p.Veins = append(p.Veins, codecraft.Vein{ID: uint32(e.ID), Health: int16(e.Health), X: uint8(e.X), Y: uint8(e.Y)})
		default:
			p.Units = append(p.Units, codecraft.Unit{
				ID: uint32(e.ID), Health: int16(e.Health), X: uint8(e.X), Y: uint8(e.Y),
				Type: e.Type, Owner: sim.Player(e.PlayerID.Value - 1), Active: e.Active,
			})
		}
	}
	slices.SortFunc(p.Units, func(a, b codecraft.Unit) int { return int(a.ID) - int(b.ID) })
	slices.SortFunc(p.Veins, func(a, b codecraft.Vein) int { return int(a.ID) - int(b.ID) })
	return nil
}

// Fill makes w the state; its lists are reused and in the order of ids.
func (w *World) Fill(g *codecraft.Game, s *codecraft.State) {
	r := g.Rules()
	w.NextID, w.Header, w.Reserved = int32(s.NextID), headerOf(&r, s), 0
	if len(w.EntityProperties) == 0 {
		w.EntityProperties = propertiesOf(&r)
	}
	w.Players, w.Entities, w.Actions = w.Players[:0], w.Entities[:0], w.Actions[:0]
	for p := range r.Players {
		w.Players = append(w.Players, Seat{p + 1, p, s.Score[p], s.Resource[p]})
	}
	w.Entities = appendSeen(w.Entities, &r, s, 0, nil)
	for i := range s.Units[:s.N] {
		if a := &s.Acts[i]; a.Parts != 0 {
			w.Actions = append(w.Actions, EntityOrder{int32(s.Units[i].ID), entityActionOf(a)})
		}
	}
}
