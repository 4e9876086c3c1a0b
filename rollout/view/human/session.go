// Package human plays a game in which a person has one seat or several: it offers the legal choices, plays what is
// chosen, takes it back, and asks a policy for a hint. The other seats have policies or bots. A person with several seats
// chooses for one after the other in each turn. The game is looked at as package view shows it.
package human

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Setup describes a session.
type Setup struct {
	// Vector plays one game, in the form in which the person chooses. Watch makes further ones, for films.
	Vector env.Vector
	Watch  func() (env.Vector, error)
	Seats  []rollout.Policy // nil: a bot's, or the person's, at least one
	Bots   Bots             // nil: there are none
	IsBot  []bool           // by seat; nil: there are none
	Names  []string         // of the players, by seat
	Seed   uint64
	Hint   rollout.Policy // nil: there are no hints; not rollout.Recurrent
	// Orders returns orders as texts for people.
	Orders func(orders []sim.Order) []string
	// Begin, if not nil, is a game whose first Turns turns were played before.
	Begin *rollout.Episode
	Turns int
	// Analysis, if not nil, returns the texts of the best orders for a seat in a turn of Begin, which a search has found; nil:
	// none are known.
	Analysis func(turn, seat int) []string
}

// Session is a game with a person. It may be used by several goroutines at once.
type Session struct {
	o     Setup
	spec  env.Spec
	seats []int // the person's

	changes sync.Mutex // held before mu by what changes the game, also while bots think

	mu      sync.Mutex
	b       *env.Batch
	e       rollout.Episode
	start   []byte        // snapshot of the start of the turn
	step    int           // counts the changes, so that a late answer is known
	done    [][]int32     // of the person's seats that have chosen in this turn: an action, or the picks of a sequential form
	seat    int           // for which the person chooses now
	picks   []int32       // choices for it in this turn of a sequential form, in the order in which they were made
	mask    []uint64      // what the person can choose
	given   [][]sim.Order // by seat: the orders of seats that have ended their turn
	past    []moment      // what Undo goes back to, the latest last
	values  []float32     // as in view.Series: what a search for a hint expected
	version int
}

// moment is what a session was before a turn.
type moment struct {
	start  []byte
	turns  int
	done   [][]int32 // of all seats but the last
	picks  []int32   // of the last seat
	states []byte    // what the policies remember of the game (rollout.States), by seat
}

// mostPast bounds the memory for taking back, in bytes.
const mostPast = 64 << 20

// New begins the game.
func New(o Setup) (*Session, error) {
	t := &Session{o: o, spec: o.Vector.Spec(), version: 1}
	players := t.spec.Info.Players
	for p, policy := range o.Seats {
		if policy == nil && !t.isBot(p) {
			t.seats = append(t.seats, p)
		}
	}
	switch {
	case t.spec.Games != 1:
		return nil, errors.New("human: it needs one game")
	case len(o.Seats) != players || len(o.Names) != players:
		return nil, fmt.Errorf("human: %d players and %d names for %d seats", len(o.Seats), len(o.Names), players)
	case len(t.seats) == 0:
		return nil, errors.New("human: it needs a seat for a person")
	}
	t.seat = t.seats[0]
	wants := env.WantMask | env.WantAction | env.WantRowSeed
	for _, p := range append(slices.Clone(o.Seats), o.Hint) {
		if p != nil {
			wants |= p.Wants()
		}
	}
	t.b = env.NewBatch(t.spec, 1, wants)
	t.e = rollout.Episode{Seed: o.Seed, Policies: o.Names, Players: players}
	if o.Begin != nil {
		t.e.Seed = o.Begin.Seed
	}
	o.Vector.Reset(0, t.e.Seed)
	t.given = make([][]sim.Order, players)
	if o.Begin != nil {
		if err := t.begin(); err != nil {
			return nil, err
		}
	}
	t.open()
	return t, nil
}

// open begins a turn of the person, also one that was taken back.
func (t *Session) open() {
	for p := range t.e.Players {
		t.e.Outcome[p] = t.o.Vector.Outcome(0, sim.Player(p))
	}
	if t.o.Bots != nil {
		t.o.Bots.Follow(&t.e)
	}
	t.start = t.o.Vector.AppendSnapshot(t.start[:0:0], 0)
	t.o.Vector.Observe(t.b)
	t.survey()
}

