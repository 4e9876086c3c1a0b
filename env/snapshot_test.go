package env_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/sim/simtest"
)

// advance plays n turns with actions drawn from the row seeds.
func advance(v env.Vector, b *env.Batch, n int) {
	for range n {
		v.Observe(b)
		chooseAction(v.Spec(), b)
		v.Step(b)
	}
}

func TestSnapshotContinues(t *testing.T) {
	for _, g := range shapes {
		for _, reward := range []string{"result", "stones"} {
			v := pool(t, g, env.Settings{N: 2, Reward: reward})
			w := pool(t, g, env.Settings{N: 3, Reward: reward})
			v.Reset(1, 77)
			b, c := env.NewBatch(v.Spec(), 2, wantAll), env.NewBatch(w.Spec(), 3, wantAll)
			advance(v, b, 3)
			advance(w, c, 5) // give w another past
			if err := w.Restore(2, v.AppendSnapshot(nil, 1)); err != nil {
				t.Fatal(err)
			}
			for turn := range simtest.ToyTurns {
				advance(v, b, 1)
				advance(w, c, 1)
				if got, want := record(w.Spec(), c, 2), record(v.Spec(), b, 1); got != want {
					t.Fatalf("%s, %s, %d turns on:\ngot  %s\nwant %s", name(g), reward, turn+1, got, want)
				}
			}
			// A game that has ended stays so.
			if !bytes.Equal(v.AppendSnapshot(nil, 1), w.AppendSnapshot(nil, 2)) {
				t.Errorf("%s: the last snapshots differ", name(g))
			}
		}
	}
}

func TestSnapshotAppends(t *testing.T) {
	v := pool(t, shapes[0], env.Settings{N: 1})
	plain := v.AppendSnapshot(nil, 0)
	assert.Equal(t, "before"+string(plain), string(v.AppendSnapshot([]byte("before"), 0)), "AppendSnapshot does not append the same bytes")
}

func TestDamagedSnapshotsAreRefused(t *testing.T) {
	v := pool(t, shapes[0], env.Settings{N: 1})
	b := env.NewBatch(v.Spec(), 1, wantAll)
	advance(v, b, 2)
	good := v.AppendSnapshot(nil, 0)
	refused := func(what string, bad []byte) {
		t.Helper()
		require.Errorf(t, v.Restore(0, bad), "%s: accepted", what)
		require.Truef(t, bytes.Equal(v.AppendSnapshot(nil, 0), good), "%s: refused, but the game has changed", what)
	}
	for bit := range 8 * len(good) {
		bad := slices.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		refused("a flipped bit", bad)
	}
	for n := range good {
		refused("a short snapshot", good[:n])
	}
	refused("a long snapshot", append(slices.Clone(good), 0))

	other := pool(t, simtest.Toy{Seats: 2, Orders: 2}, env.Settings{N: 1})
	refused("other rules", other.AppendSnapshot(nil, 0))
	require.NoError(t, v.Restore(0, good))
}

func FuzzRestore(f *testing.F) {
	v := pool(f, shapes[3], env.Settings{N: 1, Reward: "stones"})
	b := env.NewBatch(v.Spec(), 1, wantAll)
	f.Add(v.AppendSnapshot(nil, 0))
	advance(v, b, 4)
	f.Add(v.AppendSnapshot(nil, 0))
	f.Fuzz(func(t *testing.T, snapshot []byte) {
		before := v.AppendSnapshot(nil, 0)
		want := before
		if v.Restore(0, snapshot) == nil {
			want = snapshot
		}
		if got := v.AppendSnapshot(nil, 0); !bytes.Equal(got, want) {
			t.Errorf("after Restore(%x) the game is %x, want %x", snapshot, got, want)
		}
	})
}
