// Package policytest plays games by policies, for the tests of policies.
package policytest

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
)

// Long reports whether the long forms of tests run.
func Long() bool { return os.Getenv("MOONFARM_LONG") != "" }

// NewVector returns n games under the rules, cut after that many turns (0: never).
func NewVector(t testing.TB, game, rules string, n, turns int) env.Vector {
	t.Helper()
	g, err := catalog.Find(game)
	require.NoError(t, err)
	v, err := g.New(rules, env.Settings{N: n, MaxTurns: turns})
	require.NoError(t, err)
	return v
}

// NewMaker returns the maker of a spec.
func NewMaker(t testing.TB, game, spec string) rollout.Maker {
	t.Helper()
	m, err := policy.New(game, spec)
	require.NoError(t, err)
	return m
}

// NewPolicy returns the policy of a spec.
func NewPolicy(t testing.TB, game, spec string, s env.Spec) rollout.Policy {
	t.Helper()
	p, err := NewMaker(t, game, spec)(s)
	require.NoError(t, err)
	return p
}

// Scripts returns the names of the game's scripts: of its policies without options.
func Scripts(game string) (names []string) {
	all := policy.Names(game)
	for _, e := range all[2 : len(all)-1] { // without random, empty and mixtures
		if len(e.Options) == 0 {
			names = append(names, e.Name)
		}
	}
	return names
}

// SinkFunc is a sink of one function.
type SinkFunc func(e *rollout.Episode) error

// Episode implements rollout.Sink.
func (s SinkFunc) Episode(e *rollout.Episode) error { return s(e) }

// League plays `games` games of every pair of the named policies, n at once, and logs the
// results.
func League(t *testing.T, game, rules string, n, games int, names ...string) []arena.Pair {
	t.Helper()
	seats := NewVector(t, game, rules, 1, 0).Spec().Info.Players
	c := arena.Tournament{Schedule: schedule.NewRoundRobin(len(names), seats, games), Seed: 1, Workers: 2,
		Vector: func(int) (env.Vector, error) { return NewVector(t, game, rules, n, 0), nil }}
	for _, name := range names {
		c.Players = append(c.Players, arena.Entrant{Name: name, New: NewMaker(t, game, name)})
	}
	played, err := c.Play(t.Context())
	require.NoError(t, err)
	r, err := arena.Evaluate(names, played, -1)
	require.NoError(t, err)
	for _, p := range r.Pairs {
		t.Logf("%s: %10s – %-10s %3d won %2d drawn %3d lost, score %.3f, %5.1f turns", rules, p.A, p.B, p.Wins, p.Draws, p.Losses, p.Score, p.MeanTurns)
	}
	return r.Pairs
}

// EachTurn plays n games of two seats to the end, with the script at alternate seats, against
// random and the given opponents in turn. For each turn of each running game it calls show with
// the state before the turn and the script's orders.
func EachTurn[S any](t *testing.T, game, rules, script string, against []string, n int, show func(g sim.Game[S], s *S, p sim.Player, orders []sim.Order)) {
	t.Helper()
	v := NewVector(t, game, rules, n, 0)
	g, _ := env.Rules[S](v)
	states, _ := env.States[S](v)
	b := env.NewBatch(v.Spec(), n, env.WantMask|env.WantAction|env.WantRowSeed)
	p := NewPolicy(t, game, script, v.Spec())
	var opponents []rollout.Policy
	for _, name := range append([]string{"random"}, against...) {
		opponents = append(opponents, NewPolicy(t, game, name, v.Spec()))
	}
	for i := range n {
		v.Reset(i, uint64(i))
	}
	for range v.Spec().MaxTurns {
		v.Observe(b)
		for i := range n {
			row := 2*i + i%2
			p.Act(v, b, []int32{int32(row)})
			opponents[i%len(opponents)].Act(v, b, []int32{int32(row ^ 1)})
		}
		before := slices.Clone(states)
		status := slices.Clone(b.Status)
		v.Step(b) // converts choices to orders, too
		for i := range n {
			row := 2*i + i%2
			if status[i] == sim.Running {
				show(g, &before[i], sim.Player(row&1), b.Orders[row*v.Spec().Info.MaxOrders:][:b.OrderLen[row]])
			}
		}
	}
}
