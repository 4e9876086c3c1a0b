package human

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/view"
	"moonfarm/sim"
)

// Draft returns the JSON of frames.json with one frame: what the orders of this turn do at once if the other seats give none.
// Those of the seat for which the person chooses now are the choices so far of a sequential form, or else those of the answer.
func (t *Session) Draft(a Answer) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, err := t.picked(&a)
	if err != nil {
		return nil, err
	}
	if t.spec.Sequential {
		now = t.picks
	}
	turn, any := sim.NewTurn(t.spec.Info.MaxOrders), false
	for i, chosen := range append(slices.Clone(t.done), now) {
		orders := t.ordersFrom(t.seats[i], chosen)
		turn.Set(sim.Player(t.seats[i]), orders)
		any = any || len(orders) > 0
	}
	seat := features.Spectator
	if len(t.seats) == 1 {
		seat = t.seat
	}
	var before features.Scene
	t.o.Vector.Scene(&before, 0, features.Spectator)
	if !any {
		return view.OneFrame(&before, &before)
	}
	var text []byte
	t.o.Vector.Frames(0, turn, seat, func(s *features.Scene) {
		if text == nil {
			text, err = view.OneFrame(&before, s)
		}
	})
	return text, err
}

// ordersFrom returns the orders of what a seat has chosen: the choices of a sequential form in any order, or an action.
func (t *Session) ordersFrom(seat int, chosen []int32) []sim.Order {
	if !t.spec.Sequential {
		return t.o.Vector.AppendOrders(nil, 0, sim.Player(seat), chosen)
	}
	defer func(was int) {
		t.seat = was
		t.try(nil)
	}(t.seat)
	t.seat = seat
	if len(chosen) == 0 || !t.try(slices.Sorted(slices.Values(chosen))) {
		return nil
	}
	t.act(seat, []int32{int32(t.spec.Nothing)})
	t.o.Vector.Step(t.b)
	return slices.Clone(t.ordersOf(seat)[:max(t.b.OrderLen[seat], 0)])
}

// ordersOfChoice returns the orders of a choice of the only head of a sequential form, among others of the turn, which may
// make it possible.
func (t *Session) ordersOfChoice(c int32, others []int32) []sim.Order {
	orders := t.o.Vector.AppendOrders(nil, 0, sim.Player(t.seat), []int32{c})
	if len(orders) > 0 || int(c) == t.spec.Nothing {
		return orders
	}
	before := t.ordersFrom(t.seat, others)
	return slices.DeleteFunc(t.ordersFrom(t.seat, append(slices.Clone(others), c)), func(o sim.Order) bool { return slices.Contains(before, o) })
}

// Advice is what the policy for hints would do in the person's place.
type Advice struct {
	Value *float64  `json:"value"` // the result that a search expects; nil: the policy does not search
	Moves []Advised `json:"moves"` // the best first
}

// Advised is a move of an advice.
type Advised struct {
	Share   float32  `json:"share"` // of a search; 1 without one
	Options []Option `json:"options"`
}

// mostAdvised is the number of moves of an advice.
const mostAdvised = 8

