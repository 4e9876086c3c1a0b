package recording

import (
	"fmt"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// StateOfView returns a game and a state in which the player of a view sees this view, for
// searches and tests. The rules are base with the rules in the view. A view does not have
// everything that a state has, so StateOfView makes assumptions:
//
//   - Cells that the player does not see have no entities and no resources, except by the
//     next assumption.
//   - If the view has no entity that keeps another player in the game, that player has one
//     entity, so that the game goes on: a builder base with full health at its place at the
//     start if the player of the view sees none of its cells, else a builder unit on the
//     unseen cell nearest to the corner of its owner. If all cells are seen, that player is
//     out of the game.
//   - No entity has a stored action.
//   - The next id is the id after the greatest in the view.
//   - The seed is 0, so random choices differ from the game's.
//
// In a game without fog the first two assumptions do not matter. The player's view of the
// state is the given view with its entities sorted by id. StateOfView fails for a view that
// no state has.
func StateOfView(v *protocol.PlayerView, base codecraft.Rules) (*codecraft.Game, *codecraft.State, error) {
	var p codecraft.Position
	g, s, err := restore(v, base, &p)
	if err != nil {
		return nil, nil, err
	}
	rules := g.Rules()
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

// allSeen fails if the position has an entity that the seat does not see.
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

// assumeOthers adds an entity to the position for each player without a visible entity that
// keeps that player in the game. It reports whether it added any.
func assumeOthers(p *codecraft.Position, g *codecraft.Game, s *codecraft.State, sight *bitboard.Square, seat sim.Player) (added bool) {
	rules := g.Rules()
	taken := *sight // the cells that are seen or occupied
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

// assumed returns the entity that player q is assumed to have, on cells that are not taken,
// and false if all cells are taken.
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
