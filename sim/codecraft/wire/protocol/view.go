package protocol

import (
	"fmt"
	"math/bits"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// View sets v to player p's view of the state, in the player's own frame: all players, and all
// entities or, under fog, those in sight. It reuses the lists of v. It sets the properties only
// if v has none, so v must not be used for games of different rules.
func View(v *PlayerView, g *codecraft.Game, s *codecraft.State, p sim.Player) {
	r := g.Rules()
	v.MyID, v.Header = int32(p)+1, HeaderOf(&r, s)
	if len(v.EntityProperties) == 0 {
		v.EntityProperties = PropertiesOf(&r)
	}
	v.Players, v.Entities = v.Players[:0], v.Entities[:0]
	for q := range r.Players {
		v.Players = append(v.Players, Standing{q + 1, s.Score[q], s.Resource[q]})
	}
	if !r.Fog {
		v.Entities = AppendEntities(v.Entities, &r, s, p, nil)
		return
	}
	var sight bitboard.Square
	g.Sight(&sight, s, p)
	v.Entities = AppendEntities(v.Entities, &r, s, p, &sight)
}

// AppendEntities appends the entities that belong to player p or have a cell in sight, in the
// player's frame and ascending by id; if sight is nil, it appends all entities. The ids of
// resources lie between the ids of the first units and the ids of all later units.
func AppendEntities(dst []Entity, r *codecraft.Rules, s *codecraft.State, p sim.Player, sight *bitboard.Square) []Entity {
	i := 0
	for ; i < int(s.N) && s.Units[i].ID < s.FirstID; i++ {
		dst = appendUnit(dst, r, &s.Units[i], p, sight)
	}
	columns := columnsInSight(s, sight)
	for x := range columns {
		for half, w := range columns[x] {
			for ; w != 0; w &= w - 1 {
				y := half<<6 + bits.TrailingZeros64(w)
				tx, ty := codecraft.Turn(p, x, y, 1)
				dst = append(dst, Entity{
					ID: int32(s.ResourceID(x, y)), Type: codecraft.Resource, X: int32(tx), Y: int32(ty),
					Health: int32(s.Health[codecraft.CellOf(x, y)]), Active: true,
				})
			}
		}
	}
	for ; i < int(s.N); i++ {
		dst = appendUnit(dst, r, &s.Units[i], p, sight)
	}
	return dst
}

// columnsInSight returns the cells with resources in sight as columns, bit y of column x:
// ids of resources ascend along columns.
func columnsInSight(s *codecraft.State, sight *bitboard.Square) (columns [codecraft.Side][2]uint64) {
	for y := range codecraft.Side {
		low, high := s.Resources.Row(y)
		if sight != nil {
			l, h := sight.Row(y)
			low, high = low&l, high&h
		}
		half, bit := y>>6, uint64(1)<<(y&63)
		for ; low != 0; low &= low - 1 {
			columns[bits.TrailingZeros64(low)][half] |= bit
		}
		for ; high != 0; high &= high - 1 {
			columns[64+bits.TrailingZeros64(high)][half] |= bit
		}
	}
	return columns
}

// appendUnit appends a unit if player p sees it.
func appendUnit(dst []Entity, r *codecraft.Rules, u *codecraft.Unit, p sim.Player, sight *bitboard.Square) []Entity {
	size := int(r.Types[u.Type].Size)
	if sight != nil && u.Owner != p && !sight.MeetsSquare(int(u.X), int(u.Y), size) {
		return dst
	}
	x, y := codecraft.Turn(p, int(u.X), int(u.Y), size)
	return append(dst, Entity{int32(u.ID), Some(int32(u.Owner) + 1), u.Type, int32(x), int32(y), int32(u.Health), u.Active})
}

// Rules returns base with the rules in the view. If the view has no properties, they come from
// base.
func (v *PlayerView) Rules(base codecraft.Rules) (codecraft.Rules, error) {
	properties := v.EntityProperties
	if len(properties) == 0 {
		properties = PropertiesOf(&base)
	}
	return v.Header.Rules(base, properties, len(v.Players))
}

// Position sets p to the view in the frame of the world: a state that has nothing but what the
// player sees. A view does not have the next id; p gets the id after the greatest in the view.
func (v *PlayerView) Position(p *codecraft.Position, r *codecraft.Rules) error {
	*p = codecraft.Position{Tick: v.CurrentTick, Units: p.Units[:0], Veins: p.Veins[:0]}
	if v.MyID < 1 || int(v.MyID) > len(v.Players) {
		return fmt.Errorf("my_id is %d, expected 1 to %d, a player", v.MyID, len(v.Players))
	}
	if v.MapSize != codecraft.Side {
		return fmt.Errorf("map_size is %d, expected %d", v.MapSize, codecraft.Side)
	}
	for i, q := range v.Players {
		if int(q.ID) != i+1 || i >= sim.MaxPlayers {
			return fmt.Errorf("player %d of the list has id %d, expected %d, and at most %d players", i+1, q.ID, i+1, sim.MaxPlayers)
		}
		p.Score[i], p.Resource[i] = q.Score, q.Resource
	}
	if err := AddEntities(p, v.Entities, len(v.Players)); err != nil {
		return err
	}
	seat := sim.Player(v.MyID - 1)
	p.NextID = uint32(len(v.Players)) + 1
	for i := range p.Units {
		u := &p.Units[i]
		size := int(r.Types[u.Type].Size)
		if !codecraft.OnMap(int(u.X), int(u.Y), size) {
			return fmt.Errorf("entity %d: a %s at (%d, %d) reaches out of the map", u.ID, u.Type, u.X, u.Y)
		}
		x, y := codecraft.TurnBack(seat, int(u.X), int(u.Y), size)
		u.X, u.Y = uint8(x), uint8(y)
		p.NextID = max(p.NextID, u.ID+1)
	}
	for i := range p.Veins {
		c := &p.Veins[i]
		x, y := codecraft.TurnBack(seat, int(c.X), int(c.Y), 1)
		c.X, c.Y = uint8(x), uint8(y)
		p.NextID = max(p.NextID, c.ID+1)
	}
	p.Acts = nil
	return nil
}

// AddEntities adds entities to the lists of p and sorts these by id. It fails for entities that
// no state can have.
func AddEntities(p *codecraft.Position, list []Entity, players int) error {
	for i := range list {
		e := &list[i]
		switch {
		case e.ID > codecraft.MaxID:
			return fmt.Errorf("entity %d: expected ids up to %d", e.ID, codecraft.MaxID)
		case !codecraft.OnMap(int(e.X), int(e.Y), 1):
			return fmt.Errorf("entity %d: (%d, %d) lies outside of the map", e.ID, e.X, e.Y)
		case e.Health < 0 || e.Health > 1<<15-1:
			return fmt.Errorf("entity %d: health %d, expected 0 to %d", e.ID, e.Health, 1<<15-1)
		case e.PlayerID.Given == (e.Type == codecraft.Resource):
			return fmt.Errorf("entity %d: resources, and only they, have no player", e.ID)
		case e.PlayerID.Given && (e.PlayerID.Value < 1 || int(e.PlayerID.Value) > players):
			return fmt.Errorf("entity %d: player %d, expected 1 to %d", e.ID, e.PlayerID.Value, players)
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
