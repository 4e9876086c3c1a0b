package featuretest

import (
	"slices"
	"testing"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

func checkUnchanged[S any](t *testing.T, v view[S], before *S, what string) {
	t.Helper()
	if d := simtest.Diff(before, v.s); d != "" {
		t.Fatalf("seed %d turn %d seat %d: %s changes the state: %s", v.seed, v.turn, v.p, what, d)
	}
}

func bit(mask []uint64, i int) bool { return mask[i/64]>>(i%64)&1 != 0 }

// mask returns the mask of the view, and checks what every mask must satisfy.
func (c *suite[S]) mask(t *testing.T, v view[S]) []uint64 {
	t.Helper()
	words, choices := features.MaskWords(c.heads), features.Choices(c.heads)
	mask := same(t, v, "Mask", words, uint64(0), ^uint64(0), func(dst []uint64) { c.kit.Actions.Mask(dst, v.s, v.p) })
	for i := choices; i < 64*words; i++ {
		if bit(mask, i) {
			t.Fatalf("seed %d turn %d seat %d: bit %d of the mask is set, there are %d choices", v.seed, v.turn, v.p, i, choices)
		}
	}
	return mask
}

func (c *suite[S]) testMask(t *testing.T) {
	before := new(S)
	c.each(t, func(v view[S]) {
		*before = *v.s
		mask := c.mask(t, v)
		checkUnchanged(t, v, before, "the mask")
		if v.status != sim.Running {
			return
		}
		from := 0
		for h, n := range c.heads {
			some := false
			for i := from; i < from+n; i++ {
				some = some || bit(mask, i)
			}
			if !some {
				t.Fatalf("seed %d turn %d seat %d: head %d has no legal choice", v.seed, v.turn, v.p, h)
			}
			from += n
		}
	})
}

func (c *suite[S]) testComplete(t *testing.T) {
	action := make([]int32, 1)
	c.each(t, func(v view[S]) {
		if v.status != sim.Running {
			return
		}
		mask := c.mask(t, v)
		for _, o := range c.game.AppendOrders(nil, v.s, v.p) {
			if !c.kit.Actions.Action(action, []sim.Order{o}, v.s, v.p) {
				t.Fatalf("seed %d turn %d seat %d: no action for the legal order %#x", v.seed, v.turn, v.p, o)
			}
			if a := action[0]; a < 0 || int(a) >= c.heads[0] || !bit(mask, int(a)) {
				t.Fatalf("seed %d turn %d seat %d: order %#x is legal, its action %d is masked out", v.seed, v.turn, v.p, o, a)
			}
		}
	})
}

func (c *suite[S]) testSound(t *testing.T) {
	back := make([]int32, 1)
	c.each(t, func(v view[S]) {
		if v.status != sim.Running {
			return
		}
		mask, legal := c.mask(t, v), c.game.AppendOrders(nil, v.s, v.p)
		for a := range c.heads[0] {
			orders := c.kit.Actions.AppendOrders(nil, []int32{int32(a)}, v.s, v.p)
			if bit(mask, a) {
				for _, o := range orders {
					if !slices.Contains(legal, o) {
						t.Fatalf("seed %d turn %d seat %d: action %d is masked in, its order %#x is not legal", v.seed, v.turn, v.p, a, o)
					}
				}
				if !c.kit.Actions.Action(back, orders, v.s, v.p) || back[0] != int32(a) {
					t.Fatalf("seed %d turn %d seat %d: action %d means orders %#x, which mean action %d", v.seed, v.turn, v.p, a, orders, back[0])
				}
			}
		}
	})
}

// effective returns orders without those that do nothing.
func effective(orders []sim.Order) []sim.Order {
	return slices.DeleteFunc(slices.Clone(orders), func(o sim.Order) bool { return o == 0 })
}

// testLabels takes the action of each legal order by itself: heads that the
// order does not belong to choose 0, its own heads have legal choices or −1.
func (c *suite[S]) testLabels(t *testing.T) {
	action := make([]int32, len(c.heads))
	c.each(t, func(v view[S]) {
		if v.status != sim.Running {
			return
		}
		mask := c.mask(t, v)
		for _, o := range c.game.AppendOrders(nil, v.s, v.p) {
			fill(action, 7)
			said := c.kit.Actions.Action(action, []sim.Order{o}, v.s, v.p)
			c.checkLabels(t, v, action, mask, said)
		}
	})
}

// checkLabels checks the properties of every action that stands for orders.
func (c *suite[S]) checkLabels(t *testing.T, v view[S], action []int32, mask []uint64, said bool) {
	t.Helper()
	at := 0
	for h, n := range c.heads {
		switch a := action[h]; {
		case a == -1 && !said:
		case a < 0 || int(a) >= n:
			t.Fatalf("seed %d turn %d seat %d: head %d has choice %d of %d, and the orders are said: %v", v.seed, v.turn, v.p, h, a, n, said)
		case v.status == sim.Running && !bit(mask, at+int(a)):
			t.Fatalf("seed %d turn %d seat %d: the choice %d found for head %d is masked out", v.seed, v.turn, v.p, a, h)
		}
		at += n
	}
}

func (c *suite[S]) testActions(t *testing.T) {
	space := c.kit.Actions
	if !slices.Equal(space.Heads(), c.heads) {
		t.Fatal("Heads is not constant")
	}
	before := new(S)
	action, back := make([]int32, len(c.heads)), make([]int32, len(c.heads))
	c.each(t, func(v view[S]) {
		*before = *v.s
		mask := c.mask(t, v)
		for _, far := range []int32{-1, 1 << 30} {
			fill(action, far)
			if got := effective(space.AppendOrders(nil, action, v.s, v.p)); len(got) != 0 {
				t.Fatalf("seed %d turn %d seat %d: choices out of range (%d) give orders %#x", v.seed, v.turn, v.p, far, got)
			}
		}
		if !space.Action(action, nil, v.s, v.p) || len(effective(space.AppendOrders(nil, action, v.s, v.p))) > 0 {
			t.Fatalf("seed %d turn %d seat %d: no action for no orders", v.seed, v.turn, v.p)
		}
		if c.nothing == nil {
			c.nothing = slices.Clone(action)
		}
		if len(c.heads) == 1 && (action[0] != c.nothing[0] || !bit(mask, int(action[0])) && v.status == sim.Running) {
			t.Fatalf("seed %d turn %d seat %d: no orders are choice %d, which must be masked in and always the same: it was %d",
				v.seed, v.turn, v.p, action[0], c.nothing[0])
		}
		if h := slices.IndexFunc(action, func(a int32) bool { return a != 0 }); h >= 0 && len(c.heads) > 1 {
			t.Fatalf("seed %d turn %d seat %d: no orders are choice %d of head %d, not 0", v.seed, v.turn, v.p, action[h], h)
		}
		c.drawAction(action, mask, v)
		const mark = sim.Order(0xfeedfacecafebeef)
		orders := space.AppendOrders([]sim.Order{mark}, action, v.s, v.p)
		if len(orders) < 1 || orders[0] != mark || len(orders) > 1+c.info.MaxOrders {
			t.Fatalf("seed %d turn %d seat %d: AppendOrders must append, and at most %d: %#x", v.seed, v.turn, v.p, c.info.MaxOrders, orders)
		}
		orders = orders[1:]
		if !space.Action(back, orders, v.s, v.p) {
			t.Fatalf("seed %d turn %d seat %d: no action for the orders %#x of action %d", v.seed, v.turn, v.p, orders, action)
		}
		c.checkLabels(t, v, back, mask, true)
		if again := space.AppendOrders(nil, back, v.s, v.p); !slices.Equal(effective(again), effective(orders)) {
			t.Fatalf("seed %d turn %d seat %d: orders %#x, taken as an action, become %#x", v.seed, v.turn, v.p, orders, again)
		}
		c.checkNonsense(t, v, orders, back)
		c.checkSilence(t, v, action)
		checkUnchanged(t, v, before, "the action space")
	})
}

// checkNonsense adds a meaningless order to orders whose action is known. If a
// choice stands for it (the rules may ignore bits), the action must be valid;
// if not, some heads are −1, and the others keep their choices.
func (c *suite[S]) checkNonsense(t *testing.T, v view[S], orders []sim.Order, without []int32) {
	t.Helper()
	with := make([]int32, len(without))
	fill(with, 7)
	if len(orders) == c.info.MaxOrders || c.kit.Actions.Action(with, append(slices.Clone(orders), ^sim.Order(0)), v.s, v.p) {
		return
	}
	for h, a := range with {
		if a != -1 && a != without[h] {
			t.Fatalf("seed %d turn %d seat %d: with an order that means nothing head %d is %d, without it %d",
				v.seed, v.turn, v.p, h, a, without[h])
		}
	}
}

// checkSilence sets one head after the other to −1, which must have the effect
// of ordering nothing.
func (c *suite[S]) checkSilence(t *testing.T, v view[S], action []int32) {
	t.Helper()
	if len(c.heads) == 1 {
		return // a single head: −1 was tried among the choices out of range
	}
	for n, h := 0, v.turn%7; n < 20 && h < len(action); h++ {
		was := action[h]
		if was <= 0 {
			continue
		}
		n++
		action[h] = -1
		silent := effective(c.kit.Actions.AppendOrders(nil, action, v.s, v.p))
		action[h] = 0
		if nothing := effective(c.kit.Actions.AppendOrders(nil, action, v.s, v.p)); !slices.Equal(silent, nothing) {
			t.Fatalf("seed %d turn %d seat %d: head %d gives %#x with -1, %#x with 0", v.seed, v.turn, v.p, h, silent, nothing)
		}
		action[h] = was
	}
}

func fill(s []int32, x int32) {
	for i := range s {
		s[i] = x
	}
}

// drawAction draws a legal choice for every head, or −1 if it has none.
func (c *suite[S]) drawAction(action []int32, mask []uint64, v view[S]) {
	r := prng.New(prng.StreamSeed(v.seed, 2, uint64(v.turn), uint64(v.p), prng.PurposePolicy))
	Choose(action, c.heads, mask, func(_, n int) int { return r.IntN(n) })
}

// Choose writes a choice for every head: the one that draw picks among the n
// legal choices, or −1 if there are none.
func Choose(action []int32, heads []int, mask []uint64, draw func(head, n int) int) {
	from := 0
	for h, n := range heads {
		var legal []int32
		for c := range n {
			if bit(mask, from+c) {
				legal = append(legal, int32(c))
			}
		}
		from += n
		if action[h] = -1; len(legal) > 0 {
			action[h] = legal[draw(h, len(legal))]
		}
	}
}
