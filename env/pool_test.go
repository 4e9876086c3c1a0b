package env_test

import (
	"fmt"
	"testing"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

const wantAll = env.WantPlanes | env.WantPacked | env.WantScalars | env.WantMask | env.WantAction | env.WantKey

// shapes are toys of the shapes of the games to come: two seats with one order
// a turn, ordered lists of orders, more seats, heads that fill several words.
var shapes = []simtest.Toy{
	{Seats: 2, Orders: 1},
	{Seats: 2, Orders: 8},
	{Seats: 3, Orders: 2},
	{Seats: 4, Orders: 8},
}

func name(g simtest.Toy) string { return fmt.Sprintf("%d seats %d orders", g.Seats, g.Orders) }

func pool(t testing.TB, g simtest.Toy, c env.Config) *env.Pool[simtest.ToyState] {
	t.Helper()
	v, err := env.New[simtest.ToyState](g, featuretest.ToyKit(g), c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// chooseAction fills the actions of all rows with choices that the mask
// allows, drawn from the rows' keys alone.
func chooseAction(s env.Spec, b *env.Batch) {
	for row := range b.Rows {
		r := prng.New(b.Key[row])
		mask := b.Mask[row*s.MaskWords:][:s.MaskWords]
		from := 0
		for h, n := range s.Heads {
			b.Action[row*len(s.Heads)+h] = pick(&r, mask, from, n)
			from += n
		}
	}
}

func pick(r *prng.Rand, mask []uint64, from, n int) int32 {
	var legal []int32
	for c := range n {
		if mask[(from+c)/64]>>((from+c)%64)&1 != 0 {
			legal = append(legal, int32(c))
		}
	}
	if legal == nil {
		return -1
	}
	return legal[r.IntN(len(legal))]
}

func TestPoolPlaysToTheEnd(t *testing.T) {
	for _, g := range shapes {
		t.Run(name(g), func(t *testing.T) {
			v := pool(t, g, env.Config{N: 5})
			b := env.NewBatch(v.Spec(), 5, wantAll)
			for turn := 0; turn < simtest.ToyTurns; turn++ {
				v.Observe(b)
				chooseAction(v.Spec(), b)
				v.Step(b)
			}
			for i, s := range b.Status {
				if s != sim.Over {
					t.Errorf("game %d: %v after %d turns, want over", i, s, b.Turn[i])
				}
			}
		})
	}
}
