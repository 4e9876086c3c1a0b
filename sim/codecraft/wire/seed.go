package wire

import (
	"slices"

	"moonfarm/sim/codecraft"
)

// A replay file has no place for the seed of its game. But the entities of the
// state it begins with are a map of the original, which come in any order. Ours
// tell the seed by it: of the entities sorted by id, number 2i+1 comes before
// number 2i where bit i of the seed is 1, and else the order is kept. Whether
// that is a seed at all is told by what begins with it: the same start.
const seedPairs = 64

// seedOrder is the list in the order that tells the seed.
func seedOrder(sorted []Entity, seed uint64) []Entity {
	list := slices.Clone(sorted)
	for i := range seedPairs {
		if seed>>i&1 != 0 {
			list[2*i], list[2*i+1] = list[2*i+1], list[2*i]
		}
	}
	return list
}

// seedOf is the seed that the order of the list would tell.
func seedOf(list []Entity) (seed uint64) {
	for i := range seedPairs {
		if list[2*i].ID > list[2*i+1].ID {
			seed |= 1 << i
		}
	}
	return seed
}

// startsWith reports whether a game of g with that seed begins with this world.
func (w *World) startsWith(g *codecraft.Game, seed uint64) bool {
	s := new(codecraft.State)
	g.Reset(s, seed)
	var start World
	start.Fill(g, s)
	return w.CurrentTick == 0 && len(w.Actions) == 0 && w.sameState(&start)
}

// Seed is the seed with which a game of g begins as this world, if the order of
// the entities tells it. It must be asked before the first tick is read.
func (w *World) Seed(g *codecraft.Game) (seed uint64, ok bool) {
	if len(w.Entities) < 2*seedPairs {
		return 0, false
	}
	seed = seedOf(w.Entities)
	return seed, w.startsWith(g, seed)
}

// tellSeed is the world in the order that tells the seed of s, if the game
// begins with s; else as it is.
func (w *World) tellSeed(g *codecraft.Game, s *codecraft.State) *World {
	if len(w.Entities) < 2*seedPairs || !w.startsWith(g, s.Seed) {
		return w
	}
	told := *w
	told.Entities = seedOrder(w.Entities, s.Seed)
	return &told
}
