package policy

import (
	"moonfarm/env"
	"moonfarm/rollout/policy/script"
	"moonfarm/rollout/search"
)

// group lets the game evaluate the leaves of several searches at once. The searches do not depend
// on each other, so they have the same results as one search after the other.
type group[S, M any] struct {
	game   script.Together[S, M] // nil: the game evaluates one leaf after the other
	least  int                   // fewer rows are searched one after the other
	states []S
	rows   []int32
	next   func(i int) *search.Leaf[S, M]
}

// joinGroup prepares searches at once if the game wants them, and returns the number of trees. The
// trees together keep the limit of memory. With a budget of time each search has the whole budget.
func (c *searcher[S, M]) joinGroup(o searchOptions) int {
	g, ok := c.game.(script.Together[S, M])
	if !ok || o.time > 0 {
		return 1
	}
	most, least := g.AtOnce()
	most = min(most, o.Memory/search.Bytes[S, M](o.Options))
	if most == 0 || most < least {
		return 1
	}
	c.group = group[S, M]{game: g, least: least, next: c.nextOfGroup}
	return most
}

// searchGroup searches the states of rows at once.
func (c *searcher[S, M]) searchGroup(states []S, b *env.Batch, rows []int32) {
	c.group.states, c.group.rows = states, rows
	for i, row := range rows {
		c.trees[i].Start(&states[row/c.seats], b.RowSeed[row])
	}
	c.group.game.EvaluateAll(len(rows), c.group.next)
}

// nextOfGroup returns the next leaf of tree i for the game to evaluate, nil at the end of the
// search.
func (c *searcher[S, M]) nextOfGroup(i int) *search.Leaf[S, M] {
	c.setSeat(c.group.states, c.group.rows[i])
	for leaf := c.trees[i].Next(); leaf != nil; leaf = c.trees[i].Next() {
		if !leaf.Expansion {
			return leaf
		}
	}
	return nil
}
