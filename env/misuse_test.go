package env_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/sim/simtest"
)

// mustPanic calls f and requires a panic whose text contains want.
func mustPanic(t *testing.T, name, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		fault, ok := recover().(string)
		assert.Truef(t, ok && strings.Contains(fault, want), "%s: panic %q, want one with %q", name, fault, want)
	}()
	f()
}

// TestMisusePanics: misuse panics with the name of the slab or argument.
func TestMisusePanics(t *testing.T) {
	for _, g := range []simtest.Toy{shapes[0], shapes[1]} {
		v := pool(t, g, env.Settings{N: 2})
		orders := v.Spec().Info.MaxOrders
		act := func(row int, n int32, want env.Want) func() {
			return func() {
				b := env.NewBatch(v.Spec(), 2, want)
				v.Observe(b)
				clear(b.OrderLen)
				b.OrderLen[row] = n
				v.Step(b)
			}
		}
		for _, c := range []struct {
			name, want string
			call       func()
		}{
			{"more orders", fmt.Sprintf("env: OrderLen of row 2 is %d: expected -1, or 0 to %d orders", orders+1, orders), act(2, int32(orders+1), 0)},
			{"more orders, with actions", fmt.Sprintf("OrderLen of row 3 is %d", orders+7), act(3, int32(orders+7), wantAll)},
			{"fewer orders", "OrderLen of row 0 is -2", act(0, -2, wantAll)},
			{"Reset", "env: Reset of game 2: the Vector has 2, from 0", func() { v.Reset(2, 0) }},
			{"Reset", "env: Reset of game -1", func() { v.Reset(-1, 0) }},
			{"ObserveGame", "env: ObserveGame of game 7", func() { v.ObserveGame(env.NewBatch(v.Spec(), 2, 0), 7) }},
			{"AppendSnapshot", "env: AppendSnapshot of game 2", func() { v.AppendSnapshot(nil, 2) }},
			{"AppendText", "env: AppendText of game 2", func() { v.AppendText(nil, 2) }},
			{"Restore", "env: Restore of game 2", func() { _ = v.Restore(2, nil) }},
			{"Outcome", "env: Outcome of game 9", func() { v.Outcome(9, 0) }},
			{"Outcome", "env: Outcome of seat 2: toy has 2", func() { v.Outcome(0, 2) }},
			{"NewBatch", "env: NewBatch for -1 games", func() { env.NewBatch(v.Spec(), -1, 0) }},
			{"Need", "env: econ needs the slab Scalars, which the Batch does not have", func() {
				env.NewBatch(v.Spec(), 2, env.WantPlanes|env.WantRowSeed).Need(env.WantScalars|env.WantRowSeed, "econ")
			}},
		} {
			mustPanic(t, name(g)+": "+c.name, c.want, c.call)
		}
		for want := env.Want(1); want <= env.WantPlayed; want <<= 1 {
			env.NewBatch(v.Spec(), 2, want).Need(want, "a policy")
			mustPanic(t, "Need", "needs the slab", func() { env.NewBatch(v.Spec(), 2, wantAll&^want).Need(want, "a policy") })
		}
	}
}

// TestSameStepWantsABatchThatFits: the Batch for the last observations needs
// all rows.
func TestSameStepWantsABatchThatFits(t *testing.T) {
	v := pool(t, simtest.Toy{Seats: 2, Orders: 1}, env.Settings{N: 2})
	short := env.NewBatch(v.Spec(), 2, wantAll)
	short.Planes = short.Planes[1:]
	for want, final := range map[string]*env.Batch{
		"the Batch has 2 rows":                                  env.NewBatch(v.Spec(), 1, wantAll),
		"slab Planes of the Batch has length":                   short,
		"slab Orders of the Batch has length 0, 2 games need 4": {Rows: 4},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := env.NewAutoreset(v, env.SameStep, seedOf, final)
			assert.ErrorContains(t, err, want)
		})
	}
	a, err := env.NewAutoreset(v, env.SameStep, seedOf, env.NewBatch(v.Spec(), 2, wantAll))
	require.NoError(t, err)
	mustPanic(t, "Episode", "env: Episode of game 2: the Vector has 2, from 0", func() { a.Episode(2) })
	mustPanic(t, "Reset", "env: Reset of game 3", func() { a.Reset(3, 0) })
}