// begin plays the first turns of the earlier game.
func (t *Session) begin() error {
	e := t.o.Begin
	if e.Players != t.e.Players || t.o.Turns < 0 || t.o.Turns > e.Turns || len(e.Ends) != e.Turns*e.Players {
		return fmt.Errorf("human: %d turns of a game with %d turns and %d seats", t.o.Turns, e.Turns, e.Players)
	}
	for turn := range t.o.Turns {
		t.o.Vector.Observe(t.b)
		for p := range t.e.Players {
			rollout.Follow(t.o.Seats[p], t.o.Vector, t.b, []int32{int32(p)})
			t.b.OrderLen[p] = int32(copy(t.ordersOf(p), e.OrdersOf(turn, sim.Player(p))))
		}
		t.play()
	}
	if t.e.Turns != t.o.Turns {
		return fmt.Errorf("human: the game is over after %d turns", t.e.Turns)
	}
	return nil
}

// ordersOf returns the place of a seat's orders in the batch.
func (t *Session) ordersOf(p int) []sim.Order {
	most := t.spec.Info.MaxOrders
	return t.b.Orders[p*most : (p+1)*most]
}

// play steps the vector, and keeps the orders of seats that have ended their turn.
func (t *Session) play() {
	b, v := t.b, t.o.Vector
	waited := make([]bool, t.e.Players)
	for p := range waited {
		waited[p] = v.Waits(p)
	}
	v.Step(b)
	played := int(b.Turn[0]) > t.e.Turns
	for p := range waited {
		if !waited[p] && (played || v.Waits(p)) {
			t.given[p] = slices.Clone(t.ordersOf(p)[:max(b.OrderLen[p], 0)])
		}
	}
	if !played {
		return
	}
	t.done, t.picks, t.seat = nil, nil, t.seats[0]
	t.changed()
	for p := range t.given {
		t.e.Orders = append(t.e.Orders, t.given[p]...)
		t.e.Ends = append(t.e.Ends, int32(len(t.e.Orders)))
		t.given[p] = nil
	}
	t.e.Turns++
	t.e.Status = b.Status[0]
}

func (t *Session) changed() {
	t.step++
	t.version++
}

// Seat returns the seat for which the person chooses now.
func (t *Session) Seat() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seat
}

// Version returns a number that is another one after each change.
func (t *Session) Version() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version
}

// Episode returns the game so far. A game that goes on is cut.
func (t *Session) Episode() *rollout.Episode {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.e
	e.Orders, e.Ends = slices.Clone(t.e.Orders), slices.Clone(t.e.Ends)
	if e.Status == sim.Running {
		e.Status = sim.Cut
	}
	return &e
}

// Pick is a choice of a head.
type Pick struct {
	Head   int `json:"head"`
	Choice int `json:"choice"`
}

// Answer is what a person chooses: the choices of some heads, all others choose nothing. Turn and Step say
// when, so that a late answer does not count.
type Answer struct {
	Turn  int    `json:"turn"`
	Step  int    `json:"step"`
	Picks []Pick `json:"picks"`
}

// ErrLate means that an answer or a wish belongs to another turn.
var ErrLate = errors.New("the game has gone on meanwhile")

// ErrTogether means that a choice is legal by itself, but not with the later ones of the turn, such as for want of
// resources.
var ErrTogether = errors.New("the turn's other orders are not possible then")

// ErrOver means that the game is over.
var ErrOver = errors.New("the game is over")

