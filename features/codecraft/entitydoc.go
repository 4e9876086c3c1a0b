package codecraft

import (
	"moonfarm/features"
	cc "moonfarm/sim/codecraft"
)

// Description returns the documentation of the values, the scalars and the packed words.
func (e *EntityEncoder) Description() features.Description {
	return features.Description{
		Planes: []features.Field{{Name: "values", Unit: "value", Scale: 255,
			Doc: "the tensors own [256, 12], others [256, 6], map [1, 80, 80] and coarse [8, 10, 10], one after the other"}},
		Scalars: append(e.cells.scalarFields(), entityScalars()...),
		Packed:  entityPackedDoc, PackedLayout: entityLayout(),
		Tensors: []features.Tensor{
			{Name: "own", Dims: []int{slots, ownFields}, Axis: 1, Fields: e.ownFields(),
				Doc: "the own entities: row i is slot i of the actions, all values of slots without an entity are 0"},
			{Name: "others", Dims: []int{slots, otherFields}, Axis: 1, Fields: e.unitFields("owner", "number", 3,
				"which other player the entity belongs to, by its start as seen: 1 opposite, 2 lower right, 3 upper left"),
				Doc: "the entities of other players in sight, in the order of their lowest corners as seen, row by row; of more than 256 the list has " +
					"those nearest to own entities, and of equally near ones the first in this order; rows without an entity are 0"},
			{Name: "map", Dims: []int{1, side, side}, Axis: 0, Doc: "a code for every cell as seen",
				Fields: []features.Field{{Name: "code", Unit: "code", Scale: 15, Doc: mapDoc}}},
			{Name: "coarse", Dims: []int{coarsePlanes, coarseSide, coarseSide}, Axis: 0, Fields: coarseFields(),
				Doc: "counts in squares of 8 × 8 cells; an entity counts where its lowest corner as seen is"},
		},
	}
}

const mapDoc = "0 out of sight, 1 in sight and empty, 2 resource; own builder unit 3, melee unit 4, ranged unit 5, turret 6, base 7, house or wall 8; " +
	"another player's builder unit 9, melee unit 10, ranged unit 11, turret 12, base 13, house or wall 14; own entity that is not active 15. " +
	"All cells of an entity have its code"

// unitFields returns the fields of both lists, and one more.
func (e *EntityEncoder) unitFields(name, unit string, scale float32, doc string) []features.Field {
	return []features.Field{
		{Name: "type", Unit: "number", Scale: cc.Types, Doc: "1 + the number of the type: 0 wall, 1 house, 2 builder base, 3 builder unit, 4 melee base, " +
			"5 melee unit, 6 ranged base, 7 ranged unit, 9 turret; 0 no entity"},
		{Name: "x", Unit: "cells", Scale: side, Doc: "x of the lowest corner as seen"},
		{Name: "y", Unit: "cells", Scale: side, Doc: "y of the lowest corner as seen"},
		{Name: "health", Unit: "health points", Scale: 255, Doc: "health; of types that can have more than 255, in steps of 1/255 of the most"},
		{Name: "active", Unit: "flag", Scale: 1, Doc: "the entity is active"},
		{Name: name, Unit: unit, Scale: scale, Doc: doc},
	}
}

func (e *EntityEncoder) ownFields() []features.Field {
	return append(e.unitFields("action", "code", 7, "stored action, "+actionCodes),
		features.Field{Name: "goal_x", Unit: "cells", Scale: side, Doc: "1 + x of the target of the stored action's move; 0 it has no move"},
		features.Field{Name: "goal_y", Unit: "cells", Scale: side, Doc: "1 + y of the target of the stored action's move; 0 it has no move"},
		features.Field{Name: "enemies", Unit: "cells", Scale: mostNear, Doc: "cells of other players' entities within its attack range, at most 15"},
		features.Field{Name: "shooters", Unit: "cells", Scale: mostNear, Doc: "cells of other players' active entities with an attack range above 1, " +
			"as far as the greatest such range and one cell more, at most 15"},
		features.Field{Name: "resources", Unit: "cells", Scale: 4, Doc: "resources in sight within its attack range if it collects, at most 15"},
		features.Field{Name: "enemy_near", Unit: "cells", Scale: enemyReach, Doc: "8 minus the distance of its lowest corner as seen from the nearest cell of " +
			"another player's entity; 0 from a distance of 8 on, where enemies and shooters are 0, too"})
}

func coarseFields() (list []features.Field) {
	plane := func(name, unit, doc string) {
		list = append(list, features.Field{Name: name, Unit: unit, Scale: 64, Doc: doc})
	}
	plane("visible", "cells", "cells in sight")
	plane("resources", "cells", "resources in sight")
	for _, owner := range []struct{ name, doc string }{{"own", "own "}, {"other", "other players' "}} {
		plane(owner.name+"_workers", "entities", owner.doc+"units that collect resources")
		plane(owner.name+"_fighters", "entities", owner.doc+"other units that move")
		plane(owner.name+"_buildings", "entities", owner.doc+"entities that do not move")
	}
	return list
}

// entityScalars returns the fields of the scalars that Encoder does not have.
func entityScalars() []features.Field {
	list := []features.Field{{Name: "own_population_left", Unit: "population", Scale: 20, Doc: "own_population_limit minus own_population"}}
	for _, t := range priced {
		list = append(list, features.Field{Name: "price_" + snake(t), Unit: "resource", Scale: 100, Doc: "resource that the next unit of this type costs"})
	}
	return list
}

const entityPackedDoc = "256 words, one for each slot of own entities. Bits 0–3 type, 4–10 x, 11–17 y, 18–25 health, 26 active, 27–29 action, " +
	"32–38 goal_x, 39–45 goal_y, 46–49 enemies, 50–53 shooters, 54–57 resources, 58–60 enemy_near. " +
	"Then 128 words, two slots of the others in each, the first in the low half: bits 0–3 type, 4–10 x, 11–17 y, 18–25 health, 26 active, 27–28 owner. " +
	"Then 400 words of the map, 16 cells of four bits in each. Then 100 words of the counts, a byte each."

// entityLayout returns the packed form for programs.
func entityLayout() *features.Layout {
	l := &features.Layout{}
	part := func(cells features.Run, number features.Bits) {
		l.Cells = append(l.Cells, []features.Run{cells})
		l.Parts = append(l.Parts, features.Part{Cells: len(l.Cells) - 1, Number: number, Times: 1})
	}
	for k, b := range ownBits {
		part(features.Run{First: ownAt + k, Step: ownFields, Count: slots}, features.Bits{First: b.first, Step: 64, Width: b.width})
	}
	for k, b := range otherBits {
		part(features.Run{First: othersAt + k, Step: otherFields, Count: slots}, features.Bits{First: othersWord*64 + b.first, Step: 32, Width: b.width})
	}
	part(features.Run{First: mapAt, Step: 1, Count: planeBytes}, features.Bits{First: mapWord * 64, Step: 4, Width: 4})
	part(features.Run{First: coarseAt, Step: 1, Count: coarsePlanes * coarseCells}, features.Bits{First: coarseWord * 64, Step: 8, Width: 8})
	return l
}
