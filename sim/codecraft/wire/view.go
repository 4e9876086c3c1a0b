package wire

import (
	"fmt"
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// View makes v what player p sees of the state, in the player's own frame: all
// players and, under fog, the entities in sight. Its lists are reused. The
// properties are written if there are none in v; so v must not be used for
// games of different rules.
func View(v *PlayerView, g *codecraft.Game, s *codecraft.State, p sim.Player) {
	r := g.Rules()
	v.MyID, v.Header = int32(p)+1, headerOf(&r, s)
	if len(v.EntityProperties) == 0 {
		v.EntityProperties = propertiesOf(&r)
	}
	v.Players, v.Entities = v.Players[:0], v.Entities[:0]
	for q := range r.Players {
		v.Players = append(v.Players, Player{q + 1, s.Score[q], s.Resource[q]})
	}
	if !r.Fog {
		v.Entities = appendSeen(v.Entities, &r, s, p, nil)
		return
	}
	var sight bitboard.Square
	g.Sight(&sight, s, p)
	v.Entities = appendSeen(v.Entities, &r, s, p, &sight)
}

// appendSeen appends the entities that have a cell in sight, or belong to the
// player, in the player's frame and ascending by id; all if sight is nil.
// Resources have the ids between those of the units at the start and the
// others.
func appendSeen(dst []Entity, r *codecraft.Rules, s *codecraft.State, p sim.Player, sight *bitboard.Square) []Entity {
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

// columnsInSight are the cells with resources in sight, bit y of column x: in
// columns, for their ids count up along these.
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

// appendUnit appends a unit if it is seen.
func appendUnit(dst []Entity, r *codecraft.Rules, u *codecraft.Unit, p sim.Player, sight *bitboard.Square) []Entity {
	size := int(r.Types[u.Type].Size)
	if sight != nil && u.Owner != p && !sight.MeetsSquare(int(u.X), int(u.Y), size) {
		return dst
	}
	x, y := codecraft.Turn(p, int(u.X), int(u.Y), size)
	return append(dst, Entity{int32(u.ID), Some(int32(u.Owner) + 1), u.Type, int32(x), int32(y), int32(u.Health), u.Active})
}

// Rules are base with what the view tells of them; properties that are missing
// are those of base.
func (v *PlayerView) Rules(base codecraft.Rules) (codecraft.Rules, error) {
	w := World{Header: v.Header, EntityProperties: v.EntityProperties, Players: make([]Seat, len(v.Players))}
	if len(w.EntityProperties) == 0 {
		w.EntityProperties = propertiesOf(&base)
	}
	return w.Rules(base)
}

// Position fills p with what the view tells, in the frame of the world: a
// state in which there is nothing but what the player sees. The next id is not
// in a view; it is made the one after the greatest that is.
func (v *PlayerView) Position(p *codecraft.Position, r *codecraft.Rules) error {
	*p = codecraft.Position{Tick: v.CurrentTick, Units: p.Units[:0], Veins: p.Veins[:0]}
	if v.MyID < 1 || int(v.MyID) > len(v.Players) {
		return fmt.Errorf("my_id is %d, want 1 to %d, a player", v.MyID, len(v.Players))
	}
	if v.MapSize != codecraft.Side {
		return fmt.Errorf("map_size is %d, want %d", v.MapSize, codecraft.Side)
	}
	for i, q := range v.Players {
		if int(q.ID) != i+1 || i >= sim.MaxPlayers {
			return fmt.Errorf("player %d of the list has id %d, want %d, and at most %d players", i+1, q.ID, i+1, sim.MaxPlayers)
		}
		p.Score[i], p.Resource[i] = q.Score, q.Resource
	}
	if err := position(p, v.Entities, len(v.Players)); err != nil {
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
