package featuretest

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// RunForms checks the promises of package features for the forms of a kit other
// than features.Cells, on the states of random games. fresh makes a new value of
// the game. For a form whose actions are whole turns it is Run; for a
// sequential form the subtests are:
//
//	Description, Unpack, Encode, All, Mask, Lengths  as in Run, for the start of a turn
//	Start     a draft without orders shows what the Encoder shows, with the mask of the Actions
//	Shown     the packed words of a draft hold its planes, after every action
//	Way       Action leads back to the orders of a draft, and ends the turn there; a turn
//	          ends after as many actions as Info.MaxOrders and one more
//	Illegal   an action that is not legal ends the turn and gives no order
//	Drafts    no method of Drafts allocates
func RunForms[S any](t *testing.T, fresh func() sim.Game[S], kit features.Kit[S], options ...Options) {
	t.Helper()
	for _, f := range kit.Forms {
		t.Run(f.Name, func(t *testing.T) {
			own := kit
			own.Encoder, own.Actions, own.Forms = f.Encoder, f.Actions, nil
			if !f.Sequential() {
				Run(t, fresh, own, options...)
				return
			}
			c := newSuite(fresh(), own, options)
			t.Run("Description", c.testDescription)
			t.Run("Unpack", c.testUnpack)
			t.Run("Encode", c.testEncode)
			t.Run("All", c.testAll)
			t.Run("Mask", c.testMask)
			t.Run("Lengths", c.testLengths)
			d := &draftSuite[S]{suite: c, drafts: f.NewDrafts(2)}
			t.Run("Start", d.testStart)
			t.Run("Shown", d.testShown)
			t.Run("Way", d.testWay)
			t.Run("Illegal", d.testIllegal)
			t.Run("Drafts", d.testAllocations)
		})
	}
}

// draftSuite checks the drafts of a sequential form. Draft 0 is made by random
// legal actions, draft 1 by Drafts.Action.
type draftSuite[S any] struct {
	*suite[S]
	drafts features.Drafts[S]
}

func (d *draftSuite[S]) testStart(t *testing.T) {
	got, want := newRows(d.shape), newRows(d.shape)
	mask, legal := make([]uint64, features.MaskWords(d.heads)), make([]uint64, features.MaskWords(d.heads))
	d.each(t, func(v view[S]) {
		if v.status != sim.Running {
			return
		}
		d.drafts.Begin(0, v.s, v.p)
		d.drafts.Observe(got, 0)
		d.drafts.Mask(mask, 0)
		observe(d.kit.Encoder, want, v.s, v.p)
		d.kit.Actions.Mask(legal, v.s, v.p)
		if !sameRows(got, want) {
			t.Errorf("seed %d turn %d seat %d: the draft shows something else than the Encoder", v.seed, v.turn, v.p)
		}
		if !slices.Equal(mask, legal) {
			t.Errorf("seed %d turn %d seat %d: the mask of the draft is %x, of the Actions %x", v.seed, v.turn, v.p, mask, legal)
		}
	})
}

// draw takes a random legal action in draft 0, and returns whether the turn is
// ended.
func (d *draftSuite[S]) draw(t *testing.T, v view[S], r *prng.Rand, action []int32, mask []uint64) (ended bool) {
	t.Helper()
	d.drafts.Mask(mask, 0)
	Choose(action, d.heads, mask, func(_, n int) int { return r.IntN(n) })
	return d.drafts.Take(0, action)
}

// testShown unpacks the words of drafts, and compares the planes. It observes a
// draft after every action, or for the first time after some.
func (d *draftSuite[S]) testShown(t *testing.T) {
	if d.shape.Words == 0 {
		t.Skip("there is no packed form")
	}
	e := d.kit.Encoder
	u, err := features.NewUnpacker(d.shape, e.Description().PackedLayout)
	if err != nil {
		t.Fatal(err)
	}
	got, once := newRows(d.shape), newRows(d.shape)
	planes := make([]uint8, d.shape.PlaneBytes())
	action, mask := make([]int32, len(d.heads)), make([]uint64, features.MaskWords(d.heads))
	r := prng.New(2)
	d.each(t, func(v view[S]) {
		if v.status != sim.Running {
			return
		}
		d.drafts.Begin(0, v.s, v.p)
		d.drafts.Begin(1, v.s, v.p)
		for ended := false; !ended; {
			d.drafts.Observe(got, 0)
			u.Unpack(planes, got.Packed)
			SamePlanes(t, e, fmt.Sprintf("seed %d turn %d seat %d, a draft unpacked", v.seed, v.turn, v.p), planes, got.Planes)
			ended = d.draw(t, v, &r, action, mask)
			d.drafts.Take(1, action)
		}
		d.drafts.Observe(got, 0)
		d.drafts.Observe(once, 1)
		if !sameRows(got, once) {
			t.Errorf("seed %d turn %d seat %d: what a draft shows depends on when it was observed", v.seed, v.turn, v.p)
		}
	})
}

