package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// StateOfView makes a game and a state of what a player sees, for searches and
// tests. The rules are base with what the view tells. A view does not tell
// everything, so these are assumptions:
//
//   - Cells that the player does not see are empty: no entities and no resources
//     are there, but for the next point.
//   - Another player of whom nothing is seen that would keep him in the game has one
//     entity, so that the game goes on: a builder base with full health where that
//     of the start stands if the player sees none of its cells, else a builder unit on
//     the unseen cell that is nearest to the corner of its owner. If there is
//     neither, that player is out of the game.
//   - No entity has a stored action.
//   - The next id is the one after the greatest in the view.
//   - The seed is 0: chance is not that of the game.
//
// In a game without fog the first two points do not matter. The view of the same
// player in the state is the view again, with its entities in the order of their
// ids. The error names what no state can have.
func StateOfView(v *PlayerView, base codecraft.Rules) (*codecraft.Game, *codecraft.State, error) {
	rules, err := v.Rules(base)
	if err != nil {
		return nil, nil, err
	}
	g, err := codecraft.New(rules)
	if err != nil {
		return nil, nil, err
	}
	var p codecraft.Position
	s := new(codecraft.State)
	if err := v.Position(&p, &rules); err != nil {
		return nil, nil, err
	}
	if err := g.Restore(s, &p); err != nil {
		return nil, nil, err
	}
	if !rules.Fog {
		return g, s, nil
	}
	seat := sim.Player(v.MyID - 1)
	var sight bitboard.Square
	g.Sight(&sight, s, seat)
	if err := allSeen(&p, &rules, &sight, seat); err != nil {
		return nil, nil, err
	}
	if assumeOthers(&p, g, s, &sight, seat) {
		if err := g.Restore(s, &p); err != nil {
			return nil, nil, err
		}
	}
	return g, s, nil
}

// allSeen finds an entity of the position that the seat does not see.
func allSeen(p *codecraft.Position, r *codecraft.Rules, sight *bitboard.Square, seat sim.Player) error {
	for i := range p.Units {
		u := &p.Units[i]
		if u.Owner != seat && !sight.MeetsSquare(int(u.X), int(u.Y), int(r.Types[u.Type].Size)) {
			return fmt.Errorf("entity %d: it is in the view, but player %d does not see it", u.ID, seat+1)
		}
	}
	for i := range p.Veins {
		if c := &p.Veins[i]; !sight.Has(int(c.X), int(c.Y)) {
			return fmt.Errorf("entity %d: it is in the view, but player %d does not see it", c.ID, seat+1)
		}
	}
	return nil
}

// assumeOthers adds to the position an entity for each player of whom the seat sees
// nothing that keeps him in the game. It reports whether it added any.
func assumeOthers(p *codecraft.Position, g *codecraft.Game, s *codecraft.State, sight *bitboard.Square, seat sim.Player) (added bool) {
	rules := g.Rules()
	taken := *sight // or occupied
	taken.Or(&s.Occupied)
	for q := range sim.Player(rules.Players) {
		if q == seat || g.Lives(s, q) || len(p.Units) == codecraft.MaxUnits {
			continue
		}
		u, ok := assumed(&rules, &taken, q)
		if !ok {
			continue
		}
		u.ID = p.NextID
		p.NextID++
		p.Units = append(p.Units, u)
		taken.AddSquare(int(u.X), int(u.Y), int(rules.Types[u.Type].Size))
		added = true
	}
	return added
}

