package recording

import (
	"slices"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// A replay file has no field for the seed of its game. But the entities of its first state are a
// map of the original, so their order is free, and our files encode the seed in it: among the
// entities sorted by id, number 2i+1 comes before number 2i where bit i of the seed is 1. A
// reader accepts the seed if a game with it begins with the same state.
const seedPairs = 64

// seedOrder returns the list in the order that encodes the seed.
func seedOrder(sorted []protocol.Entity, seed uint64) []protocol.Entity {
	list := slices.Clone(sorted)
	for i := range seedPairs {
		if seed>>i&1 != 0 {
			list[2*i], list[2*i+1] = list[2*i+1], list[2*i]
		}
	}
	return list
}

// seedOf returns the seed that the order of the list encodes.
func seedOf(list []protocol.Entity) (seed uint64) {
	for i := range seedPairs {
		if list[2*i].ID > list[2*i+1].ID {
			seed |= 1 << i
		}
	}
	return seed
}

// IsStart reports whether a game of g with that seed begins with this world.
func (w *World) IsStart(g *codecraft.Game, seed uint64) bool {
	s := new(codecraft.State)
	g.Reset(s, seed)
	var start World
	start.Fill(g, s)
	return w.CurrentTick == 0 && len(w.Actions) == 0 && w.SameState(&start)
}

// Seed returns the seed that the order of the entities encodes, and false if a game of g with
// this seed does not begin with this world. Apply loses the seed, because it sorts the entities.
func (w *World) Seed(g *codecraft.Game) (seed uint64, ok bool) {
	if len(w.Entities) < 2*seedPairs {
		return 0, false
	}
	seed = seedOf(w.Entities)
	return seed, w.IsStart(g, seed)
}

// withSeed returns the world with its entities in the order that encodes the seed of s, or w
// itself if s is not the first state of a game.
func (w *World) withSeed(g *codecraft.Game, s *codecraft.State) *World {
	if len(w.Entities) < 2*seedPairs || !w.IsStart(g, s.Seed) {
		return w
	}
	encoded := *w
	encoded.Entities = seedOrder(w.Entities, s.Seed)
	return &encoded
}
