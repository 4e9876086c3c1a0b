package rating

import (
	"slices"
)

// Comparison counts the games between two players that share a block and a weight. A game of three or
// four players becomes the results of its pairs, by place, in one block.
type Comparison struct {
	A, B                int     // different players, from 0
	Block               int     // games that are not independent share a block: the games of one seed
	Wins, Draws, Losses int     // of A
	Weight              float64 // weight of each of these games, 0 … 1: 1, or less for repeated games
}

func (c *Comparison) games() float64 { return float64(c.Wins) + float64(c.Draws) + float64(c.Losses) }

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
		all[min(r.A, r.B)*players+max(r.A, r.B)].add(r.counts(r.Weight))
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

func (t *table) draws() bool {
	return slices.ContainsFunc(t.sum, func(c counts) bool { return c.draws > 0 })
}

func matrix(rows, columns int) [][]float64 {
	m := make([][]float64, rows)
	all := make([]float64, rows*columns)
	for i := range m {
		m[i] = all[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return m
}

// connect finds which players can be compared. Players are in one group if games connect them, and
// in one class if each can be reached from the other along results that were not losses: the
// likelihood without a prior bounds the differences within a class, and no others (Ford 1957; with
// draws, Davidson 1970). The lowest player of a group or class is its name.
func connect(t *table) (group, class []int) {
	beat, met := make([][]int, t.players), make([][]int, t.players)
	for p, pair := range t.pairs {
		i, j := pair[0], pair[1]
		met[i], met[j] = append(met[i], j), append(met[j], i)
		c := t.sum[p]
		if c.lead > -c.games/2 {
			beat[i] = append(beat[i], j)
		}
		if c.lead < c.games/2 {
			beat[j] = append(beat[j], i)
		}
	}
	group, class = make([]int, t.players), make([]int, t.players)
	reached := make([][]bool, t.players)
	for i := range t.players {
		reached[i] = reach(beat, i)
		class[i], group[i] = i, slices.Index(reach(met, i), true)
		for j := range i {
			if reached[i][j] && reached[j][i] {
				class[i] = class[j]
				break
			}
		}
	}
	return group, class
}

func reach(edges [][]int, from int) []bool {
	reached := make([]bool, len(edges))
	reached[from] = true
	for stack := []int{from}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, j := range edges[i] {
			if !reached[j] {
				reached[j] = true
				stack = append(stack, j)
			}
		}
	}
	return reached
}

// bounded reports whether the games bound the difference between two players, or between player i
// and the pool if j < 0.
func (m *Model) bounded(i, j int) bool {
	if j >= 0 {
		return m.class[i] == m.class[j]
	}
	return !slices.ContainsFunc(m.class, func(c int) bool { return c != m.class[0] })
}
