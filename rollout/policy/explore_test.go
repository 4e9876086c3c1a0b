package policy_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
)

// table has games of which several policies play the same rows, without an effect on each other.
type table struct {
	t     *testing.T
	v     env.Vector
	batch *env.Batch
	rows  []int32
}

func newTable(t *testing.T, game string, games int) *table {
	x := &table{t: t, v: policytest.NewVector(t, game, "", games, 0)}
	x.batch = env.NewBatch(x.v.Spec(), games, env.WantRowSeed)
	for row := range int32(x.batch.Rows) {
		x.rows = append(x.rows, row)
	}
	for i := range games {
		x.v.Reset(i, uint64(i))
	}
	return x
}

func (x *table) searcher(spec string) rollout.Searcher {
	return policytest.NewPolicy(x.t, x.v.Spec().Info.Name, spec, x.v.Spec()).(rollout.Searcher)
}

// ordersOf returns the orders of a row.
func (x *table) ordersOf(row int32) []sim.Order {
	return slices.Clone(x.batch.Orders[int(row)*x.v.Spec().Info.MaxOrders:][:x.batch.OrderLen[row]])
}

// act returns the orders that a policy gives in each row, and copies of the results of its searches.
func (x *table) act(p rollout.Searcher) (orders [][]sim.Order, found []*rollout.SearchResult) {
	x.v.Observe(x.batch)
	p.Act(x.v, x.batch, x.rows)
	for _, row := range x.rows {
		orders = append(orders, x.ordersOf(row))
		f := p.SearchResult(row)
		if f != nil {
			f = &rollout.SearchResult{Value: f.Value, Shares: slices.Clone(f.Shares), Orders: slices.Clone(f.Orders), Ends: slices.Clone(f.Ends)}
		}
		found = append(found, f)
	}
	return orders, found
}

// With full=0.3 three tenths of the rows have the orders and the result of the search without this option, the others
// the orders of a search with fewer simulations and without noise, and no result.
func TestFullSearches(t *testing.T) {
	x := newTable(t, "towerdefence", 10)
	some := x.searcher("mcts(sims=24,noise=0.25,full=0.3)")
	full, cheap := x.searcher("mcts(sims=24,noise=0.25)"), x.searcher("mcts(sims=4)")
	rows, searched, different := 0, 0, 0
	for range 40 {
		fullOrders, fullFound := x.act(full)
		cheapOrders, _ := x.act(cheap)
		orders, found := x.act(some)
		for i := range x.rows {
			rows++
			if !slices.Equal(fullOrders[i], cheapOrders[i]) {
				different++
			}
			if found[i] == nil {
				require.Equal(t, cheapOrders[i], orders[i], "row %d", i)
				continue
			}
			searched++
			require.Equal(t, fullOrders[i], orders[i], "row %d", i)
			require.Equal(t, fullFound[i], found[i], "row %d", i)
		}
		x.v.Step(x.batch)
	}
	assert.InDelta(t, 0.3, float64(searched)/float64(rows), 5*math.Sqrt(0.3*0.7/float64(rows)), "share of %d rows with a result", rows)
	assert.Greater(t, different, rows/20, "rows of %d with other orders after a cheap search", rows)
}

// In the first turns moves are drawn in proportion to visits^(1/visit-temperature), later the most visited one is played.
func TestSampledMoves(t *testing.T) {
	const turns = 8
	for temperature, spec := range map[float64]string{
		1: "mcts(sims=30,sampled=8)", 0.5: "mcts(sims=30,sampled=8,visit-temperature=0.5)", 2: "mcts(sims=30,sampled=8,visit-temperature=2)",
	} {
		x := newTable(t, "towerdefence", 30)
		sampled, plain := x.searcher(spec), x.searcher("mcts(sims=30)")
		expected, played, variance := 0.0, 0.0, 0.0
		for turn := range turns + 2 {
			best, found := x.act(plain)
			orders, same := x.act(sampled)
			require.Equal(t, found, same)
			if turn >= turns {
				require.Equal(t, best, orders)
			}
			for i := range x.rows {
				sum := 0.0
				for _, share := range found[i].Shares {
					sum += math.Pow(float64(share), 1/temperature)
				}
				p := math.Pow(float64(slices.Max(found[i].Shares)), 1/temperature) / sum
				if turn < turns {
					expected, variance = expected+p, variance+p*(1-p)
					if slices.Equal(best[i], orders[i]) {
						played++
					}
				}
			}
			x.v.Step(x.batch)
		}
		assert.InDelta(t, expected, played, 5*math.Sqrt(variance), "temperature %v: most visited moves of %d", temperature, turns*len(x.rows))
	}
}

// Searches that explore have the same results for rows that are searched at once, by a network or in a block of games,
// as for one row after the other, and allocate nothing. Played moves need not be those with the largest share.
func TestExploreAtOnce(t *testing.T) {
	for _, c := range []struct{ game, spec string }{
		{"towerdefence", "mcts(sims=20,rollout=playout,horizon=20,noise=0.25,sampled=6,full=0.5)"},
		{"towerdefence", "mcts(sims=20,rollout=playout,horizon=20,gumbel=8,full=0.5,cheap=3)"},
		{"towerdefence", "mcts(sims=20,model=net,gumbel=8)"},
		{"terminal", "mcts(sims=8,model=net,turns=2,noise=0.25,sampled=6,full=0.5)"},
		{"terminal", "mcts(sims=8,rollout=none,gumbel=4)"},
	} {
		t.Run(c.game+" "+c.spec, func(t *testing.T) {
			x := newTable(t, c.game, 6)
			all, single := x.searcher(c.spec), x.searcher(c.spec)
			for range 4 {
				orders, found := x.act(all)
				for i, row := range x.rows {
					single.Act(x.v, x.batch, []int32{row})
					require.Equal(t, found[i], single.SearchResult(row), "row %d", row)
					require.Equal(t, orders[i], x.ordersOf(row), "row %d", row)
				}
				x.v.Step(x.batch)
			}
			x.v.Observe(x.batch)
			assert.Zero(t, testing.AllocsPerRun(2, func() { all.Act(x.v, x.batch, x.rows) }), "allocations")
		})
	}
}
