package env_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// record returns all that a Batch holds of game i, as text.
func record(s env.Spec, b *env.Batch, i int) string {
	n := s.Info.Players
	row := func(width int) (from, to int) { return i * n * width, (i + 1) * n * width }
	p0, p1 := row(s.Shape.PlaneBytes())
	w0, w1 := row(s.Shape.Words)
	s0, s1 := row(s.Shape.Scalars)
	m0, m1 := row(s.MaskWords)
	h0, h1 := row(len(s.Heads))
	r0, r1 := row(1)
	var orders []sim.Order // orders after OrderLen have no meaning
	for r := r0; r < r1; r++ {
		orders = append(orders, b.Orders[r*s.Info.MaxOrders:][:max(b.OrderLen[r], 0)]...)
	}
	return fmt.Sprint(b.Planes[p0:p1], b.Packed[w0:w1], b.Scalars[s0:s1], b.Mask[m0:m1], b.RowSeed[r0:r1],
		b.Action[h0:h1], orders, b.OrderLen[r0:r1], b.Reward[r0:r1], b.Status[i], b.Turn[i])
}

// history plays games with the given seeds side by side, with actions drawn
// from the row seeds, and returns the records of each.
func history(t *testing.T, g simtest.Toy, seeds []uint64, order []int) [][]string {
	t.Helper()
	v := pool(t, g, env.Settings{N: len(seeds), Reward: "stones"})
	for _, i := range order {
		v.Reset(i, seeds[i])
	}
	b := env.NewBatch(v.Spec(), len(seeds), wantAll)
	seen := make([][]string, len(seeds))
	for range simtest.ToyTurns + 2 {
		v.Observe(b)
		for i := range seeds {
			seen[i] = append(seen[i], record(v.Spec(), b, i))
		}
		chooseAction(v.Spec(), b)
		v.Step(b)
		for i := range seeds {
			seen[i] = append(seen[i], record(v.Spec(), b, i))
		}
	}
	return seen
}

// TestGamesAreAlone: a game does not depend on the number of games beside it,
// on its index, or on the order of resets.
func TestGamesAreAlone(t *testing.T) {
	seeds := []uint64{7, 1 << 63, 0, 12345, 99}
	for _, g := range shapes {
		t.Run(name(g), func(t *testing.T) {
			all := history(t, g, seeds, []int{0, 1, 2, 3, 4})
			shuffled := history(t, g, seeds, []int{3, 0, 4, 2, 1, 3, 3})
			for i, seed := range seeds {
				alone := history(t, g, []uint64{seed}, []int{0})[0]
				for k := range alone {
					if all[i][k] != alone[k] || all[i][k] != shuffled[i][k] {
						t.Fatalf("seed %d, record %d:\nalone    %s\namong 5  %s\nshuffled %s", seed, k, alone[k], all[i][k], shuffled[i][k])
					}
				}
			}
		})
	}
}

// TestOrdersSayWhatActionsSay plays the same games by actions and by the orders
// that Step made of them. Both have the same Played.
func TestOrdersSayWhatActionsSay(t *testing.T) {
	for _, g := range shapes {
		t.Run(name(g), func(t *testing.T) {
			v, w := pool(t, g, env.Settings{N: 3}), pool(t, g, env.Settings{N: 3})
			spec := v.Spec()
			b, c := env.NewBatch(spec, 3, wantAll), env.NewBatch(spec, 3, wantAll)
			for i := range 3 {
				v.Reset(i, uint64(i))
				w.Reset(i, uint64(i))
			}
			for turn := range simtest.ToyTurns + 1 {
				v.Observe(b)
				w.Observe(c)
				chooseAction(spec, b)
				if turn%2 == 1 {
					b.Action[0] = -1 // no choice: orders nothing
				}
				v.Step(b)
				copy(c.Orders, b.Orders)
				copy(c.OrderLen, b.OrderLen)
				w.Step(c)
				require.True(t, slices.Equal(b.Planes, c.Planes) && slices.Equal(b.Reward, c.Reward) && slices.Equal(b.Status, c.Status), "games played by actions and by their orders differ")
				require.Truef(t, slices.Equal(b.Played, c.Action), "turn %d: played %v, the orders say %v", turn, b.Played, c.Action)
				require.Truef(t, len(spec.Heads) != 1 || slices.Equal(b.Action[turn%2:], c.Action[turn%2:]), "Step fills in actions %d for the orders of actions %d", c.Action, b.Action)
			}
		})
	}
}

