package terminal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// played holds the actions of games, by row and turn: one or more of as many int32 as there are
// heads.
type played [][][]int32

// playedGames returns the orders of n games of two policies, as actions of the two forms.
func playedGames(b *testing.B, n int, first, second string) (cells, orders played) {
	b.Helper()
	v := policytest.NewVector(b, "terminal", "2026", n, 0)
	s := v.Spec()
	batch := env.NewBatch(s, n, env.WantMask|env.WantAction|env.WantRowSeed)
	policies := []rollout.Policy{policytest.NewPolicy(b, "terminal", first, s), policytest.NewPolicy(b, "terminal", second, s)}
	cells, orders = make(played, 2*n), make(played, 2*n)
	g, _ := env.Rules[terminal.State](v)
	y := newSayer(b, g.(*terminal.Game).Rules())
	states, _ := env.States[terminal.State](v)
	for i := range n {
		v.Reset(i, uint64(i))
	}
	for range s.MaxTurns {
		v.Observe(batch)
		for p, policy := range policies {
			for i := range n {
				policy.Act(v, batch, []int32{int32(2*i + p)})
			}
		}
		for row := range batch.Rows {
			if batch.Status[row/2] != sim.Running {
				continue
			}
			given := batch.Orders[row*s.Info.MaxOrders:][:batch.OrderLen[row]]
			action := make([]int32, len(s.Heads))
			v.(env.Labeller).Label(action, row/2, sim.Player(row%2), given)
			cells[row] = append(cells[row], action)
			orders[row] = append(orders[row], y.actions(&states[row/2], sim.Player(row%2), given))
		}
		v.Step(batch)
	}
	return cells, orders
}

// BenchmarkForms plays the same games by actions of the two forms, with and without observations.
func BenchmarkForms(b *testing.B) {
	const n = 16
	cells, orders := playedGames(b, n, "starter", "planner")
	for _, c := range []struct {
		form string
		list played
	}{{"cells", cells}, {"orders", orders}} {
		for _, o := range []struct {
			name string
			want env.Want
		}{{"step", 0}, {"packed", env.WantPacked | env.WantScalars | env.WantMask}, {"planes", env.WantPlanes | env.WantScalars | env.WantMask}} {
			b.Run(c.form+"/"+o.name, func(b *testing.B) {
				g, err := catalog.Find("terminal")
				require.NoError(b, err)
				v, err := g.New("2026", env.Settings{N: n, Form: c.form})
				require.NoError(b, err)
				batch := env.NewBatch(v.Spec(), n, o.want|env.WantAction)
				y := player{v, batch, c.list, make([]int, 2*n), make([]int32, n)}
				turns, rewards := 0, float32(0)
				for b.Loop() {
					t, r := y.steps(100, o.want != 0)
					turns, rewards = turns+t, rewards+r
				}
				b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
				b.ReportMetric(float64(turns)/float64(100*n*b.N), "turns/step")
				b.ReportMetric(float64(rewards)/float64(turns), "reward/turn")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// player plays games by their actions, again and again.
type player struct {
	v    env.Vector
	b    *env.Batch
	list played
	at   []int   // by row: the next action of the turn
	turn []int32 // by game
}

// steps makes that many steps and returns the number of turns played and the sum of seat 0's
// rewards.
func (y *player) steps(n int, observe bool) (turns int, rewards float32) {
	b, heads := y.b, len(y.v.Spec().Heads)
	for range n {
		if observe {
			y.v.Observe(b)
		}
		for row := range b.Rows {
			b.OrderLen[row] = -1
			if all := y.list[row][y.turn[row/2]]; y.at[row] < len(all) {
				copy(b.Action[row*heads:][:heads], all[y.at[row]:])
				y.at[row] += heads
			}
		}
		y.v.Step(b)
		for i, now := range b.Turn {
			rewards += b.Reward[2*i]
			if now == y.turn[i] && b.Status[i] == sim.Running {
				continue
			}
			turns++
			y.at[2*i], y.at[2*i+1], y.turn[i] = 0, 0, now
			if b.Status[i] != sim.Running || int(now) == len(y.list[2*i]) {
				y.v.Reset(i, uint64(i))
				y.turn[i] = 0
			}
		}
	}
	return turns, rewards
}