// testWay plays turns of random legal actions. It checks that the turns are
// short and sound, and that Action finds the way to their orders.
func (d *draftSuite[S]) testWay(t *testing.T) {
	action, again := make([]int32, len(d.heads)), make([]int32, len(d.heads))
	mask := make([]uint64, features.MaskWords(d.heads))
	turn, other := sim.NewTurn(d.info.MaxOrders), sim.NewTurn(d.info.MaxOrders)
	r := prng.New(1)
	d.each(t, func(v view[S]) {
		if v.status != sim.Running {
			return
		}
		d.drafts.Begin(0, v.s, v.p)
		steps := 1
		for ; !d.draw(t, v, &r, action, mask); steps++ {
			if steps > d.info.MaxOrders {
				t.Fatalf("seed %d turn %d seat %d: the turn is not ended after %d actions", v.seed, v.turn, v.p, steps)
			}
		}
		orders := d.drafts.AppendOrders(nil, 0)
		d.drafts.Begin(1, v.s, v.p)
		for k := 0; ; k++ {
			if !d.drafts.Action(again, orders, 1) || k > steps {
				t.Fatalf("seed %d turn %d seat %d: after %d actions Action does not lead to the orders %x", v.seed, v.turn, v.p, k, orders)
			}
			if d.drafts.Take(1, again) {
				break
			}
		}
		back := d.drafts.AppendOrders(nil, 1)
		turn.Clear()
		other.Clear()
		turn.Set(v.p, orders)
		other.Set(v.p, back)
		a, b := *v.s, *v.s
		d.game.Step(&a, turn)
		d.game.Step(&b, other)
		if d.game.Hash(&a) != d.game.Hash(&b) {
			t.Errorf("seed %d turn %d seat %d: Action leads to the orders %x, expected %x", v.seed, v.turn, v.p, back, orders)
		}
	})
}

func (d *draftSuite[S]) testIllegal(t *testing.T) {
	mask := make([]uint64, features.MaskWords(d.heads))
	action := make([]int32, len(d.heads))
	d.each(t, func(v view[S]) {
		if v.status != sim.Running {
			return
		}
		d.drafts.Begin(0, v.s, v.p)
		d.drafts.Mask(mask, 0)
		for c := -1; c <= d.heads[0]; c++ {
			if c >= 0 && c < d.heads[0] && mask[c/64]>>(c%64)&1 != 0 {
				continue
			}
			d.drafts.Begin(0, v.s, v.p)
			action[0] = int32(c)
			if !d.drafts.Take(0, action) || len(d.drafts.AppendOrders(nil, 0)) > 0 {
				t.Fatalf("seed %d turn %d seat %d: choice %d is not legal, but it gives orders or does not end the turn", v.seed, v.turn, v.p, c)
			}
		}
	})
}

// lastLegal returns the last legal choice of a mask.
func lastLegal(mask []uint64) int32 {
	for w, m := range slices.Backward(mask) {
		if m != 0 {
			return int32(64*w + 63 - bits.LeadingZeros64(m))
		}
	}
	return -1
}

func (d *draftSuite[S]) testAllocations(t *testing.T) {
	mask, rows := make([]uint64, features.MaskWords(d.heads)), newRows(d.shape)
	action, orders := make([]int32, len(d.heads)), make([]sim.Order, 0, d.info.MaxOrders)
	d.each(t, func(v view[S]) {
		n := testing.AllocsPerRun(1, func() {
			d.drafts.Begin(0, v.s, v.p)
			for range 3 {
				d.drafts.Observe(rows, 0)
				d.drafts.Mask(mask, 0)
				d.drafts.Action(action, orders, 0)
				action[0] = lastLegal(mask)
				if d.drafts.Take(0, action) {
					break
				}
			}
			orders = d.drafts.AppendOrders(orders[:0], 0)
		})
		if n != 0 {
			t.Errorf("seed %d turn %d seat %d: a draft allocates %g times", v.seed, v.turn, v.p, n)
		}
	})
}
