package policy

import (
	"moonfarm/env"
	"moonfarm/rollout/policy/script"
	"moonfarm/rollout/policy/search"
)

// group lets the game evaluate the leaves of several searches at once. The searches do not depend
// on each other, so they have the same results as one search after the other. A tree whose search has
// ended searches the next row while the others go on.
type group[S, M any] struct {
	game  script.Together[S, M] // nil: the game evaluates one leaf after the other
	least int                   // rows that are searched at once, at least

	states []S
	batch  *env.Batch
	rows   []int32
	begun  int   // rows whose search has begun
	at     []int // which of the rows each tree searches
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
	c.group = group[S, M]{game: g, least: least, at: make([]int, most), next: c.nextOfGroup}
	return most
}

// searchGroup searches the states of rows at once, and plays the moves. Rows after the context of
// Until is done are left out.
func (c *searcher[S, M]) searchGroup(states []S, b *env.Batch, rows []int32) {
	g := &c.group
	g.states, g.batch, g.rows, g.begun = states, b, rows, 0
	n := min(len(rows), len(c.trees))
	for i := range n {
		c.beginOfGroup(i)
	}
	g.game.EvaluateAll(n, g.next)
}

// beginOfGroup begins the search of the next row in tree i.
func (c *searcher[S, M]) beginOfGroup(i int) {
	g := &c.group
	row := g.rows[g.begun]
	c.ready(c.trees[i], g.batch, row)
	c.trees[i].Start(&g.states[row/c.seats], g.batch.RowSeed[row])
	g.at[i] = g.begun
	g.begun++
}

// nextOfGroup returns the next leaf of tree i for the game to evaluate, nil after its last search.
func (c *searcher[S, M]) nextOfGroup(i int) *search.Leaf[S, M] {
	for g := &c.group; ; {
		row := g.rows[g.at[i]]
		c.setSeat(g.states, row)
		for leaf := c.trees[i].Next(); leaf != nil; leaf = c.trees[i].Next() {
			if !leaf.Expansion {
				return leaf
			}
		}
		if c.interrupted() {
			return nil
		}
		c.play(c.trees[i], g.at[i], &g.states[row/c.seats], g.batch, row)
		if g.begun == len(g.rows) {
			return nil
		}
		c.beginOfGroup(i)
	}
}
