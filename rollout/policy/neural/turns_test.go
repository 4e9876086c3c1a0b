package neural_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	tmfeatures "moonfarm/features/terminal"
	"moonfarm/rollout"
	"moonfarm/rollout/network"
	"moonfarm/rollout/policy/models"
	"moonfarm/rollout/policy/neural"
	"moonfarm/rollout/policy/neural/neuraltest"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// openings are states of Terminal, and what Turns needs for a network there.
type openings struct {
	states []terminal.State
	spec   env.Spec
	form   features.Form[terminal.State]
	model  *network.Model
	fit    neural.Fit
}

// newOpenings returns n states that the network of Terminal has reached, and the network of a file,
// nil for the same one.
func newOpenings(t *testing.T, n int, file func(s env.Spec) []byte) openings {
	t.Helper()
	g, err := catalog.Find("terminal")
	require.NoError(t, err)
	v, err := g.New("", env.Settings{N: n, Form: tmfeatures.OrdersForm})
	require.NoError(t, err)
	o := openings{spec: v.Spec()}
	read := func(data []byte) (*network.Model, neural.Fit) {
		m, err := network.Read(data, 0)
		require.NoError(t, err)
		f, err := neural.Match(m, o.spec, "")
		require.NoError(t, err)
		return m, f
	}
	o.model, o.fit = read(models.Terminal)
	p := neural.New("net", o.model, o.fit, neural.Options{Temperature: 0.2}, o.spec)
	b := env.NewBatch(o.spec, n, p.Wants())
	for i := range n {
		v.Reset(i, uint64(i))
	}
	states, _ := env.States[terminal.State](v)
	for states[0].Turn < 14 {
		v.Observe(b)
		p.Act(v, b, all(b))
		v.Step(b)
	}
	o.states = slices.Clone(states)
	if file != nil {
		o.model, o.fit = read(file(o.spec))
	}
	rules, _ := env.Rules[terminal.State](v)
	kit := tmfeatures.Kit(rules.(*terminal.Game))
	o.form, err = kit.Form(tmfeatures.OrdersForm)
	require.NoError(t, err)
	return o
}

// given are turns of every position with which the drawn ones are compared.
var given = [][]sim.Order{
	nil, {terminal.Place(terminal.Wall, 3, 13), terminal.Spawn(terminal.Scout, 13, 0, 5)}, {terminal.Place(terminal.Wall, 3, 13)},
	{terminal.Spawn(terminal.Scout, 13, 0, 5), terminal.Place(terminal.Wall, 3, 13)}, {terminal.Place(terminal.Turret, 24, 13), terminal.RemoveAt(24, 13)},
}

// drawn is the number of turns drawn for every position; the first one has the likeliest choices.
const drawn = 4

// draw adds the turns of both seats of the states, and draws them.
func draw(n *neural.Turns[terminal.State], states []terminal.State) {
	n.Clear()
	for i := range states {
		for p := range sim.Player(2) {
			n.Position(&states[i], p)
			for _, orders := range given {
				n.Compare(orders)
			}
			n.Draw(0, 0)
			for k := range drawn - 1 {
				n.Draw(2, uint64(states[i].Turn)<<8|uint64(p)<<4|uint64(k))
			}
		}
	}
	n.Run()
}

// plain returns the actions of a turn, one after the other: those on the way to the orders, or, if
// likeliest is set, the legal ones with the largest logits.
func (o *openings) plain(t *testing.T, s *terminal.State, p sim.Player, orders []sim.Order, likeliest bool) (actions []int32) {
	t.Helper()
	d, run := o.form.NewDrafts(1), o.model.NewRunner(1)
	d.Begin(0, s, p)
	b, action := env.NewBatch(o.spec, 1, env.WantPlanes|env.WantScalars|env.WantMask), []int32{0}
	for ended := false; !ended; {
		d.Observe(features.Rows{Planes: b.Planes[:o.spec.Shape.PlaneBytes()], Scalars: b.Scalars[:o.spec.Shape.Scalars]}, 0)
		d.Mask(b.Mask[:o.spec.MaskWords], 0)
		for k := range o.spec.Shape.PlaneBytes() {
			run.Floats("planes")[k] = float32(b.Planes[k])
		}
		copy(run.Floats("scalars"), b.Scalars[:o.spec.Shape.Scalars])
		run.Run(1)
		logits, most := run.Output(o.fit.Heads[0].Output), float32(math.Inf(-1))
		d.Action(action, orders, 0)
		for k := range o.spec.Heads[0] {
			if likeliest && b.Mask[k/64]>>(k%64)&1 != 0 && logits[k] > most {
				most, action[0] = logits[k], int32(k)
			}
		}
		actions = append(actions, action[0])
		ended = d.Take(0, action)
	}
	return actions
}

