package env_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim/simtest"
)

// foggy makes toys in which a seat sees only the heaps that it named in the
// turn before.
func foggy(t *testing.T, fog *features.Fog, c env.Settings) (env.Vector, error) {
	t.Helper()
	g := simtest.Toy{Seats: 2, Orders: 8}
	kit := featuretest.ToyKit(g)
	kit.Fog = fog
	return env.New(g, kit, c)
}

// TestMemory compares the memory with one kept heap by heap: over restarts,
// over a loaded state, and over a game that is restored to an earlier turn.
func TestMemory(t *testing.T) {
	c := env.Settings{N: 3, Memory: true}
	v, err := foggy(t, &features.Fog{Visible: "named", Remembered: []string{"heap"}}, c)
	require.NoError(t, err)
	c.Memory = false
	bare, err := foggy(t, nil, c)
	require.NoError(t, err)
	if got := v.Spec().Remembered; len(got) != 1 || got[0] != "heap" || len(bare.Spec().Remembered) > 0 {
		t.Errorf("remembered: %v and without memory %v", got, bare.Spec().Remembered)
	}
	const heaps = simtest.ToyHeaps
	var known [6][heaps]uint8 // by row: the last seen values
	a, b := env.NewBatch(bare.Spec(), 3, wantAll), env.NewBatch(v.Spec(), 3, wantAll)
	filled := 0
	compare := func(turn int) {
		for row := range known {
			for h := range heaps {
				now, visible := a.Planes[row*2*heaps+h], a.Planes[row*2*heaps+heaps+h] != 0
				if visible {
					known[row][h] = now
				} else if known[row][h] != now {
					filled++
				}
				if got := b.Planes[row*2*heaps+h]; got != known[row][h] {
					t.Fatalf("turn %d, row %d, heap %d: %d, want %d", turn, row, h, got, known[row][h])
				}
			}
		}
	}
	forget := func(i int) { known[2*i], known[2*i+1] = [heaps]uint8{}, [heaps]uint8{} }
	saved := v.AppendSnapshot(nil, 2)
	for turn := range 60 {
		switch {
		case turn == 20: // both restart
			for _, w := range []env.Vector{bare, v} {
				if err := w.Restore(2, saved); err != nil {
					t.Fatal(err)
				}
			}
			forget(2)
		case turn%15 == 14:
			states, _ := env.States[simtest.ToyState](bare)
			start := states[0]
			require.True(t, env.Load(bare, 1, &start, 9) && env.Load(v, 1, &start, 9), "a state of the game is refused")
			forget(1)
		}
		bare.Observe(a)
		v.Observe(b)
		compare(turn)
		if turn%7 == 3 { // observe once more, each game alone
			v.ObserveGame(b, 1)
			compare(turn)
		}
		chooseAction(v.Spec(), a)
		copy(b.Action, a.Action)
		bare.Step(a)
		v.Step(b)
		for i, s := range a.Status {
			if got, want := v.Outcome(i, 1), bare.Outcome(i, 1); got != want {
				t.Fatalf("turn %d, game %d: outcome %v, want %v", turn, i, got, want)
			}
			if s != 0 {
				bare.Reset(i, uint64(turn))
				v.Reset(i, uint64(turn))
				forget(i)
			}
		}
	}
	assert.GreaterOrEqualf(t, filled, 100, "%d cells were filled in", filled)
	n := testing.AllocsPerRun(10, func() { v.Observe(b) })
	assert.Zerof(t, n, "Observe allocates %v times", n)
}

// TestMemoryRefused: memory needs fog, and planes that exist.
func TestMemoryRefused(t *testing.T) {
	for _, c := range []struct {
		fog  *features.Fog
		want string
	}{
		{nil, "these rules of toy have no fog of war"},
		{&features.Fog{Visible: "glory"}, `toy has no plane "glory"`},
		{&features.Fog{Visible: "named", Remembered: []string{"glory"}}, `toy has no plane "glory"`},
	} {
		t.Run(c.want, func(t *testing.T) {
			v, err := foggy(t, c.fog, env.Settings{N: 1, Memory: true})
			assert.Truef(t, v == nil && err != nil && strings.Contains(err.Error(), c.want), "%v, error %v, want %q", v, err, c.want)
		})
	}
}

// TestLoad: a loaded state is played like the game it was taken from; measures
// start from it, and turns from 0.
func TestLoad(t *testing.T) {
	for _, g := range shapes {
		v := pool(t, g, env.Settings{N: 2, Reward: "stones"})
		w := pool(t, g, env.Settings{N: 3, Reward: "stones"})
		b, c := env.NewBatch(v.Spec(), 2, wantAll), env.NewBatch(w.Spec(), 3, wantAll)
		advance(v, b, 3)
		advance(w, c, 5)
		states, _ := env.States[simtest.ToyState](v)
		require.True(t, env.Load(w, 2, &states[1], 11), "a state of the game is refused")
		other := 7
		assert.False(t, env.Load(w, 2, &other, 11), "a state of another game is loaded")
		n := v.Spec().Info.Players
		for turn := range simtest.ToyTurns {
			v.Observe(b)
			w.Observe(c)
			if c.Status[2] != b.Status[1] || c.Status[2] == 0 && int(c.Turn[2]) != turn {
				t.Fatalf("%s: %v after %d turns, want %v after %d", name(g), c.Status[2], c.Turn[2], b.Status[1], turn)
			}
			chooseAction(v.Spec(), b)
			heads := len(v.Spec().Heads)
			copy(c.Action[2*n*heads:], b.Action[n*heads:])
			v.Step(b)
			w.Step(c)
			for seat := range n {
				if got, want := c.Reward[2*n+seat], b.Reward[n+seat]; got != want {
					t.Fatalf("%s, %d turns on: reward %v, want %v", name(g), turn+1, got, want)
				}
			}
		}
	}
}
