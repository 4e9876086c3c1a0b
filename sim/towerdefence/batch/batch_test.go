package batch_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/batch"
)

// twins are a block and the same eight games in the scalar game.
type twins struct {
	t      testing.TB
	title  string
	scalar *towerdefence.Game
	game   *batch.Game
	block  *batch.Block
	states [batch.Games]towerdefence.State
	orders batch.Orders
	played int
}

func newTwins(t testing.TB, r towerdefence.Rules) *twins {
	t.Helper()
	g, err := towerdefence.New(r)
	require.NoError(t, err)
	w := &twins{t: t, title: string(r.AppendText(nil)), scalar: g, game: batch.New(g)}
	w.block = w.game.NewBlock()
	for i := range w.states {
		g.Reset(&w.states[i], 0)
	}
	return w
}

// begin sets game i of both to a match with other energies and healths at the start.
func (t *twins) begin(i int, energy, health [2]int) {
	s := &t.states[i]
	t.scalar.Reset(s, 0)
	for p := range sim.Player(2) {
		t.scalar.SetStart(s, p, energy[p], health[p])
	}
	t.game.Load(t.block, i, s)
}

// play plays a round and fails at the first difference. It returns the matches that go on.
func (t *twins) play() (running uint8) {
	t.t.Helper()
	over, cut := t.game.Play(t.block, &t.orders)
	for i := range t.states {
		before := t.states[i]
		status := t.scalar.Play(&t.states[i], t.orders[0][i], t.orders[1][i])
		got := sim.Running
		switch {
		case over>>i&1 != 0:
			got = sim.Over
		case cut>>i&1 != 0:
			got = sim.Cut
		}
		if got != status {
			t.t.Fatalf("game %d is %v, in the scalar game %v; %s", i, got, status, t.report(&before, i))
		}
		t.compare(i, &before)
		if status == sim.Running {
			running |= 1 << i
		}
	}
	t.played++
	return running
}

// compare fails if a state differs from that of the scalar game.
func (t *twins) compare(i int, before *towerdefence.State) {
	t.t.Helper()
	var got towerdefence.State
	t.game.Save(&got, t.block, i)
	if got != t.states[i] {
		t.t.Fatalf("%s\nin the block:\n%s%+v\nin the scalar game:\n%s%+v", t.report(before, i),
			towerdefence.AppendText(nil, t.scalar, &got), got, towerdefence.AppendText(nil, t.scalar, &t.states[i]), t.states[i])
	}
}

func (t *twins) report(before *towerdefence.State, i int) string {
	return fmt.Sprintf("%s\nround %d of the block, game %d, orders %+v and %+v in\n%s", t.title, t.played, i,
		towerdefence.Decode(t.orders[0][i]), towerdefence.Decode(t.orders[1][i]), towerdefence.AppendText(nil, t.scalar, before))
}

// rounds returns how many rounds of single games a test plays.
func rounds() int {
	if testing.Short() {
		return 200_000
	}
	return 1_200_000
}

// TestTwin compares every state of random games with orders of all kinds: legal, refused,
// unreadable; at different starts, and each game at a round of its own.
func TestTwin(t *testing.T) {
	w := newTwins(t, towerdefence.DefaultRules())
	w.random(1, rounds())
	t.Logf("%d rounds of eight games compared", w.played)
}

// TestTwinOtherRules does the same under other rules of the same rhythm, and of other rhythms.
func TestTwinOtherRules(t *testing.T) {
	sets := rounds() / 4000
	vectors := 0
	for seed := range sets {
		r := prng.New(uint64(seed))
		rules := towerdefence.DefaultRules()
		rules.MaxRounds, rules.MaxDoNothings = 1+r.IntN(510), 1+r.IntN(250)
		rules.RoundIncome, rules.DeconstructionRefund = r.IntN(30), r.IntN(20)
		rules.EnergyScoreMultiplier = r.IntN(3)
		rules.TeslaEnergyPerShot, rules.CurtainPrice = r.IntN(200), r.IntN(200)
		rules.CurtainResetPeriod, rules.CurtainActiveRounds = 1+r.IntN(70), 1+r.IntN(40)
		for _, k := range towerdefence.Kinds {
			b := &rules.Buildings[k]
			b.Price, b.ConstructionScore, b.DestroyMultiplier = r.IntN(100), r.IntN(30), r.IntN(11)
		}
		rules.Buildings[towerdefence.Energy].EnergyPerTurn = r.IntN(9)
		tesla := &rules.Buildings[towerdefence.Tesla]
		tesla.ConstructionTime, tesla.Cooldown, tesla.Range, tesla.Damage = 1+r.IntN(20), r.IntN(20), r.IntN(17), 20+r.IntN(30)
		if seed%10 == 0 {
			rules.Buildings[towerdefence.Attack].Cooldown++ // another rhythm
		}
		w := newTwins(t, rules)
		if w.game.Vector() {
			vectors++
		}
		w.random(uint64(seed), 4000)
	}
	t.Logf("%d sets of rules, %d of them by vector instructions", sets, vectors)
}

