package towerdefence_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
	"moonfarm/sim/towerdefence/wire/command"
)

// TestMirror plays games with the seats exchanged, including malformed and
// illegal commands: the states must be mirrored, byte for byte.
func TestMirror(t *testing.T) {
	buf := make([]sim.Order, 0, 512)
	for seed := range uint64(60) {
		r := prng.New(prng.StreamSeed(seed, 2, 0, 0, prng.PurposeGame))
		rules := towerdefence.DefaultRules()
		if seed%2 == 1 {
			rules = randomRules(&r)
		}
		g, _ := towerdefence.New(rules)
		var s, mirrored towerdefence.State
		g.Reset(&s, 0)
		for p := range sim.Player(2) {
			g.SetStart(&s, p, r.IntN(2000), 1+r.IntN(200))
		}
		mirrored = s
		mirrored.Half[0], mirrored.Half[1] = s.Half[1], s.Half[0]
		for status := sim.Running; status == sim.Running; {
			a := command.Parse(randomCommand(&r, g, &s, 0, buf))
			b := command.Parse(randomCommand(&r, g, &s, 1, buf))
			status = g.Play(&s, a, b)
			other := g.Play(&mirrored, b, a)
			expected := mirrored
			expected.Half[0], expected.Half[1] = mirrored.Half[1], mirrored.Half[0]
			if d := simtest.Diff(&s, &expected); d != "" || status != other {
				t.Fatalf("seed %d: orders %#x and %#x, status %v, mirrored %v: %s\n%s", seed, a, b, status, other, d, fastText(g, &s))
			}
			for p := range sim.Player(2) {
				if g.Outcome(&s, p) != g.Outcome(&mirrored, p^1) {
					t.Fatalf("seed %d: outcome %+v, mirrored %+v", seed, g.Outcome(&s, p), g.Outcome(&mirrored, p^1))
				}
			}
		}
	}
}

// TestLegal compares Legal and AppendOrders with trying every order on the
// plain twin: an order that the twin carries out leaves its count of failures
// at 0.
func TestLegal(t *testing.T) {
	states := 0
	for seed := range uint64(40) {
		r := prng.New(prng.StreamSeed(seed, 3, 0, 0, prng.PurposeGame))
		rules := towerdefence.DefaultRules()
		if seed%3 == 2 {
			rules = randomRules(&r)
		}
		g, _ := towerdefence.New(rules)
		m := start(t, g, [2]int{r.IntN(400), 100}, [2]int{r.IntN(400), 100})
		for round := 0; m.status == sim.Running && round < 130; round++ {
			if round%7 == 0 {
				checkLegal(t, g, &m.s, m.twin)
				states++
			}
			m.play(commandText(g.Playout(&m.s, 0, &r)), commandText(g.Playout(&m.s, 1, &r)))
		}
	}
	t.Logf("%d states, two seats, 322 orders each", states)
}

// everyOrder returns all orders that a player can mean.
func everyOrder() []sim.Order {
	orders := []sim.Order{towerdefence.Nothing, towerdefence.Curtain}
	for _, op := range []towerdefence.Op{towerdefence.OpDefense, towerdefence.OpAttack, towerdefence.OpEnergy,
		towerdefence.OpTesla, towerdefence.OpDeconstruct} {
		for cell := range towerdefence.Cells {
			orders = append(orders, towerdefence.OrderAt(op, cell))
		}
	}
	return orders
}

func checkLegal(t *testing.T, g *towerdefence.Game, s *towerdefence.State, twin *plain.Game) {
	t.Helper()
	for p := range sim.Player(2) {
		legal := map[sim.Order]bool{}
		for _, o := range g.AppendOrders(nil, s, p) {
			legal[o] = true
		}
		var l towerdefence.Legal
		g.Legal(&l, s, p)
		for _, o := range everyOrder() {
			try := twin.Clone()
			try.Players[p].FailCount = 0
			try.Rules.Buildings[towerdefence.Attack].Speed = 0 // the rest of the round does not matter
			texts := [2]string{}
			texts[p] = commandText(o)
			try.Play(texts[0], texts[1])
			accepted := try.Players[p].FailCount == 0
			if accepted != legal[o] || accepted != inWords(&l, o) {
				t.Fatalf("seat %d, command %q: the twin accepts it: %v, AppendOrders: %v, Legal: %v\n%s", p, texts[p], accepted, legal[o], inWords(&l, o), fastText(g, s))
			}
		}
	}
}

// inWords reports whether the words of Legal contain an order.
func inWords(l *towerdefence.Legal, o sim.Order) bool {
	c := towerdefence.Decode(o)
	cell := c.Y*towerdefence.Width + c.X
	switch c.Op {
	case towerdefence.OpNothing:
		return l[5]&1 != 0
	case towerdefence.OpCurtain:
		return l.Curtain()
	case towerdefence.OpDeconstruct:
		return l[4]>>cell&1 != 0
	}
	return l.Build(towerdefence.Kind(c.Op-1))>>cell&1 != 0
}