// Choose takes what the person chooses for a seat. In a sequential form it joins the choices of the turn, until the choice
// of nothing ends them; otherwise it is the turn. Then the person's next seat chooses; after the last all seats play.
// Choose fails, and changes nothing, if a choice is not legal together with the others of the turn, or a bot cannot be asked.
func (t *Session) Choose(a Answer) error {
	t.changes.Lock()
	defer t.changes.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	picked, err := t.picked(&a)
	if err != nil {
		return err
	}
	if t.spec.Sequential && int(picked[0]) != t.spec.Nothing {
		return t.join(picked[0])
	}
	chosen := picked
	if t.spec.Sequential {
		chosen = slices.Clone(t.picks)
	}
	if at := len(t.done); at+1 < len(t.seats) {
		t.done, t.picks = append(t.done, chosen), nil
		t.seat = t.seats[at+1]
		t.changed()
		t.survey()
		return nil
	}
	bots, err := t.askBots()
	if err != nil {
		return err
	}
	m := moment{start: t.start, turns: t.e.Turns, done: t.done, picks: slices.Clone(t.picks)}
	for p, policy := range t.o.Seats {
		for _, s := range rollout.StatesOf(policy) {
			m.states = s.Append(m.states, int32(p), int32(t.e.Turns))
		}
	}
	t.past = append(t.past, m)
	for len(t.past) > 1 && len(t.past)*(len(t.start)+len(m.states)) > mostPast {
		t.past = slices.Delete(t.past, 0, 1)
	}
	t.turn(append(slices.Clone(t.done), chosen), bots)
	t.open()
	return nil
}

// picked returns the action that an answer means, which fails if it comes late or is not legal.
func (t *Session) picked(a *Answer) ([]int32, error) {
	switch {
	case t.e.Status != sim.Running:
		return nil, ErrOver
	case a.Turn != t.e.Turns || a.Step != t.step:
		return nil, ErrLate
	}
	heads := len(t.spec.Heads)
	picked := slices.Repeat([]int32{int32(t.spec.Nothing)}, heads)
	for _, p := range a.Picks {
		if p.Head < 0 || p.Head >= heads || p.Choice < 0 || p.Choice >= t.spec.Heads[p.Head] || !t.legal(p.Head, p.Choice) {
			return nil, fmt.Errorf("choice %d of head %d is not legal", p.Choice, p.Head)
		}
		picked[p.Head] = int32(p.Choice)
	}
	return picked, nil
}

// turn plays a turn: the policies, the orders of the bots, and what the person has chosen for each seat.
func (t *Session) turn(chosen [][]int32, bots [][]sim.Order) {
	if t.spec.Sequential {
		for i := range chosen {
			chosen[i] = slices.Sorted(slices.Values(chosen[i])) // the order of the form
		}
	}
	for n, turn := 0, t.e.Turns; t.e.Turns == turn; n++ {
		if n > 0 {
			t.o.Vector.Observe(t.b)
		}
		for p, policy := range t.o.Seats {
			if policy != nil && !t.o.Vector.Waits(p) {
				policy.Act(t.o.Vector, t.b, []int32{int32(p)})
			}
			if t.isBot(p) && n == 0 {
				t.b.OrderLen[p] = int32(copy(t.ordersOf(p), bots[p]))
			}
		}
		for i, p := range t.seats {
			switch {
			case !t.spec.Sequential:
				t.act(p, chosen[i])
			case n < len(chosen[i]):
				t.act(p, chosen[i][n:n+1])
			default:
				t.act(p, []int32{int32(t.spec.Nothing)})
			}
		}
		t.play()
	}
}

func (t *Session) act(seat int, action []int32) {
	heads := len(t.spec.Heads)
	copy(t.b.Action[seat*heads:(seat+1)*heads], action)
	t.b.OrderLen[seat] = -1
}

// join adds a choice to the turn of a sequential form, if all choices are legal then.
func (t *Session) join(c int32) error {
	picks := append(slices.Clone(t.picks), c)
	legal := t.try(slices.Sorted(slices.Values(picks)))
	if legal {
		t.picks = picks
		t.changed()
	}
	t.try(nil)
	if !legal {
		return ErrTogether
	}
	t.survey()
	return nil
}

// try makes choices from the start of the turn of a sequential form, and observes what can be chosen after them. It reports
// whether they were legal. The other seats do nothing meanwhile.
func (t *Session) try(choices []int32) bool {
	if t.o.Vector.Restore(0, t.start) != nil { // its own snapshot
		return false
	}
	t.o.Vector.Observe(t.b)
	for _, c := range choices {
		if !t.set(t.row(), int(c)) {
			return false
		}
		heads := len(t.spec.Heads)
		for p := range t.e.Players {
			t.b.Action[p*heads] = int32(t.spec.Nothing)
			t.b.OrderLen[p] = -1
		}
		t.act(t.seat, []int32{c})
		t.o.Vector.Step(t.b)
		t.o.Vector.Observe(t.b)
	}
	return true
}

