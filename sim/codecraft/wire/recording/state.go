package recording

import (
	"fmt"
	"slices"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// A state file holds a World in the form in which a replay file begins. It has everything of a
// game but its seed and the rules that the original has no names for. So a replay file is also
// the state file of its first state, and so is the first line of a recorded game as JSON Lines.

// Positioned is a view or a world: it has rules and a position.
type Positioned interface {
	Rules(base codecraft.Rules) (codecraft.Rules, error)
	Position(p *codecraft.Position, r *codecraft.Rules) error
}

// Restore returns the game and the state of a view or a world. Rules that it does not have come
// from base. The state of a view has only what the player sees; StateOfView makes a state that
// can be played.
func Restore(from Positioned, base codecraft.Rules) (*codecraft.Game, *codecraft.State, error) {
	return restore(from, base, new(codecraft.Position))
}

// restore also sets p to the position.
func restore(from Positioned, base codecraft.Rules, p *codecraft.Position) (*codecraft.Game, *codecraft.State, error) {
	rules, err := from.Rules(base)
	if err != nil {
		return nil, nil, err
	}
	g, err := codecraft.New(rules)
	if err != nil {
		return nil, nil, err
	}
	if err := from.Position(p, &rules); err != nil {
		return nil, nil, err
	}
	s := new(codecraft.State)
	if err := g.Restore(s, p); err != nil {
		return nil, nil, err
	}
	return g, s, nil
}

// Rules returns base with the rules in the world.
func (w *World) Rules(base codecraft.Rules) (codecraft.Rules, error) {
	return w.Header.Rules(base, w.EntityProperties, len(w.Players))
}

// Position sets p to the world and reuses the lists of p. It leaves out actions of entities
// that do not exist: the original ignores them.
func (w *World) Position(p *codecraft.Position, r *codecraft.Rules) error {
	*p = codecraft.Position{Tick: w.CurrentTick, NextID: uint32(w.NextID), Units: p.Units[:0], Acts: p.Acts[:0], Veins: p.Veins[:0]}
	for i, q := range w.Players {
		if int(q.Index) >= len(w.Players) || q.ID != q.Index+1 {
			return fmt.Errorf("found a player with id %d and index %d, expected ids from 1 to %d and indices one less", q.ID, q.Index, len(w.Players))
		}
		if slices.ContainsFunc(w.Players[:i], func(o PlayerRecord) bool { return o.ID == q.ID }) {
			return fmt.Errorf("player %d appears twice", q.ID)
		}
		p.Score[q.Index], p.Resource[q.Index] = q.Score, q.Resource
	}
	if err := protocol.AddEntities(p, w.Entities, len(w.Players)); err != nil {
		return err
	}
	acts := map[int32]*protocol.EntityAction{}
	for i := range w.Actions {
		acts[w.Actions[i].ID] = &w.Actions[i].EntityAction
	}
	for i := range p.Units {
		p.Acts = append(p.Acts, codecraft.Action{})
		if a := acts[int32(p.Units[i].ID)]; a != nil {
			p.Acts[i] = protocol.ActionOf(a, 0, r)
		}
	}
	return nil
}

// Fill sets w to the state and reuses the lists of w, which become sorted by id.
func (w *World) Fill(g *codecraft.Game, s *codecraft.State) {
	r := g.Rules()
	w.NextID, w.Header, w.Reserved = int32(s.NextID), protocol.HeaderOf(&r, s), 0
	if len(w.EntityProperties) == 0 {
		w.EntityProperties = protocol.PropertiesOf(&r)
	}
	w.Players, w.Entities, w.Actions = w.Players[:0], w.Entities[:0], w.Actions[:0]
	for p := range r.Players {
		w.Players = append(w.Players, PlayerRecord{ID: p + 1, Index: p, Score: s.Score[p], Resource: s.Resource[p]})
	}
	w.Entities = protocol.AppendEntities(w.Entities, &r, s, 0, nil)
	for i := range s.Units[:s.N] {
		if a := &s.Acts[i]; a.Parts != 0 {
			w.Actions = append(w.Actions, protocol.EntityOrder{ID: int32(s.Units[i].ID), EntityAction: protocol.StoredActionOf(a)})
		}
	}
}
