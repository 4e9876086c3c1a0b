package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Options of a portfolio search are read and rewritten in canonical form; wrong ones are refused.
func TestPortfolioOptions(t *testing.T) {
	s := policytest.NewVector(t, "codecraft", "", 1, 0).Spec()
	for spec, want := range map[string]string{
		"pgs":                              "pgs",
		" pgs ( sims = 0400, horizon=06 )": "pgs(sims=400,horizon=6)",
		"mix(1*pgs(ms=050),1*econ)":        "mix(1*pgs(ms=50),1*econ)",
	} {
		assert.Equalf(t, want, policytest.NewPolicy(t, "codecraft", spec, s).Name(), "%q is called", spec)
	}
	for spec, want := range map[string]string{
		"pgs(c=1)":         `character 5: no option "c"; there are: sims, ms, horizon`,
		"pgs(sims=0)":      "character 5: sims=0, expected a whole number from 1 to 1000000",
		"pgs(horizon=0)":   "character 5: horizon=0, expected a whole number from 1 to 1000000",
		"pgs(ms=5,sims=5)": "character 5: sims and ms are both set, expected one budget",
	} {
		_, err := policy.New("codecraft", spec)
		assert.ErrorContainsf(t, err, want, "%q", spec)
	}
	_, err := policy.NewReproducible("codecraft", "pgs(ms=5)")
	assert.ErrorContains(t, err, "expected a budget in simulations, as in pgs(sims=400)")
	_, err = policy.New("terminal", "pgs")
	assert.ErrorContains(t, err, `no policy "pgs" for terminal`)
	s.Info.MaxOrders = 100
	_, err = policytest.NewMaker(t, "codecraft", "pgs")(s)
	assert.ErrorContains(t, err, "pgs needs room for ")
}

// battleAt returns a vector of n games of two armies that meet.
func battleAt(t *testing.T, n int) env.Vector {
	t.Helper()
	v := policytest.NewVector(t, "codecraft", "finals", n, 0)
	rules, _ := env.Rules[codecraft.State](v)
	s, err := codecraft.ParseText(rules.(*codecraft.Game), "tick 300\n"+
		"33  .r1r1 . . . . . .r2r2\n32 r1r1 . . . . . .r2r2 .\n31  .r1r1 . . . . . .r2r2\n30 r1r1 . . . . . .r2r2 .\nx30")
	require.NoError(t, err)
	for i := range n {
		env.Load(v, i, &s, 0)
	}
	return v
}

// The results of a portfolio search have shares that sum to 1, and the orders of the last move are
// played. Only rows of the latest Act have results.
func TestPortfolioResults(t *testing.T) {
	v := battleAt(t, 2)
	p := policytest.NewPolicy(t, "codecraft", "pgs(sims=60)", v.Spec()).(rollout.Searcher)
	b := env.NewBatch(v.Spec(), 2, p.Wants())
	room, moves := v.Spec().Info.MaxOrders, 0
	for range 10 {
		v.Observe(b)
		p.Act(v, b, []int32{3, 0})
		b.OrderLen[1], b.OrderLen[2] = 0, 0
		for _, row := range []int32{0, 3} {
			f := p.SearchResult(row)
			sum := float32(0)
			for _, share := range f.Shares {
				sum += share
			}
			require.Truef(t, sum == 1 && len(f.Shares) == len(f.Ends) && f.Value > -1 && f.Value < 1, "shares %v, ends %v, value %v", f.Shares, f.Ends, f.Value)
			require.Equal(t, append([]sim.Order{}, f.OrdersOf(len(f.Ends)-1)...), append([]sim.Order{}, b.Orders[int(row)*room:][:b.OrderLen[row]]...))
			moves = max(moves, len(f.Ends))
		}
		require.Nil(t, p.SearchResult(1), "the result of a row that was not searched")
		v.Step(b)
	}
	assert.Equal(t, 2, moves, "the search improves orders")
}

// A budget in milliseconds ends the search.
func TestPortfolioClock(t *testing.T) {
	v := battleAt(t, 1)
	p := policytest.NewPolicy(t, "codecraft", "pgs(ms=40,horizon=20)", v.Spec())
	b := env.NewBatch(v.Spec(), 1, p.Wants())
	v.Observe(b)
	begin := time.Now()
	p.Act(v, b, []int32{0})
	assert.Less(t, time.Since(begin), 60*time.Second)
}