func TestRewards(t *testing.T) {
	for _, g := range shapes {
		for _, reward := range []string{"", "result", "stones"} {
			v := pool(t, g, env.Settings{N: 4, Reward: reward})
			spec, n := v.Spec(), g.Seats
			if reward != "stones" && spec.Reward != env.ResultReward {
				t.Errorf("reward %q is %q in the spec", reward, spec.Reward)
			}
			b := env.NewBatch(spec, 4, wantAll)
			for i := range 4 {
				v.Reset(i, uint64(i)+10)
			}
			total := make([]float64, b.Rows)
			for range simtest.ToyTurns + 1 {
				v.Observe(b)
				running := slices.Clone(b.Status)
				chooseAction(spec, b)
				v.Step(b)
				for i := range 4 {
					checkReward(t, v, b, i, running[i] == sim.Running)
				}
				for row, r := range b.Reward {
					total[row] += float64(r)
				}
			}
			for row := range total {
				checkReturn(t, v, spec.Reward, row, n, total[row])
			}
		}
	}
}

// checkReward: rewards sum to zero; the result comes with the end, and nothing
// after it.
func checkReward(t *testing.T, v env.Vector, b *env.Batch, i int, running bool) {
	t.Helper()
	n := v.Spec().Info.Players
	sum := 0.0
	for seat, r := range b.Reward[i*n : (i+1)*n] {
		sum += float64(r)
		ends := running && b.Status[i] == sim.Over
		if v.Spec().Reward == env.ResultReward && ends && r != v.Outcome(i, sim.Player(seat)).Result ||
			v.Spec().Reward == env.ResultReward && !ends && r != 0 || !running && r != 0 {
			t.Fatalf("game %d turn %d seat %d: reward %v, status %v", i, b.Turn[i], seat, r, b.Status[i])
		}
	}
	if sum > 1e-5 || sum < -1e-5 {
		t.Fatalf("game %d turn %d: the rewards %v sum to %g", i, b.Turn[i], b.Reward[i*n:(i+1)*n], sum)
	}
}

// checkReturn: the rewards of a measure add up to its difference.
func checkReturn(t *testing.T, v env.Vector, reward string, row, n int, total float64) {
	t.Helper()
	i, p := row/n, sim.Player(row%n)
	own, others := v.Outcome(i, p).Score, 0.0
	for q := range n {
		if q != int(p) {
			others += v.Outcome(i, sim.Player(q)).Score / float64(n-1)
		}
	}
	want := own - others
	if reward == env.ResultReward {
		want = float64(v.Outcome(i, p).Result)
	}
	d := total - want
	assert.Truef(t, d <= 1e-4 && d >= -1e-4, "game %d seat %d: rewards %q sum to %g, want %g", i, p, reward, total, want)
}

func TestCutHasNoResult(t *testing.T) {
	g := simtest.Toy{Seats: 2, Orders: 1}
	v := pool(t, g, env.Settings{N: 1, MaxTurns: 3})
	if v.Spec().MaxTurns != 3 {
		t.Errorf("Spec.MaxTurns is %d, want 3", v.Spec().MaxTurns)
	}
	b := env.NewBatch(v.Spec(), 1, env.WantMask)
	for turn := range 5 {
		v.Observe(b)
		b.Orders[0], b.OrderLen[0], b.OrderLen[1] = sim.Order(turn+1), 1, 0
		v.Step(b)
		status, turns := sim.Running, int32(turn+1)
		if turn >= 2 {
			status, turns = sim.Cut, 3
		}
		assert.Truef(t, b.Status[0] == status && b.Turn[0] == turns && b.Reward[0] == 0 && b.Reward[1] == 0, "step %d: %v, turn %d, rewards %v", turn, b.Status[0], b.Turn[0], b.Reward)
	}
	assert.Equal(t, float32(1), v.Outcome(0, 0).Result, "seat 0 should stand better: it took three heaps")
	v.Observe(b)
	assert.Equalf(t, []uint64{1, 1}, b.Mask, "mask %x of a game that was cut, want choice 0 of each seat alone", b.Mask)
	b.CutMask = true
	v.Observe(b)
	assert.Equal(t, []uint64{0x1f1, 0x1f1}, b.Mask, "what is legal after the last turn")
}

func TestKeysDependOnSeedTurnAndSeatOnly(t *testing.T) {
	v := pool(t, simtest.Toy{Seats: 2, Orders: 1}, env.Settings{N: 2})
	v.Reset(0, 5)
	v.Reset(1, 6)
	b := env.NewBatch(v.Spec(), 2, env.WantRowSeed)
	seen := map[uint64]bool{}
	for turn := range 4 {
		v.Observe(b)
		for row, seed := range b.RowSeed {
			want := prng.StreamSeed(uint64(5+row/2), 0, uint64(turn), uint64(row%2), prng.PurposePolicy)
			if seed != want || seen[seed] {
				t.Errorf("row %d turn %d: seed %x, want %x (seen before: %v)", row, turn, seed, want, seen[seed])
			}
			seen[seed] = true
			b.OrderLen[row] = 0
		}
		v.Step(b)
	}
}
