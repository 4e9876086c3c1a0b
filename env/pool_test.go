package env_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

const wantAll = env.WantPlanes | env.WantPacked | env.WantScalars | env.WantMask | env.WantAction | env.WantRowSeed | env.WantPlayed

// shapes are toys with the shapes of real games: two seats with one order per
// turn, ordered lists of orders, more seats, heads that fill several words.
var shapes = []simtest.Toy{
	{Seats: 2, Orders: 1},
	{Seats: 2, Orders: 8},
	{Seats: 3, Orders: 2},
	{Seats: 4, Orders: 8},
}

func name(g simtest.Toy) string { return fmt.Sprintf("%d seats %d orders", g.Seats, g.Orders) }

func pool(t testing.TB, g simtest.Toy, c env.Settings) env.Vector {
	t.Helper()
	v, err := env.New(g, featuretest.ToyKit(g), c)
	require.NoError(t, err)
	return v
}

// chooseAction fills the actions of all rows with legal choices, drawn from the
// row seeds only.
func chooseAction(s env.Spec, b *env.Batch) {
	for row := range b.Rows {
		r, heads := prng.New(b.RowSeed[row]), len(s.Heads)
		featuretest.Choose(b.Action[row*heads:], s.Heads, b.Mask[row*s.MaskWords:], func(_, n int) int { return r.IntN(n) })
	}
}

