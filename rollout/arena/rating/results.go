package rating

import (
	"fmt"
	"math"
	"slices"
)

// Comparison counts the games between two players that share a block and a weight. A game of three or
// four players becomes the results of its pairs, by place, in one block.
type Comparison struct {
	A, B                int     // players, from 0
	Block               int     // games that are not independent share a block: the games of one seed
	Wins, Draws, Losses int     // of A
	Weight              float64 // weight of each of these games, 0 … 1: 1, or less for repeated games
}

// games returns the number of games.
func (c *Comparison) games() float64 { return float64(c.Wins) + float64(c.Draws) + float64(c.Losses) }

// maxCount bounds the games of a result.
const maxCount = math.MaxInt32

// check returns an error if a result is not valid.
func (c *Comparison) check(players int) error {
	switch {
	case c.A < 0 || c.A >= players || c.B < 0 || c.B >= players:
		return fmt.Errorf("players %d and %d, want 0 … %d", c.A, c.B, players-1)
	case c.A == c.B:
		return fmt.Errorf("player %d against itself", c.A)
	case min(c.Wins, c.Draws, c.Losses) < 0 || max(c.Wins, c.Draws, c.Losses) > maxCount:
		return fmt.Errorf("%d wins, %d draws, %d losses, want 0 … %d", c.Wins, c.Draws, c.Losses, maxCount)
	case !(c.Weight >= 0 && c.Weight <= 1):
		return fmt.Errorf("weight %v, want 0 … 1", c.Weight)
	}
	return nil
}

// check returns an error if one of the results is not valid.
func check(players int, results []Comparison) error {
	if players < 1 || players > MaxPlayers {
		return fmt.Errorf("rating: %d players, want 1 … %d", players, MaxPlayers)
	}
	for k := range results {
		if err := results[k].check(players); err != nil {
			return fmt.Errorf("rating: result %d: %w", k, err)
		}
	}
	return nil
}

// counts are the weighted games of a pair i < j: half of (i's wins minus its losses), draws, and
// all games. The first two are the sufficient statistics of Davidson's model.
type counts struct{ lead, draws, games float64 }

func (c *counts) add(d counts) {
	c.lead += d.lead
	c.draws += d.draws
	c.games += d.games
}

// counts returns the counts of a result, from the side of the lower player.
func (c *Comparison) counts(weight float64) counts {
	lead := float64(weight * (float64(c.Wins) - float64(c.Losses)) / 2)
	if c.A > c.B {
		lead = -lead
	}
	return counts{lead, float64(weight * float64(c.Draws)), float64(weight * c.games())}
}

// table has the games of every pair.
type table struct {
	players int
	pairs   [][2]int // the pairs that met, i < j, in order
	index   []int32  // [i·players+j], an index in pairs; −1 if they did not meet
	sum     []counts // by pair
}

// tabulate sums the results up by pair. They must be valid.
func tabulate(players int, results []Comparison) *table {
	t := &table{players: players, index: make([]int32, players*players)}
	all := make([]counts, players*players)
	for k := range results {
		r := &results[k]
		all[t.place(r)].add(r.counts(r.Weight))
	}
	for i := range players {
		for j := range players {
			t.index[i*players+j] = -1
			if c := all[i*players+j]; c.games > 0 {
				t.index[i*players+j] = int32(len(t.pairs))
				t.pairs = append(t.pairs, [2]int{i, j})
				t.sum = append(t.sum, c)
			}
		}
	}
	return t
}

// place returns the position of a result's pair in index.
func (t *table) place(r *Comparison) int { return min(r.A, r.B)*t.players + max(r.A, r.B) }

// draws reports whether any game was drawn.
func (t *table) draws() bool {
	return slices.ContainsFunc(t.sum, func(c counts) bool { return c.draws > 0 })
}

// blocks gives each result the number of its block, from 0 in the order of Comparison.Block, and −1 to
// a result without weight or games.
func blocks(results []Comparison) (of []int32, n int) {
	number := map[int]int32{}
	ids := []int{}
	last, any := 0, false
	for k := range results {
		r := &results[k]
		if r.Weight == 0 || r.games() == 0 || any && r.Block == last {
			continue
		}
		last, any = r.Block, true
		if _, ok := number[r.Block]; !ok {
			number[r.Block] = 0
			ids = append(ids, r.Block)
		}
	}
	slices.Sort(ids)
	for k, id := range ids {
		number[id] = int32(k)
	}
	of = make([]int32, len(results))
	last, any = 0, false
	current := int32(-1)
	for k := range results {
		r := &results[k]
		if r.Weight == 0 || r.games() == 0 {
			of[k] = -1
			continue
		}
		if !any || r.Block != last {
			last, any, current = r.Block, true, number[r.Block]
		}
		of[k] = current
	}
	return of, len(ids)
}

// matrix returns a matrix of zeros.
func matrix(rows, columns int) [][]float64 {
	m := make([][]float64, rows)
	all := make([]float64, rows*columns)
	for i := range m {
		m[i] = all[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return m
}
