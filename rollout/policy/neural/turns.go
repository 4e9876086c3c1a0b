package neural

import (
	"slices"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/network"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Turns draws whole turns from a network of a sequential form, for several positions at once. All
// turns go forward together, one action at a time; turns of a position that began with the same
// actions share evaluations. The results for a position depend on nothing but the position and its
// turns.
//
// Clear comes first, then Position for each seat of a state, followed by Draw and Compare for its
// turns, then Run. Turns are numbered in the order in which they are added.
type Turns[S any] struct {
	drafts    features.Drafts[S]
	batch     *env.Batch
	input     *input
	logits    logits
	shape     features.Shape
	words     int // of a mask
	most      int // actions of a turn
	positions []position[S]
	turns     []turn
	leads     []int // turns that are evaluated next
	weights   []float32
}

// position is a seat of a state.
type position[S any] struct {
	state  *S
	player sim.Player
	counts rollout.NetworkCounts
}

// turn is a turn in the making.
type turn struct {
	position    int
	lead        int         // the first turn of the position with the same actions so far
	next        int         // lead, once the latest action is taken
	orders      []sim.Order // to which the actions lead, if the turn is not drawn
	drawn       bool
	temperature float64 // of a drawn turn; 0: its likeliest actions
	random      prng.Rand
	action      [1]int32 // the latest one
	actions     int      // so far
	ended       bool
}

// NewTurns makes the memory of up to n turns, for a model that fits the games, whose form is
// sequential.
func NewTurns[S any](m *network.Model, f Fit, form features.Form[S], s env.Spec, n int) *Turns[S] {
	t := &Turns[S]{drafts: form.NewDrafts(n), input: newInput(m, f, s, batch), shape: s.Shape, words: s.MaskWords, most: s.Info.MaxOrders + 1,
		positions: make([]position[S], 0, n), turns: make([]turn, n), leads: make([]int, 0, n), weights: make([]float32, s.Heads[0])}
	for i := range t.turns {
		t.turns[i].orders = make([]sim.Order, 0, s.Info.MaxOrders)
	}
	t.batch = env.NewBatch(s, (batch+s.Info.Players-1)/s.Info.Players, t.input.wants|env.WantMask)
	t.logits = t.input.heads(f, batch)[0]
	t.Clear()
	return t
}

// Clear removes all positions and turns.
func (t *Turns[S]) Clear() { t.positions, t.turns = t.positions[:0], t.turns[:0] }

// Position adds a position, seat p of state s. The state must not change until the next Clear.
func (t *Turns[S]) Position(s *S, p sim.Player) {
	t.positions = append(t.positions, position[S]{state: s, player: p})
}

// Draw adds a turn of the latest position whose actions are drawn by the seed, in proportion to
// exp(logit/temperature); with temperature 0 each action is the one with the largest logit. It
// returns the number of the turn.
func (t *Turns[S]) Draw(temperature float64, seed uint64) int {
	i := t.add()
	x := &t.turns[i]
	x.drawn, x.temperature, x.random = true, temperature, prng.New(seed)
	return i
}

// Compare adds the turn of the latest position whose actions lead to the orders. First finds the
// drawn turns that equal it.
func (t *Turns[S]) Compare(orders []sim.Order) {
	x := &t.turns[t.add()]
	x.orders = append(x.orders, orders[:min(len(orders), cap(x.orders))]...)
}

// add adds a turn of the latest position.
func (t *Turns[S]) add() int {
	i, at := len(t.turns), len(t.positions)-1
	t.turns = t.turns[:i+1]
	lead := i
	if i > 0 && t.turns[i-1].position == at {
		lead = t.turns[i-1].lead
	}
	x := &t.turns[i]
	*x = turn{position: at, lead: lead, orders: x.orders[:0]}
	t.drafts.Begin(i, t.positions[at].state, t.positions[at].player)
	return i
}

// Run draws all turns to their ends.
func (t *Turns[S]) Run() {
	for t.findLeads(); len(t.leads) > 0; t.findLeads() {
		for from := 0; from < len(t.leads); from += batch {
			leads := t.leads[from:min(from+batch, len(t.leads))]
			for k, i := range leads {
				t.observe(k, i)
			}
			t.input.runner.Run(len(leads))
			for k, i := range leads {
				t.draw(k, i)
			}
		}
		t.take()
	}
}

// findLeads lists, for each beginning of a drawn turn that has not ended, the first turn with it.
func (t *Turns[S]) findLeads() {
	t.leads = t.leads[:0]
	for i := range t.turns {
		x := &t.turns[i]
		if x.drawn && !x.ended && !slices.Contains(t.leads, x.lead) {
			t.leads = append(t.leads, x.lead)
		}
	}
}

// observe writes the observation of turn i to row k of the batch.
func (t *Turns[S]) observe(k, i int) {
	b, dst := t.batch, features.Rows{}
	if n := t.shape.PlaneBytes(); b.Planes != nil {
		dst.Planes = b.Planes[k*n:][:n]
	}
	if n := t.shape.Words; b.Packed != nil {
		dst.Packed = b.Packed[k*n:][:n]
	}
	if n := t.shape.Scalars; b.Scalars != nil {
		dst.Scalars = b.Scalars[k*n:][:n]
	}
	t.drafts.Observe(dst, i)
	t.drafts.Mask(b.Mask[k*t.words:][:t.words], i)
	t.input.copy(k, b, k)
}

// draw draws the next actions of the turns that equal turn i so far, by row k of the batch.
func (t *Turns[S]) draw(k, i int) {
	legal := choices{mask: t.batch.Mask[k*t.words:][:t.words]}
	logits := t.logits.of(k)
	s := legal.survey(logits)
	at := t.turns[i].position
	counts := &t.positions[at].counts
	counts.Evaluations++
	if s.broken {
		counts.NotFinite++
	}
	for j := i; j < len(t.turns) && t.turns[j].position == at; j++ {
		x := &t.turns[j]
		switch {
		case x.lead != i || !x.drawn:
		case x.temperature == 0:
			x.action[0] = s.best
		default:
			x.action[0] = legal.draw(t.weights, logits, s.best, x.temperature, &x.random)
		}
	}
}

// take takes the next actions of all open turns, and finds which turns still equal an earlier one.
func (t *Turns[S]) take() {
	for i := range t.turns {
		x := &t.turns[i]
		if x.ended {
			continue
		}
		if !x.drawn {
			t.drafts.Action(x.action[:], x.orders, i)
		}
		x.next = x.lead
		for x.next < i && (t.turns[x.next].lead != x.lead || t.turns[x.next].action != x.action) {
			x.next++
		}
	}
	for i := range t.turns {
		x := &t.turns[i]
		if x.ended {
			continue
		}
		x.lead = x.next
		x.actions++
		x.ended = t.drafts.Take(i, x.action[:]) || x.actions == t.most
	}
}

// First returns the first turn of the same position that equals the drawn turn i: i itself if there
// is no earlier one.
func (t *Turns[S]) First(i int) int { return t.turns[i].lead }

// AppendOrders appends the orders of the drawn turn i.
func (t *Turns[S]) AppendOrders(dst []sim.Order, i int) []sim.Order {
	return t.drafts.AppendOrders(dst, i)
}

// Network returns the number of evaluations of a position, and the number of those with NaN or
// infinite logits.
func (t *Turns[S]) Network(position int) rollout.NetworkCounts { return t.positions[position].counts }
