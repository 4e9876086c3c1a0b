package sim

// Turn holds the ordered orders of every seat for one turn. It is made once
// and reused; it reallocates only if a seat gives more orders than it was made
// for. The zero Turn is ready for use and grows on demand.
type Turn struct {
	seats [MaxPlayers][]Order
}

// NewTurn returns a Turn with room for the given number of orders per seat,
// normally Info.MaxOrders.
func NewTurn(orders int) *Turn {
	t := new(Turn)
	for p := range t.seats {
		t.seats[p] = make([]Order, 0, orders)
	}
	return t
}

// Clear takes back the orders of all seats: every seat does nothing.
func (t *Turn) Clear() {
	for p := range t.seats {
		t.seats[p] = t.seats[p][:0]
	}
}

// Set replaces the orders of seat p by a copy of orders.
func (t *Turn) Set(p Player, orders []Order) {
	t.seats[p] = append(t.seats[p][:0], orders...)
}

// SetOne replaces the orders of seat p by a single one.
func (t *Turn) SetOne(p Player, o Order) {
	t.seats[p] = append(t.seats[p][:0], o)
}

// Add appends one order to those of seat p.
func (t *Turn) Add(p Player, o Order) {
	t.seats[p] = append(t.seats[p], o)
}

// Orders returns the orders of seat p, valid until the Turn is changed.
func (t *Turn) Orders(p Player) []Order { return t.seats[p] }
