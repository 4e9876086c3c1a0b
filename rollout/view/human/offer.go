package human

import (
	"cmp"
	"slices"
	"strings"

	"moonfarm/rollout/view"
	"moonfarm/sim"
)

// Option is something that a person can order.
type Option struct {
	Head   int     `json:"head"`
	Choice int     `json:"choice"` // −1: not one choice
	Kind   string  `json:"kind"`   // as in features.Command; "" orders nothing
	Placed bool    `json:"placed"`
	X      float32 `json:"x"`
	Y      float32 `json:"y"`
	Target uint32  `json:"target"`
	Entity uint32  `json:"entity"`
	Number int     `json:"number"`
	Note   string  `json:"note"`
	Text   string  `json:"text"`
}

// option describes the orders of a choice of a head by the first of them.
func (t *Session) option(head, choice int, orders []sim.Order) Option {
	x := Option{Head: head, Choice: choice}
	if len(orders) > 0 {
		if c, ok := t.o.Vector.Command(orders[0], sim.Player(t.seat)); ok {
			x.Kind, x.Placed, x.X, x.Y, x.Target, x.Entity, x.Number, x.Note = c.Kind, c.Placed, c.X, c.Y, c.Target, c.Entity, c.Number, c.Note
		}
	}
	x.Text = cmp.Or(strings.Join(t.o.Orders(orders), ", "), x.Kind) // an order that changes nothing has a name, too
	return x
}

// Offer is what a person can choose now.
type Offer struct {
	Turn       int  `json:"turn"`
	Step       int  `json:"step"`
	Seat       int  `json:"seat"`
	Over       bool `json:"over"`
	Sequential bool `json:"sequential"` // a turn is several choices, the last is Nothing
	Nothing    int  `json:"nothing"`
	Undo       bool `json:"undo"`
	Hint       bool `json:"hint"`
	// Chosen is what the person has ordered in this turn, if it is Sequential.
	Chosen []Option `json:"chosen"`
	Heads  []Head   `json:"heads"`
	// Analysed is the move that was found before the game for this turn.
	Analysed *Advised `json:"analysed"`
	// Ordering has the seats that have ended their turn, and the one for which the person chooses.
	Ordering []int `json:"ordering"`
}

// Head is a head with more than one legal choice.
type Head struct {
	Head    int      `json:"head"`
	Entity  uint32   `json:"entity"`  // the Entity.ID of what acts; 0: the seat
	Options []Option `json:"options"` // null unless they were asked for
}

// AllHeads asks for the options of all heads; other numbers that are no heads ask for none.
const AllHeads = -1

// Offer returns what the person can choose now, with the options of one head, or of all if there are few.
func (t *Session) Offer(head int) Offer {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.offer(head)
	x.Analysed = t.analysed()
	return x
}

// offer is Offer with the lock held.
func (t *Session) offer(head int) Offer {
	x := Offer{
		Turn: t.e.Turns, Step: t.step, Seat: t.seat, Over: t.e.Status != sim.Running, Sequential: t.spec.Sequential, Nothing: t.spec.Nothing,
		Undo: len(t.past)+len(t.done)+len(t.picks) > 0, Hint: t.o.Hint != nil, Chosen: []Option{}, Heads: []Head{}, Ordering: t.seats[:len(t.done)+1],
	}
	for i, c := range t.picks {
		x.Chosen = append(x.Chosen, t.option(0, int(c), t.ordersOfChoice(c, slices.Delete(slices.Clone(t.picks), i, i+1))))
	}
	if x.Over {
		return x
	}
	action := slices.Repeat([]int32{int32(t.spec.Nothing)}, len(t.spec.Heads))
	for h, n := range t.spec.Heads {
		one := Head{Head: h}
		all := head == h || head == AllHeads
		legal, known := 0, map[string]bool{}
		for c := range n {
			if !t.legal(h, c) {
				continue
			}
			if legal++; c == t.spec.Nothing && len(t.spec.Heads) > 1 || !all && one.Entity != 0 {
				continue
			}
			action[h] = int32(c)
			orders := t.o.Vector.AppendOrders(nil, 0, sim.Player(t.seat), action)
			if len(orders) == 0 && all && t.spec.Sequential {
				orders = t.ordersOfChoice(int32(c), t.picks)
			}
			o := t.option(h, c, orders)
			action[h] = int32(t.spec.Nothing)
			if one.Entity == 0 {
				one.Entity = o.Entity
			}
			if all && (!known[o.Text] || c == t.spec.Nothing) { // not two choices for the same orders
				known[o.Text] = true
				one.Options = append(one.Options, o)
			}
		}
		if legal > 1 {
			x.Heads = append(x.Heads, one)
		}
	}
	return x
}

// Film opens the film of the game so far.
func (t *Session) Film() (*view.Film, error) {
	v, err := t.o.Watch()
	if err != nil {
		return nil, err
	}
	g := view.Game{Vector: v, Episode: t.Episode(), Orders: t.o.Orders}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.values) > 0 {
		g.Series = []view.Series{{Name: "value", Unit: "expected result", Values: slices.Clone(t.values)}}
	}
	return view.NewFilm(g)
}

// GameList returns a list with the game so far.
func (t *Session) GameList() *view.List {
	e := t.Episode()
	x := view.EntryOf(0, "", e)
	if t.goesOn() {
		x.Status = "running"
	}
	return &view.List{Title: t.spec.Info.Name, Live: true, Entries: []view.Entry{x}, Open: func(int) (*view.Film, error) { return t.Film() }}
}

// goesOn reports whether the game is not over.
func (t *Session) goesOn() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.e.Status == sim.Running
}
