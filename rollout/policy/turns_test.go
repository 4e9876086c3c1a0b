package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	tmfeatures "moonfarm/features/terminal"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/neural/neuraltest"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// A search with a network of a sequential form has the same result for a row with and without other
// rows, and allocates nothing.
func TestTurnsSearch(t *testing.T) {
	for _, options := range []string{"", ",trust=0", ",trust=1,turns=1", ",turns=0,trust=0.5", ",opponent=maze", ",moves=strategist,turns=2,temperature=3"} {
		t.Run(options, func(t *testing.T) {
			const games, sims = 9, 12
			v := policytest.NewVector(t, "terminal", "", games, 0)
			s := v.Spec()
			p := policytest.NewPolicy(t, "terminal", fmt.Sprintf("mcts(sims=%d,model=net%s)", sims, options), s).(rollout.Searcher)
			b := env.NewBatch(s, games, p.Wants())
			for i := range games {
				v.Reset(i, uint64(i))
			}
			rows := numbers(b.Rows)
			for range 6 {
				v.Observe(b)
				p.Act(v, b, rows)
				v.Step(b)
			}
			v.Observe(b)
			p.Act(v, b, rows)
			type result struct {
				orders []sim.Order
				shares []float32
				counts rollout.NetworkCounts
			}
			of := func(row int32) result {
				return result{slices.Clone(b.Orders[int(row)*s.Info.MaxOrders:][:b.OrderLen[row]]), slices.Clone(p.SearchResult(row).Shares), p.(rollout.Networked).Network(b, row)}
			}
			var together []result
			for _, row := range rows {
				together = append(together, of(row))
			}
			for _, row := range slices.Backward(rows) {
				p.Act(v, b, []int32{row})
				require.Equalf(t, together[row], of(row), "row %d alone and with other rows", row)
			}
			assert.Zero(t, testing.AllocsPerRun(2, func() { p.Act(v, b, rows) }), "allocations")
			assert.NotZero(t, together[0].counts.Evaluations)
		})
	}
}

// The turns of the network join the moves of the search without duplicates: as actions of the form,
// each differs from all moves before it.
func TestTurnsDiffer(t *testing.T) {
	const games, turns = 4, 6
	v := policytest.NewVector(t, "terminal", "", games, 0)
	states, _ := env.States[terminal.State](v)
	rules, _ := env.Rules[terminal.State](v)
	kit := tmfeatures.Kit(rules.(*terminal.Game))
	form, err := kit.Form(tmfeatures.OrdersForm)
	require.NoError(t, err)
	drafts := form.NewDrafts(1)
	plain := policytest.NewPolicy(t, "terminal", "mcts(sims=1)", v.Spec()).(rollout.Searcher)
	p := policytest.NewPolicy(t, "terminal", fmt.Sprintf("mcts(sims=8,model=net,turns=%d)", turns), v.Spec()).(rollout.Searcher)
	b := env.NewBatch(v.Spec(), games, p.Wants())
	for i := range games {
		v.Reset(i, uint64(i))
	}
	asked, added, played := 0, 0, 0
	for range 25 {
		v.Observe(b)
		rows := numbers(b.Rows)
		plain.Act(v, b, rows)
		p.Act(v, b, rows)
		for _, row := range rows {
			listed, found := len(plain.SearchResult(row).Shares), p.SearchResult(row)
			if listed == 1 {
				require.Lenf(t, found.Shares, 1, "row %d has no choice", row)
				continue
			}
			asked += turns
			seen := map[string]bool{}
			for k := range found.Shares {
				drafts.Begin(0, &states[row/2], sim.Player(row%2))
				actions, action := []int32{}, []int32{0}
				for ended := false; !ended; {
					drafts.Action(action, found.OrdersOf(k), 0)
					actions = append(actions, action[0])
					ended = drafts.Take(0, action)
				}
				key := fmt.Sprint(actions)
				if k >= listed {
					added++
					require.Falsef(t, seen[key], "row %d: move %d, %v, is there twice", row, k, actions)
					if found.Shares[k] == slices.Max(found.Shares) {
						played++
					}
				}
				seen[key] = true
			}
		}
		v.Step(b)
	}
	t.Logf("%d turns, %d of them are moves, %d played", asked, added, played)
	assert.True(t, added < asked && played > 0, "no turn was a duplicate, or none was played")
}

// A network of a sequential form gives no values without trust, plays on if its numbers are NaN, and
// its options are refused where they do nothing.
func TestTurnsOptions(t *testing.T) {
	v := policytest.NewVector(t, "terminal", "", 2, 12)
	s := v.Spec()
	inOrders, _ := s.InForm(tmfeatures.OrdersForm)
	cells, silent, broken := modelFile(t, s, true), modelFile(t, inOrders, false), filepath.Join(t.TempDir(), "nan.onnx")
	require.NoError(t, os.WriteFile(broken, neuraltest.Ending(inOrders, 1, true, "Exp", "Neg", "Log"), 0o666))
	for spec, want := range map[string]string{
		"mcts(model=" + cells + ",turns=3)":            "turns=3: only networks of a form in which orders follow one another give whole turns",
		"mcts(model=" + cells + ",trust=0)":            "trust=0: a network cannot weigh the moves of terminal",
		"mcts(model=net,turns=0,trust=0)":              "trust=0: a network cannot weigh the moves of terminal",
		"mcts(model=" + silent + ",turns=0)":           "has no output for the value, which a search with trust=0.5 needs",
		"mcts(model=" + silent + ",turns=2,trust=0.1)": "has no output for the value, which a search with trust=0.1 needs",
	} {
		_, err := policytest.NewMaker(t, "terminal", spec)(s)
		assert.ErrorContainsf(t, err, want, "%q", spec)
	}
	for model, faults := range map[string]bool{silent: false, broken: true} {
		p := policytest.NewPolicy(t, "terminal", "mcts(sims=4,turns=2,trust=0,model="+model+")", s)
		var got networkSink
		require.NoError(t, rollout.Shard(t.Context(), v, []rollout.Policy{p, policytest.NewPolicy(t, "terminal", "maze", s)}, 1, 0, 2, &got))
		for _, e := range got {
			assert.Truef(t, e[0].Evaluations > 0 && (e[0].NotFinite > 0) == faults && (e[0].NotFinite == e[0].Evaluations) == faults, "%s: %+v", model, e[0])
		}
	}
}