// The first drawn turn has the likeliest actions. First finds the earlier turn with the same actions,
// and the number of evaluations is that of the different beginnings of drawn turns.
func TestTurns(t *testing.T) {
	o := newOpenings(t, 3, nil)
	n := neural.NewTurns(o.model, o.fit, o.form, o.spec, 2*len(o.states)*(len(given)+drawn))
	draw(n, o.states)
	i, different := 0, 0
	for at := range 2 * len(o.states) {
		s, p := &o.states[at/2], sim.Player(at%2)
		var seen [][]int32
		beginnings := map[string]bool{}
		for k := range len(given) + drawn {
			orders := n.AppendOrders(nil, i)
			if k < len(given) {
				orders = given[k]
			}
			actions := o.plain(t, s, p, orders, false)
			if k == len(given) {
				assert.Equalf(t, o.plain(t, s, p, nil, true), actions, "position %d: the likeliest turn", at)
			}
			first := slices.IndexFunc(seen, func(other []int32) bool { return slices.Equal(other, actions) })
			if seen = append(seen, actions); first < 0 {
				first = k
			}
			if k >= len(given) {
				require.Equalf(t, i-k+first, n.First(i), "position %d, turn %d: %v of %v", at, k, actions, seen)
				if first == k {
					different++
				}
				for end := range actions {
					beginnings[fmt.Sprint(actions[:end])] = true
				}
			}
			i++
		}
		assert.Equalf(t, rollout.NetworkCounts{Evaluations: uint64(len(beginnings))}, n.Network(at), "position %d", at)
	}
	t.Logf("%d drawn turns, %d different", 2*len(o.states)*drawn, different)
	assert.True(t, different > 2*len(o.states) && different < 2*len(o.states)*drawn, "all turns, or none, are equal")
}

// The drawn turns of a position depend on nothing else, and drawing allocates nothing.
func TestTurnsArePure(t *testing.T) {
	o := newOpenings(t, 3, nil)
	n := neural.NewTurns(o.model, o.fit, o.form, o.spec, 2*len(o.states)*(len(given)+drawn))
	type result struct {
		orders []sim.Order
		first  int
		counts rollout.NetworkCounts
	}
	list := func(positions int) (all []result) {
		for at := range positions {
			begin := at * (len(given) + drawn)
			for i := begin + len(given); i < begin+len(given)+drawn; i++ {
				all = append(all, result{n.AppendOrders(nil, i), n.First(i) - begin, n.Network(at)})
			}
		}
		return all
	}
	draw(n, o.states)
	together := list(2 * len(o.states))
	var alone []result
	for i := range o.states {
		draw(n, o.states[i:i+1])
		alone = append(alone, list(2)...)
	}
	assert.Equal(t, alone, together)
	assert.Zero(t, testing.AllocsPerRun(2, func() { draw(n, o.states) }), "allocations")
}

// The turns of a network whose logits are NaN end, and its faults are counted.
func TestTurnsOfBrokenNetwork(t *testing.T) {
	o := newOpenings(t, 1, func(s env.Spec) []byte { return neuraltest.Ending(s, 1, true, "Exp", "Neg", "Log") })
	n := neural.NewTurns(o.model, o.fit, o.form, o.spec, 2*(len(given)+drawn))
	draw(n, o.states)
	c := n.Network(1)
	assert.True(t, c.Evaluations > 0 && c.NotFinite == c.Evaluations, c)
}