// Hint returns what the policy for hints would order in the person's place, and the other moves that it weighed. The film has
// the value that it expects.
func (t *Session) Hint() (*Advice, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.o.Hint == nil:
		return nil, errors.New("there are no hints: no policy of this game gives them")
	case t.e.Status != sim.Running:
		return nil, ErrOver
	}
	row := t.seat
	t.o.Hint.Act(t.o.Vector, t.b, []int32{int32(row)})
	heads := len(t.spec.Heads)
	var orders []sim.Order
	if n := t.b.OrderLen[row]; n >= 0 {
		orders = slices.Clone(t.ordersOf(row)[:n])
	} else {
		orders = t.o.Vector.AppendOrders(nil, 0, sim.Player(row), t.b.Action[row*heads:(row+1)*heads])
	}
	legal := t.choices()
	a := &Advice{Moves: []Advised{{1, t.advised(orders, legal)}}}
	if r := rollout.ResultOf(t.o.Hint, t.b, int32(row)); r != nil {
		a.Value, a.Moves = &r.Value, nil
		for k, share := range r.Shares {
			a.Moves = append(a.Moves, Advised{share, t.advised(r.OrdersOf(k), legal)})
		}
		slices.SortStableFunc(a.Moves, func(x, y Advised) int { return cmp.Compare(y.Share, x.Share) })
		a.Moves = a.Moves[:min(len(a.Moves), mostAdvised)]
		at := t.e.Turns*t.e.Players + row
		for len(t.values) < (t.e.Turns+1)*t.e.Players {
			t.values = append(t.values, float32(math.NaN()))
		}
		t.values[at] = float32(r.Value)
		t.version++
	}
	t.o.Vector.Observe(t.b) // as if nobody had chosen
	return a, nil
}

// advised returns the options for orders: those that the person can choose, where there are such, or by which the same entity does the
// same as near to the cell as it can.
func (t *Session) advised(orders []sim.Order, legal []Option) []Option {
	list := []Option{}
	for _, o := range orders {
		x := t.option(0, -1, []sim.Order{o})
		if i := nearest(legal, x.Text, func(o *Option) float64 {
			if x.Entity == 0 || o.Entity != x.Entity || o.Kind != x.Kind || o.Target != x.Target {
				return math.Inf(1)
			}
			return squared(float64(o.X-x.X), float64(o.Y-x.Y))
		}); i >= 0 {
			x = legal[i]
		}
		if x.Kind != "" {
			list = append(list, x)
		}
	}
	return list
}

// analysed returns the move that the analysis found, as long as the game goes as the analysed one.
func (t *Session) analysed() *Advised {
	n, m := len(t.e.Ends), len(t.e.Orders)
	begin := t.o.Begin
	if t.o.Analysis == nil || begin == nil || t.e.Status != sim.Running || n >= len(begin.Ends) ||
		!slices.Equal(t.e.Ends, begin.Ends[:n]) || !slices.Equal(t.e.Orders, begin.Orders[:m]) {
		return nil
	}
	best := t.o.Analysis(t.e.Turns, t.seat)
	if best == nil {
		return nil
	}
	a, legal := &Advised{Share: 1, Options: []Option{}}, t.choices()
	for _, text := range best {
		x := Option{Choice: -1, Text: text}
		words, cellX, cellY := placeOf(text)
		if i := nearest(legal, text, func(o *Option) float64 {
			w, x, y := placeOf(o.Text)
			if words == "" || o.Entity == 0 || w != words {
				return math.Inf(1)
			}
			return squared(float64(x-cellX), float64(y-cellY))
		}); i >= 0 {
			x = legal[i]
		}
		a.Options = append(a.Options, x)
	}
	return a
}

// placeOf returns the words of an order before its cell, and the cell; "": it has none.
func placeOf(text string) (words string, x, y int) {
	fields := strings.Fields(text)
	for i, f := range fields {
		if n, _ := fmt.Sscanf(f, "%d,%d", &x, &y); n == 2 {
			return strings.Join(fields[:i], " "), x, y
		}
	}
	return "", 0, 0
}

func squared(dx, dy float64) float64 { return float64(dx*dx) + float64(dy*dy) }

// nearest returns the index of the option with a text, or else of the one at the least finite distance; −1: there is none.
func nearest(legal []Option, text string, distance func(o *Option) float64) int {
	best, least := -1, math.Inf(1)
	for i := range legal {
		if legal[i].Text == text {
			return i
		}
		if d := distance(&legal[i]); d < least {
			best, least = i, d
		}
	}
	return best
}

// choices returns what the person can choose.
func (t *Session) choices() (all []Option) {
	for _, h := range t.offer(AllHeads).Heads {
		all = append(all, h.Options...)
	}
	return all
}