// playoutBoards are positions with the kinds that seat A can choose: nothing,
// defense and so on by op.
var playoutBoards = []struct {
	board string
	ops   []towerdefence.Op
}{
	{"A energy 19", []towerdefence.Op{towerdefence.OpNothing}},
	{"A energy 20", []towerdefence.Op{towerdefence.OpNothing, towerdefence.OpEnergy}},
	{"A energy 30", []towerdefence.Op{towerdefence.OpNothing, towerdefence.OpDefense, towerdefence.OpAttack, towerdefence.OpEnergy}},
	{"round 40\nA energy 100 ready yes", []towerdefence.Op{towerdefence.OpNothing, towerdefence.OpDefense, towerdefence.OpAttack,
		towerdefence.OpEnergy, towerdefence.OpTesla, towerdefence.OpCurtain}},
	{"round 40\nA energy 100 ready yes curtain 1", []towerdefence.Op{towerdefence.OpNothing, towerdefence.OpDefense,
		towerdefence.OpAttack, towerdefence.OpEnergy, towerdefence.OpTesla}},
	{"round 40\nA energy 300\n0 T* . . . . . . . | . . . . . . . .\n3 . . . . T . . . | . . . . . . . .",
		[]towerdefence.Op{towerdefence.OpNothing, towerdefence.OpDefense, towerdefence.OpAttack, towerdefence.OpEnergy}},
	{"round 40\nA energy 120\n" + energies, []towerdefence.Op{towerdefence.OpNothing, towerdefence.OpDefense,
		towerdefence.OpAttack, towerdefence.OpEnergy, towerdefence.OpTesla}},
	{"round 40\nA energy 121\n" + energies, []towerdefence.Op{towerdefence.OpNothing, towerdefence.OpDefense,
		towerdefence.OpAttack, towerdefence.OpTesla}},
	{"round 40\nA energy 500 ready yes\n" + strings64("E"), []towerdefence.Op{towerdefence.OpNothing, towerdefence.OpCurtain}},
	{"round 40\nA energy 25\n" + strings64("D"), []towerdefence.Op{towerdefence.OpNothing}},
}

// energies is a board with 16 energy buildings: an income of 53.
const energies = "0 E E E E E E E E | . . . . . . . .\n5 E E E E E E E E | . . . . . . . .\n"

// strings64 returns a board in which A's half is full.
func strings64(letter string) (board string) {
	for y := range 8 {
		board += string(rune('0' + y))
		for range 8 {
			board += " " + letter
		}
		board += " | . . . . . . . .\n"
	}
	return board
}

// TestPlayout draws many orders in fixed positions: all are legal, and they are
// uniform over the options and, within a kind, over the free cells.
func TestPlayout(t *testing.T) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	const draws = 60_000
	for i, b := range playoutBoards {
		s, err := towerdefence.ParseText(g, b.board)
		require.NoError(t, err)
		legal := map[sim.Order]bool{}
		for _, o := range g.AppendOrders(nil, &s, 0) {
			legal[o] = true
		}
		r := prng.New(uint64(i))
		byOp, byOrder := map[towerdefence.Op]float64{}, map[sim.Order]float64{}
		for range draws {
			o := g.Playout(&s, 0, &r)
			if !legal[o] {
				t.Fatalf("board %d: order %#x is not legal", i, o)
			}
			op := towerdefence.Decode(o).Op
			byOp[op]++
			byOrder[o]++
		}
		uniform(t, i, "options", byOp, b.ops, draws)
		for _, op := range b.ops {
			var cells []sim.Order
			for o := range legal {
				if towerdefence.Decode(o).Op == op {
					cells = append(cells, o)
				}
			}
			uniform(t, i, "cells", byOrder, cells, byOp[op])
		}
	}
}

// uniform fails if the chi-square of the counts is more than five standard
// deviations above its mean.
func uniform[K comparable](t *testing.T, board int, what string, counts map[K]float64, keys []K, draws float64) {
	t.Helper()
	assert.Truef(t, what != "options" || len(counts) == len(keys), "board %d: options drawn %v, want %v", board, counts, keys)
	expected, sum := draws/float64(len(keys)), 0.0
	for _, k := range keys {
		d := counts[k] - expected
		sum += d * d / expected
	}
	free := float64(len(keys) - 1)
	assert.LessOrEqualf(t, sum, free+5*math.Sqrt(2*free)+1e-9, "board %d: %s are not uniform: chi-square %.1f with %.0f degrees of freedom: %v", board, what, sum, free, counts)
}

func TestSetStart(t *testing.T) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	for _, c := range [][2]int{{0, 1}, {20, 100}, {7, 250}, {towerdefence.MaxEnergy, towerdefence.MaxHealth}} {
		m := start(t, g, c, [2]int{20, 100}).idle(30)
		a, b := g.Score(&m.s, 0), g.Score(&m.s, 1)
		assert.Truef(t, a == 150 && b == 150, "energy %d, health %d: scores of %d and %d after 30 rounds, want 150", c[0], c[1], a, b)
	}
}