// row returns the mask of the seat for which the person chooses, as it was observed.
func (t *Session) row() []uint64 {
	return t.b.Mask[t.seat*t.spec.MaskWords : (t.seat+1)*t.spec.MaskWords]
}

// set reports whether a bit of a mask is set.
func (t *Session) set(mask []uint64, bit int) bool { return mask[bit/64]>>(bit%64)&1 != 0 }

// survey finds what the person can choose. In a sequential form that is what fits between the choices of the turn: the form
// wants them in ascending order, a person makes them in any order. Whether the later ones of the turn are still legal
// then, only join finds out.
func (t *Session) survey() {
	t.mask = append(t.mask[:0], t.row()...)
	if !t.spec.Sequential || len(t.picks) == 0 {
		return
	}
	clear(t.mask)
	sorted := slices.Sorted(slices.Values(t.picks))
	low := 0
	for k, end := range append(slices.Clone(sorted), int32(t.spec.Heads[0])) {
		t.try(sorted[:k])
		for c := low; c < int(end); c++ {
			if t.set(t.row(), c) {
				t.mask[c/64] |= 1 << (c % 64)
			}
		}
		low = int(end) + 1
	}
	t.mask[t.spec.Nothing/64] |= 1 << (t.spec.Nothing % 64)
	t.try(nil)
}

func (t *Session) legal(head, choice int) bool {
	bit := choice
	for _, n := range t.spec.Heads[:head] {
		bit += n
	}
	return t.set(t.mask, bit)
}

// Undo takes back the last choice of the turn, or what the seat before chose, or the last turn. It reports false if there
// is nothing to take back.
func (t *Session) Undo() (bool, error) {
	t.changes.Lock()
	defer t.changes.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.picks); n > 0 {
		t.picks = t.picks[:n-1]
		t.changed()
		t.survey()
		return true, nil
	}
	if at := len(t.done) - 1; at >= 0 {
		t.back(t.done[:at], t.done[at])
		t.survey()
		return true, nil
	}
	if len(t.past) == 0 {
		return false, nil
	}
	m := t.past[len(t.past)-1]
	if err := t.o.Vector.Restore(0, m.start); err != nil {
		return false, err
	}
	for p, policy := range t.o.Seats {
		for _, s := range rollout.StatesOf(policy) {
			m.states = s.Restore(int32(p), m.states)
		}
	}
	t.past = t.past[:len(t.past)-1]
	t.back(m.done, m.picks)
	t.e.Turns, t.e.Status = m.turns, sim.Running
	t.values = t.values[:min(len(t.values), (m.turns+1)*t.e.Players)]
	t.e.Ends = t.e.Ends[:m.turns*t.e.Players]
	n := int32(0)
	if len(t.e.Ends) > 0 {
		n = t.e.Ends[len(t.e.Ends)-1]
	}
	t.e.Orders = t.e.Orders[:n]
	t.open()
	return true, nil
}

// back returns to the seat that follows some that have chosen, with the picks that it had.
func (t *Session) back(done [][]int32, chosen []int32) {
	t.done, t.picks, t.seat = done, nil, t.seats[len(done)]
	if t.spec.Sequential {
		t.picks = chosen
	}
	t.changed()
}

// Bots play at seats of a game. They see it turn by turn.
type Bots interface {
	// Follow tells what was played so far, also after turns were taken back.
	Follow(e *rollout.Episode)
	// Orders returns the orders of a bot for the turn that follows.
	Orders(e *rollout.Episode, seat int) ([]sim.Order, error)
}

func (t *Session) isBot(seat int) bool { return seat < len(t.o.IsBot) && t.o.IsBot[seat] }

// askBots returns the orders of the bots, by seat. While they think, the game can be looked at.
func (t *Session) askBots() (orders [][]sim.Order, err error) {
	t.mu.Unlock()
	defer t.mu.Lock()
	orders = make([][]sim.Order, t.e.Players)
	for p := range orders {
		if t.isBot(p) {
			if orders[p], err = t.o.Bots.Orders(&t.e, p); err != nil {
				return nil, fmt.Errorf("%s: %w", t.o.Names[p], err)
			}
		}
	}
	return orders, nil
}