// assumed is the entity that a player of whom nothing is seen is assumed to have, on
// cells that are not taken; false if there is no such cell.
func assumed(r *codecraft.Rules, taken *bitboard.Square, q sim.Player) (codecraft.Unit, bool) {
	x, y := r.StartPlace(codecraft.BuilderBase, q)
	base := &r.Types[codecraft.BuilderBase]
	if !taken.MeetsSquare(x, y, int(base.Size)) {
		return codecraft.Unit{Health: int16(base.MaxHealth), X: uint8(x), Y: uint8(y), Type: codecraft.BuilderBase, Owner: q, Active: true}, true
	}
	for sum := range 2*codecraft.Side - 1 { // the distance from the corner
		for own := max(0, sum-codecraft.Side+1); own <= min(sum, codecraft.Side-1); own++ {
			x, y := codecraft.TurnBack(q, own, sum-own, 1)
			if !taken.Has(x, y) {
				return codecraft.Unit{Health: int16(r.Types[codecraft.BuilderUnit].MaxHealth),
					X: uint8(x), Y: uint8(y), Type: codecraft.BuilderUnit, Owner: q, Active: true}, true
			}
		}
	}
	return codecraft.Unit{}, false
}

// ReadView reads the view of one message to a client, as the client gets it: the bytes of
// a GetAction or DebugUpdate, or of its PlayerView alone, or a line of JSON as
// recordings of views and messages have them. The error names the field that cannot be
// read; nothing may follow.
func ReadView(text []byte) (*PlayerView, error) {
	v := new(PlayerView)
	if looksJSON(text) {
		n := 0
		err := EachView("of a line", bytes.NewReader(text), func(one *PlayerView) error {
			if n++; n > 1 {
				return errors.New("a second view follows, want one")
			}
			*v = *one
			v.Players, v.Entities = slices.Clone(one.Players), slices.Clone(one.Entities)
			return nil
		})
		if err == nil && n == 0 {
			err = errors.New("there is no view in it")
		}
		return v, err
	}
	r := NewReader(bytes.NewReader(text))
	r.Limit(maxBytes)
	var err error
	if looksRaw(text) {
		m := new(ServerMessage)
		err = r.ServerMessage(m)
		v = &m.View
	} else {
		r.view(v)
		err = r.err
	}
	if err == nil && !r.End() {
		err = fmt.Errorf("byte %d: something follows", r.Offset())
	}
	if err != nil {
		return nil, fmt.Errorf("view: %w", err)
	}
	return v, nil
}

// AppendAnswer appends the message with which the client of player p gives orders in a
// state, as it is sent: the action of every entity that the orders name, in the player's
// own frame. Orders that do nothing are left out, and so are builds outside of the
// map; a move to a place outside goes to the nearest cell.
func AppendAnswer(dst []byte, g *codecraft.Game, s *codecraft.State, p sim.Player, orders []sim.Order) []byte {
	r := g.Rules()
	acts := map[int]*codecraft.Action{}
	var units []int
	s.EachOrder(orders, p, func(i int, o sim.Order) {
		if acts[i] == nil {
			a := s.Acts[i]
			acts[i], units = &a, append(units, i)
		}
		acts[i].Take(o)
	})
	m := ClientMessage{Kind: ActionMessage}
	for _, i := range units {
		m.Action.EntityActions = append(m.Action.EntityActions, EntityOrder{int32(s.Units[i].ID), ownAction(acts[i], &r, p)})
	}
	return m.Append(dst)
}

// ownAction is an action in the frame of player p, without what a client cannot say.
func ownAction(c *codecraft.Action, r *codecraft.Rules, p sim.Player) EntityAction {
	within := func(x, y int) (int32, int32) {
		return int32(min(max(x, 0), codecraft.Side-1)), int32(min(max(y, 0), codecraft.Side-1))
	}
	a := entityActionOf(c)
	if m := &a.Move.Value; a.Move.Given {
		m.X, m.Y = within(codecraft.Turn(p, int(m.X), int(m.Y), 1))
	}
	if b := &a.Build.Value; a.Build.Given {
		size := int(r.Types[b.Type].Size)
		if c.BuildType >= codecraft.Types || !codecraft.OnMap(int(b.X), int(b.Y), size) {
			a.Build = Optional[BuildAction]{}
		} else {
			b.X, b.Y = within(codecraft.Turn(p, int(b.X), int(b.Y), size))
		}
	}
	return a
}
