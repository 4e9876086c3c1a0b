package towerdefence

import (
	"math"
	"math/bits"

	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/batch"
)

// fewestTogether is the number of searches from which a block of eight games is faster than one
// game after the other: a round of a block, of which the other places have no game, takes 1.4 times
// as long as one of a single game.
const fewestTogether = 2

// leaf is a leaf of a search.
type leaf = search.Leaf[towerdefence.State, sim.Order]

// together plays the rollouts of up to eight searches in a block. A search gets its next leaf as
// soon as its rollout has ended, while the other rollouts go on.
type together struct {
	game   *batch.Game // nil: rollouts are played one after the other
	block  *batch.Block
	random [batch.Games]prng.Rand
	leaves [batch.Games]*leaf
	last   [batch.Games]int // the rounds of the block after which the rollouts reach the horizon
}

// adopt prepares rollouts by the rules of a game if their orders are drawn at random. Scripts look at
// one game after the other, and rollouts without orders are too short to be worth the copies.
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
			g.evaluateRest(next(i), i, next)
		}
		return
	}
	busy := uint8(0) // games with a rollout
	for i := range batch.Games {
		t.game.Park(t.block, i)
		if i < n && g.begin(i, 0, next) {
			busy |= 1 << i
		}
	}
	for round := 0; busy&(busy-1) != 0; { // at least two
		soonest := t.soonest(busy)
		played, over := t.game.Playouts(t.block, &t.random, soonest-round)
		round += played
		ended := over
		if round == soonest {
			ended |= t.reached(busy, round)
		}
		for ; ended != 0; ended &= ended - 1 {
			i := bits.TrailingZeros8(ended)
			g.finish(i, over>>i&1 != 0)
			if !g.begin(i, round, next) {
				busy &^= 1 << i
				t.game.Park(t.block, i)
			}
		}
	}
	if busy != 0 { // a round of a single game takes less time than one of the block
		i := bits.TrailingZeros8(busy)
		g.evaluateRest(t.leaves[i], i, next) // the rollout begins again: its random numbers are those of the leaf
	}
}

// evaluateRest evaluates a leaf of search i and all leaves that follow, one after the other.
func (g *model) evaluateRest(l *leaf, i int, next func(i int) *leaf) {
	for ; l != nil; l = next(i) {
		l.Value = g.Evaluate(l.State, l.Random)
	}
}

// soonest returns the first round after which one of the games reaches the horizon.
func (t *together) soonest(games uint8) int {
	round := math.MaxInt
	for ; games != 0; games &= games - 1 {
		round = min(round, t.last[bits.TrailingZeros8(games)])
	}
	return round
}

// reached returns those of the games that reach the horizon at the round.
func (t *together) reached(games uint8, round int) (at uint8) {
	for i, last := range t.last {
		if last == round {
			at |= 1 << i
		}
	}
	return at & games
}

// begin begins the rollout of the next leaf of search i after that round of the block. It returns
// false at the end of the search.
func (g *model) begin(i, round int, next func(i int) *leaf) bool {
	t := &g.together
	l := next(i)
	t.leaves[i] = l
	if l == nil {
		return false
	}
	t.game.LoadBoards(t.block, i, l.State)
	t.random[i], t.last[i] = *l.Random, round+int(g.horizon)
	return true
}

// finish evaluates the leaf of search i, whose rollout is over or has reached the horizon.
func (g *model) finish(i int, over bool) {
	t := &g.together
	l := t.leaves[i]
	*l.Random = t.random[i]
	if over {
		l.Value = float64(t.game.Result(t.block, i))
		return
	}
	t.game.SaveBoards(&g.state, t.block, i)
	l.Value = g.formula(&g.state, l.Random)
}
