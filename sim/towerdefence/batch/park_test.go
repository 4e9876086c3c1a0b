package batch_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/batch"
)

// playoutsOfSome plays at least that many rounds of single games by drawn orders, with games in some
// places only, without the ages of buildings, and compares every end of a match with the scalar game.
func playoutsOfSome(t testing.TB, w *twins, seed uint64, rounds int) {
	t.Helper()
	choose := prng.New(seed)
	var r, q [batch.Games]prng.Rand
	held := uint8(0) // places with a game
	place := func(i int) {
		r[i] = prng.New(choose.Uint64())
		q[i] = r[i]
		held &^= 1 << i
		if choose.IntN(4) == 0 {
			w.game.Park(w.block, i)
			return
		}
		held |= 1 << i
		s := &w.states[i]
		w.scalar.Reset(s, 0)
		for p := range sim.Player(2) {
			w.scalar.SetStart(s, p, []int{20, 20, 900, 60_000}[choose.IntN(4)], []int{100, 1, 1000}[choose.IntN(3)])
		}
		w.game.LoadBoards(w.block, i, s)
	}
	for i := range batch.Games {
		place(i)
	}
	for rounds > 0 {
		played, over := w.game.Playouts(w.block, &r, 1+choose.IntN(300))
		rounds -= played * batch.Games
		require.Zero(t, over&^held, "places without a game that are over")
		for i := range batch.Games {
			if held>>i&1 != 0 {
				playAlong(t, w, i, &q[i], played, over>>i&1 != 0)
				require.Equal(t, q[i], r[i])
			}
			if over>>i&1 != 0 || choose.IntN(20) == 0 {
				place(i)
			}
		}
	}
}

// playAlong plays rounds of the scalar game i and compares it with the block.
func playAlong(t testing.TB, w *twins, i int, r *prng.Rand, rounds int, over bool) {
	t.Helper()
	s := &w.states[i]
	for n := range rounds {
		a, b := w.scalar.Playout(s, 0, r), w.scalar.Playout(s, 1, r)
		require.Equal(t, over && n == rounds-1, w.scalar.Play(s, a, b) != sim.Running, "game %d is over in round %d of %d", i, n, rounds)
	}
	want := *s
	for p := range want.Half {
		want.Half[p].Born, want.Half[p].BornLate = [len(want.Half[p].Born)]uint8{}, 0
	}
	var got towerdefence.State
	w.game.SaveBoards(&got, w.block, i)
	if !w.game.Vector() {
		for p := range got.Half {
			got.Half[p].Born, got.Half[p].BornLate = [len(got.Half[p].Born)]uint8{}, 0
		}
	}
	require.Equal(t, want, got)
	if over {
		require.Equal(t, w.scalar.Outcome(s, 0).Result, w.game.Result(w.block, i))
	}
}

// TestPark compares games beside places without a game, and the results of all matches.
func TestPark(t *testing.T) {
	r := towerdefence.DefaultRules()
	r.MaxRounds = 150 // some matches end by score
	playoutsOfSome(t, newTwins(t, r), 1, rounds())
	w := newTwins(t, r)
	batch.Scalar(w.game)
	w.block = w.game.NewBlock()
	playoutsOfSome(t, w, 2, 20_000)
}

// FuzzPark does the same with a number of rounds and starts from the seed.
func FuzzPark(f *testing.F) {
	f.Add(uint64(0), uint16(150))
	f.Add(uint64(7), uint16(400))
	f.Fuzz(func(t *testing.T, seed uint64, most uint16) {
		r := towerdefence.DefaultRules()
		r.MaxRounds = 1 + int(most)%510
		playoutsOfSome(t, newTwins(t, r), seed, 3000)
	})
}

// TestParkOfAll: without a game, all rounds are played.
func TestParkOfAll(t *testing.T) {
	w := newTwins(t, towerdefence.DefaultRules())
	for i := range batch.Games {
		w.game.Park(w.block, i)
	}
	var r [batch.Games]prng.Rand
	played, over := w.game.Playouts(w.block, &r, 5000)
	assert.Equal(t, 5000, played)
	assert.Zero(t, over)
	over, _ = w.game.Play(w.block, &batch.Orders{{towerdefence.Aborted}, {0, towerdefence.Deconstruct(1, 1)}})
	assert.Zero(t, over)
	w.begin(0, [2]int{20, 20}, [2]int{100, 100})
	w.compare(0, &w.states[0])
}