// random plays at least that many rounds of single games.
func (t *twins) random(seed uint64, rounds int) {
	t.t.Helper()
	r := prng.New(prng.StreamSeed(seed, 0, 0, 0, prng.PurposeGame))
	buf := make([]sim.Order, 0, 512)
	var wild [batch.Games]int // percent of orders that are anything
	for n := 0; n < rounds; n += batch.Games {
		for i := range t.states {
			for p := range sim.Player(2) {
				t.orders[p][i] = t.draw(&r, i, p, wild[i], buf)
			}
		}
		running := t.play()
		for i := range t.states {
			if running>>i&1 == 0 || r.IntN(2000) == 0 {
				energy := []int{20, 20, 200, 1000, 6000}[r.IntN(5)]
				t.begin(i, [2]int{energy, energy + r.IntN(2)*100}, [2]int{100, 1 + r.IntN(400)})
				wild[i] = []int{0, 0, 2, 30}[r.IntN(4)]
			}
		}
	}
}

// draw draws an order: one of Playout, one that may be refused, or any bits.
func (t *twins) draw(r *prng.Rand, i int, p sim.Player, wild int, buf []sim.Order) sim.Order {
	switch n := r.IntN(100); {
	case n >= wild && n%3 != 0:
		return t.scalar.Playout(&t.states[i], p, r)
	case n >= wild:
		orders := t.scalar.AppendOrders(buf[:0], &t.states[i], p)
		return orders[r.IntN(len(orders))]
	case r.IntN(2) == 0:
		return sim.Order(r.IntN(512)) // any op on any cell
	case r.IntN(50) == 0:
		return sim.Order(r.Uint64())
	}
	return sim.Order(r.Uint64()) &^ towerdefence.Aborted
}

// TestPlayouts compares games that are played by drawn orders to their ends, one round or several at
// a time, with energy for every building in some: then half boards fill up.
func TestPlayouts(t *testing.T) {
	w := newTwins(t, towerdefence.DefaultRules())
	w.playouts(rounds() / batch.Games)
}

// playouts plays that many rounds of the block by drawn orders.
func (t *twins) playouts(rounds int) {
	t.t.Helper()
	var r, q [batch.Games]prng.Rand
	for i := range r {
		r[i] = prng.New(uint64(i))
	}
	q = r
	atOnce := prng.New(1)
	for t.played < rounds {
		most := 1 + atOnce.IntN(3)*atOnce.IntN(200)
		played, over := t.game.Playouts(t.block, &r, most)
		require.True(t.t, played == most || over != 0 && played < most, "%d rounds of %d, %b are over", played, most, over)
		for n := range played {
			for i := range t.states {
				s := &t.states[i]
				t.orders[0][i], t.orders[1][i] = t.scalar.Playout(s, 0, &q[i]), t.scalar.Playout(s, 1, &q[i])
				status := t.scalar.Play(s, t.orders[0][i], t.orders[1][i])
				if (status != sim.Running) != (n == played-1 && over>>i&1 != 0) {
					t.t.Fatalf("round %d of %d: in the scalar game, game %d is %v, over are %b", n, played, i, status, over)
				}
			}
		}
		t.played += played
		require.Equal(t.t, q, r)
		for i := range t.states {
			t.compare(i, &t.states[i])
			if over>>i&1 != 0 {
				energy := []int{20, 20, 20, 60_000}[q[i].IntN(4)]
				r[i] = q[i]
				t.begin(i, [2]int{energy, energy}, [2]int{100, 100 + 900*(energy/60_000)})
			}
		}
	}
}

// TestScalar: without vector instructions a block plays the same games.
func TestScalar(t *testing.T) {
	w := newTwins(t, towerdefence.DefaultRules())
	batch.Scalar(w.game)
	w.block = w.game.NewBlock()
	assert.False(t, w.game.Vector())
	w.random(2, 20_000)
	w = newTwins(t, towerdefence.DefaultRules())
	batch.Scalar(w.game)
	w.block = w.game.NewBlock()
	w.playouts(3000)
}

// TestLongLog plays on after the ends of matches without a Save, so that the log of placements
// wraps around more than once.
func TestLongLog(t *testing.T) {
	w := newTwins(t, towerdefence.DefaultRules())
	r := prng.New(1)
	for n := range 1500 {
		for i := range w.states {
			for p := range w.orders {
				w.orders[p][i] = w.scalar.Playout(&w.states[i], sim.Player(p), &r)
			}
		}
		w.game.Play(w.block, &w.orders)
		for i := range w.states {
			w.scalar.Play(&w.states[i], w.orders[0][i], w.orders[1][i])
		}
		if n%700 == 300 {
			w.game.Reset(w.block, 3)
			w.scalar.Reset(&w.states[3], 0)
		}
	}
	for i := range w.states {
		w.compare(i, &w.states[i])
	}
}

// TestAligned: rows within lines of the cache are read twice as fast.
func TestAligned(t *testing.T) {
	w := newTwins(t, towerdefence.DefaultRules())
	b, tables := batch.Misaligned(w.game, w.block)
	assert.Zero(t, b)
	assert.Zero(t, tables)
}

func TestNoAllocations(t *testing.T) {
	w := newTwins(t, towerdefence.DefaultRules())
	var r [batch.Games]prng.Rand
	for i := range r {
		r[i] = prng.New(uint64(i))
	}
	got := testing.AllocsPerRun(3000, func() {
		_, over := w.game.Playouts(w.block, &r, 1)
		w.orders[1][2] = towerdefence.Deconstruct(3, 3)
		ended, _ := w.game.Play(w.block, &w.orders)
		w.game.Save(&w.states[0], w.block, 5)
		for i := range w.states {
			if (over|ended)>>i&1 != 0 {
				w.game.Reset(w.block, i)
				w.game.Load(w.block, i, &w.states[0])
			}
		}
	})
	assert.Zero(t, got)
}
