package towerdefence

import (
	"math/bits"

	"moonfarm/rollout/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/batch"
)

// fewestTogether is the number of searches from which a block of eight games is faster than one
// game after the other: a round of a block takes as long as three of single games.
const fewestTogether = 4

// leaf is a leaf of a search.
type leaf = search.Leaf[towerdefence.State, sim.Order]

// together plays the rollouts of up to eight searches in a block. A search gets its next leaf as
// soon as its rollout has ended, while the other rollouts go on.
type together struct {
	game   *batch.Game // nil: rollouts are played one after the other
	block  *batch.Block
	orders batch.Orders
	random [batch.Games]prng.Rand
	leaves [batch.Games]*leaf
	last   [batch.Games]int64 // rounds of the block at which rollouts reach the horizon
}

// adopt prepares rollouts by the rules of a game. Scripts look at one game after the other, and
// rollouts without orders are too short to be worth the copies.
func (t *together) adopt(g *towerdefence.Game, scatter bool) {
	t.game = nil
	if !scatter {
		return
	}
	if b := batch.New(g); b.Vector() {
		t.game, t.block = b, b.NewBlock()
	}
}

// AtOnce implements script.Together.
func (g *model) AtOnce() (most, least int) {
	if !g.scatter || !batch.Vectors() {
		return 0, 0
	}
	return batch.Games, fewestTogether
}

// EvaluateAll implements script.Together.
func (g *model) EvaluateAll(n int, next func(i int) *leaf) {
	t := &g.together
	if t.game == nil {
		for i := range n {
			for l := next(i); l != nil; l = next(i) {
				l.Value = g.Evaluate(l.State, l.Random)
			}
		}
		return
	}
	busy := uint8(0) // games with a rollout
	for i := range batch.Games {
		t.game.Reset(t.block, i)
		if i < n && g.begin(i, 0, next) {
			busy |= 1 << i
		}
	}
	for round := int64(1); busy != 0; round++ {
		t.game.Playout(&t.orders, t.block, &t.random)
		over, _ := t.game.Play(t.block, &t.orders)
		ended := over
		for i, last := range t.last {
			if last == round {
				ended |= 1 << i
			}
		}
		for ; ended != 0; ended &= ended - 1 {
			i := bits.TrailingZeros8(ended)
			if busy>>i&1 == 0 {
				t.game.Reset(t.block, i)
				continue
			}
			g.finish(i, over>>i&1 != 0)
			if !g.begin(i, round, next) {
				busy &^= 1 << i
				t.game.Reset(t.block, i)
			}
		}
	}
}

// begin begins the rollout of the next leaf of search i after that round of the block. It returns
// false at the end of the search.
func (g *model) begin(i int, round int64, next func(i int) *leaf) bool {
	t := &g.together
	l := next(i)
	t.leaves[i] = l
	if l == nil {
		return false
	}
	t.game.Load(t.block, i, l.State)
	t.random[i], t.last[i] = *l.Random, round+int64(g.horizon)
	return true
}

// finish evaluates the leaf of search i, whose rollout is over or has reached the horizon.
func (g *model) finish(i int, over bool) {
	t := &g.together
	l := t.leaves[i]
	t.game.SaveBoards(&g.state, t.block, i)
	*l.Random = t.random[i]
	if over {
		l.Value = g.Result(&g.state)
	} else {
		l.Value = g.formula(&g.state, l.Random)
	}
}
