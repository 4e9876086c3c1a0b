package env_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

const wantAll = env.WantPlanes | env.WantPacked | env.WantScalars | env.WantMask | env.WantAction | env.WantKey | env.WantPlayed

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

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		config env.Config
		want   string
	}{
		{env.Config{N: 0}, "0 games"},
		{env.Config{N: -3}, "-3 games"},
		{env.Config{N: 1, MaxTurns: -1}, "-1 turns"},
		{env.Config{N: 1, Reward: "glory"}, `toy has no reward "glory"; there are: result, stones`},
	} {
		g := simtest.Toy{Seats: 2, Orders: 1}
		_, err := env.New[simtest.ToyState](g, featuretest.ToyKit(g), c.config)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.config, err, c.want)
		}
	}
}

func TestWrongSlabsPanic(t *testing.T) {
	v := pool(t, shapes[2], env.Config{N: 2})
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
		"Key":      func(b *env.Batch) { b.Key = b.Key[:3] },
		"Played":   func(b *env.Batch) { b.Played = b.Played[:3] },
	} {
		b := env.NewBatch(v.Spec(), 2, wantAll)
		spoil(b)
		for _, call := range []func(*env.Batch){v.Observe, v.Step, func(b *env.Batch) { v.ObserveGame(b, 0) }} {
			func() {
				defer func() {
					if fault, _ := recover().(string); !strings.Contains(fault, name) {
						t.Errorf("%s: panic %q does not name it", name, fault)
					}
				}()
				call(b)
			}()
		}
	}
}

func TestActionWithoutSlabPanics(t *testing.T) {
	v := pool(t, shapes[0], env.Config{N: 1})
	b := env.NewBatch(v.Spec(), 1, 0)
	v.Observe(b)
	defer func() {
		if fault, _ := recover().(string); !strings.Contains(fault, "no Action slab") {
			t.Errorf("panic %q", fault)
		}
	}()
	v.Step(b)
}

// TestPlayed: Played is the Action that another game gets from the same orders.
func TestPlayed(t *testing.T) {
	for _, g := range shapes {
		v, w := pool(t, g, env.Config{N: 3}), pool(t, g, env.Config{N: 3})
		b, c := env.NewBatch(v.Spec(), 3, wantAll), env.NewBatch(v.Spec(), 3, env.WantAction)
		for range simtest.ToyTurns + 1 {
			v.Observe(b)
			w.Observe(c)
			chooseAction(v.Spec(), b)
			b.Action[0] = -1 // no choice: says nothing
			v.Step(b)
			copy(c.Orders, b.Orders)
			copy(c.OrderLen, b.OrderLen)
			w.Step(c)
			if !slices.Equal(b.Played, c.Action) {
				t.Fatalf("%s: turn %d: played %v, the orders say %v", name(g), b.Turn[0], b.Played, c.Action)
			}
		}
	}
}

// TestUnwantedSlabs: each slab alone gives the same as all together.
func TestUnwantedSlabs(t *testing.T) {
	for _, g := range shapes {
		v := pool(t, g, env.Config{N: 2})
		all := env.NewBatch(v.Spec(), 2, wantAll)
		v.Observe(all)
		for w := env.Want(1); w <= env.WantPlayed; w <<= 1 {
			b := env.NewBatch(v.Spec(), 2, w)
			v.Observe(b)
			for what, same := range map[string]bool{
				"planes":  b.Planes == nil || slices.Equal(b.Planes, all.Planes),
				"packed":  b.Packed == nil || slices.Equal(b.Packed, all.Packed),
				"scalars": b.Scalars == nil || slices.Equal(b.Scalars, all.Scalars),
				"mask":    b.Mask == nil || slices.Equal(b.Mask, all.Mask),
				"key":     b.Key == nil || slices.Equal(b.Key, all.Key),
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
		v := pool(t, g, env.Config{N: 3})
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
	v := pool(t, shapes[1], env.Config{N: 2})
	b := env.NewBatch(v.Spec(), 2, wantAll)
	for range simtest.ToyTurns {
		v.Observe(b)
		chooseAction(v.Spec(), b)
		v.Step(b)
	}
	before := v.AppendSnapshot(nil, 0)
	v.Observe(b)
	v.Reset(1, 4) // the other goes on
	chooseAction(v.Spec(), b)
	for row := range b.OrderLen {
		b.Orders[row*8], b.OrderLen[row] = 1, 1
	}
	v.Step(b)
	if string(v.AppendSnapshot(nil, 0)) != string(before) || b.Status[0] != sim.Over {
		t.Error("a game that has ended is changed by Step")
	}
	if b.Reward[0] != 0 || b.OrderLen[0] != 0 || b.Action[0] != -1 {
		t.Errorf("row of an ended game: reward %v, %d orders, action %d", b.Reward[0], b.OrderLen[0], b.Action[0])
	}
	if b.Status[1] != sim.Running || b.Turn[1] != 1 {
		t.Errorf("the game that was reset: %v, turn %d", b.Status[1], b.Turn[1])
	}
}

func TestPoolAllocatesNothing(t *testing.T) {
	for _, g := range shapes {
		for _, reward := range []string{"result", "stones"} {
			v := pool(t, g, env.Config{N: 4, Reward: reward})
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