func TestPoolPlaysToTheEnd(t *testing.T) {
	for _, g := range shapes {
		t.Run(name(g), func(t *testing.T) {
			v := pool(t, g, env.Settings{N: 5})
			b := env.NewBatch(v.Spec(), 5, wantAll)
			advance(v, b, simtest.ToyTurns)
			for i, s := range b.Status {
				assert.Equalf(t, sim.Over, s, "game %d: %v after %d turns, want over", i, s, b.Turn[i])
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		config env.Settings
		want   string
	}{
		{env.Settings{N: 0}, "0 games"},
		{env.Settings{N: -3}, "-3 games"},
		{env.Settings{N: 1, MaxTurns: -1}, "-1 turns"},
		{env.Settings{N: 1, Reward: "glory"}, `toy has no reward "glory"; there are: result, stones`},
	} {
		t.Run(c.want, func(t *testing.T) {
			g := simtest.Toy{Seats: 2, Orders: 1}
			_, err := env.New[simtest.ToyState](g, featuretest.ToyKit(g), c.config)
			assert.ErrorContainsf(t, err, c.want, "%+v", c.config)
		})
	}
}

func TestWrongSlabsPanic(t *testing.T) {
	v := pool(t, shapes[2], env.Settings{N: 2})
	for name, spoil := range map[string]func(b *env.Batch){
		"rows":     func(b *env.Batch) { b.Rows-- },
		"Orders":   func(b *env.Batch) { b.Orders = nil },
		"OrderLen": func(b *env.Batch) { b.OrderLen = b.OrderLen[1:] },
		"Reward":   func(b *env.Batch) { b.Reward = nil },
		"Status":   func(b *env.Batch) { b.Status = nil },
		"Turn":     func(b *env.Batch) { b.Turn = append(b.Turn, 0) },
		"Planes":   func(b *env.Batch) { b.Planes = b.Planes[:3] },
		"Packed":   func(b *env.Batch) { b.Packed = b.Packed[:3] },
		"Scalars":  func(b *env.Batch) { b.Scalars = b.Scalars[:3] },
		"Mask":     func(b *env.Batch) { b.Mask = b.Mask[:3] },
		"Action":   func(b *env.Batch) { b.Action = b.Action[:3] },
		"RowSeed":  func(b *env.Batch) { b.RowSeed = b.RowSeed[:3] },
		"Played":   func(b *env.Batch) { b.Played = b.Played[:3] },
		"Idle":     func(b *env.Batch) { b.Idle = make([]bool, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			b := env.NewBatch(v.Spec(), 2, wantAll)
			spoil(b)
			for _, call := range []func(*env.Batch){v.Observe, v.Step, func(b *env.Batch) { v.ObserveGame(b, 0) }} {
				mustPanic(t, name, name, func() { call(b) })
			}
		})
	}
}

func TestActionWithoutSlabPanics(t *testing.T) {
	v := pool(t, shapes[0], env.Settings{N: 1})
	b := env.NewBatch(v.Spec(), 1, 0)
	v.Observe(b)
	mustPanic(t, "Step", "no Action slab", func() { v.Step(b) })
}

// TestUnwantedSlabs: each slab by itself is filled as it is together with the
// others.
func TestUnwantedSlabs(t *testing.T) {
	for _, g := range shapes {
		v := pool(t, g, env.Settings{N: 2})
		all := env.NewBatch(v.Spec(), 2, wantAll)
		v.Observe(all)
		for w := env.Want(1); w <= env.WantPlayed; w <<= 1 {
			b := env.NewBatch(v.Spec(), 2, w)
			v.Observe(b)
			for what, same := range map[string]bool{
				"planes":   b.Planes == nil || slices.Equal(b.Planes, all.Planes),
				"packed":   b.Packed == nil || slices.Equal(b.Packed, all.Packed),
				"scalars":  b.Scalars == nil || slices.Equal(b.Scalars, all.Scalars),
				"mask":     b.Mask == nil || slices.Equal(b.Mask, all.Mask),
				"row seed": b.RowSeed == nil || slices.Equal(b.RowSeed, all.RowSeed),
			} {
				if !same {
					t.Errorf("%s: %s alone differ", name(g), what)
				}
			}
		}
	}
}

func TestObserveGameTouchesItsRowsOnly(t *testing.T) {
	for _, g := range shapes {
		v := pool(t, g, env.Settings{N: 3})
		full, part := env.NewBatch(v.Spec(), 3, wantAll), env.NewBatch(v.Spec(), 3, wantAll)
		empty := record(v.Spec(), part, 0)
		v.Observe(full)
		v.ObserveGame(part, 1)
		if record(v.Spec(), part, 1) != record(v.Spec(), full, 1) {
			t.Errorf("%s: ObserveGame and Observe differ", name(g))
		}
		if record(v.Spec(), part, 0) != empty || record(v.Spec(), part, 2) != empty {
			t.Errorf("%s: ObserveGame writes rows of other games", name(g))
		}
	}
}

func TestEndedGamesRest(t *testing.T) {
	v := pool(t, shapes[1], env.Settings{N: 2})
	b := env.NewBatch(v.Spec(), 2, wantAll)
	advance(v, b, simtest.ToyTurns)
	before := v.AppendSnapshot(nil, 0)
	v.Observe(b)
	v.Reset(1, 4) // the other game stays
	chooseAction(v.Spec(), b)
	for row := range b.OrderLen {
		b.Orders[row*8], b.OrderLen[row] = 1, 1
	}
	v.Step(b)
	assert.True(t, string(v.AppendSnapshot(nil, 0)) == string(before) && b.Status[0] == sim.Over, "a game that has ended is changed by Step")
	assert.Truef(t, b.Reward[0] == 0 && b.OrderLen[0] == 0 && b.Action[0] == -1, "row of an ended game: reward %v, %d orders, action %d", b.Reward[0], b.OrderLen[0], b.Action[0])
	assert.Truef(t, b.Status[1] == sim.Running && b.Turn[1] == 1, "the game that was reset: %v, turn %d", b.Status[1], b.Turn[1])
}

// TestActionReadOnly: in games that have ended as well as in running
// games.
func TestActionReadOnly(t *testing.T) {
	v := pool(t, shapes[1], env.Settings{N: 2})
	b := env.NewBatch(v.Spec(), 2, wantAll)
	advance(v, b, simtest.ToyTurns)
	v.Reset(1, 4)
	v.Observe(b)
	chooseAction(v.Spec(), b)
	for k := range b.Action { // all become −1 if they are written
		b.Action[k] = max(b.Action[k], 0)
	}
	last := b.Rows - 1
	b.Orders[last*8], b.OrderLen[last], b.ActionReadOnly = 1, 1, true // one row plays orders
	before := slices.Clone(b.Action)
	v.Step(b)
	assert.Truef(t, slices.Equal(b.Action, before) && b.Played[0] == -1 && b.Turn[1] == 1, "actions %v before the Step, %v after it, played %v; turn %d", before, b.Action, b.Played, b.Turn[1])
	b.ActionReadOnly = false
	v.Step(b)
	assert.Equalf(t, int32(-1), b.Action[0], "action %d of a game that has ended", b.Action[0])
}

func TestPoolAllocatesNothing(t *testing.T) {
	for _, g := range shapes {
		for _, reward := range []string{"result", "stones"} {
			v := pool(t, g, env.Settings{N: 4, Reward: reward})
			b := env.NewBatch(v.Spec(), 4, wantAll)
			snapshot := v.AppendSnapshot(nil, 0)
			for what, f := range map[string]func(){
				"Reset":          func() { v.Reset(2, 3) },
				"Observe":        func() { v.Observe(b) },
				"ObserveGame":    func() { v.ObserveGame(b, 1) },
				"Step":           func() { v.Step(b) },
				"AppendSnapshot": func() { snapshot = v.AppendSnapshot(snapshot[:0], 0) },
				"Restore":        func() { _ = v.Restore(1, snapshot) },
				"Outcome":        func() { v.Outcome(0, 1) },
			} {
				if n := testing.AllocsPerRun(10, f); n != 0 {
					t.Errorf("%s, %s: %s allocates %g times", name(g), reward, what, n)
				}
			}
		}
	}
}
