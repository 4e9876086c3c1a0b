// Package toolbox is shared by the scripts of CodeCraft: a seat's own units and money, and
// the places around buildings.
package toolbox

import (
	"moonfarm/rollout/policy/script"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// View is a state as a script sees it from one seat.
type View = script.View[codecraft.State, codecraft.Rules, *codecraft.Game]

// Holdings are a view with the lists of the seat's units, which the script fills, and its
// money. Coordinates are the map's unless a comment says "own frame": the frame in which the
// seat's corner is the origin.
type Holdings struct {
	View
	Builders List // own builder units
	Army     List // other own units that move
	Fixed    List // own units that do not move: buildings

	Money  int32 // left after the orders so far
	Saving bool  // money was set aside
	Housed int32 // population provided once all buildings are finished
}

// List is a list of units: indices of State.Units, ascending by id. It has room for all units
// of a state.
type List struct {
	N  int
	At [codecraft.MaxUnits]uint16
}

// Add appends a unit.
func (l *List) Add(i int) {
	l.At[l.N] = uint16(i)
	l.N++
}

// All returns the units of the list.
func (l *List) All() []uint16 { return l.At[:l.N] }

// Begin empties the lists and takes the money and the population of the state.
func (h *Holdings) Begin() {
	h.Builders.N, h.Army.N, h.Fixed.N = 0, 0, 0
	h.Money, h.Saving = h.State.Resource[h.Player], false
	h.Housed = h.State.PopProvide[h.Player]
}

// Give orders action a for unit i, unless it is already the unit's stored action.
func (h *Holdings) Give(i int, a codecraft.Action) {
	if old := &h.State.Acts[i]; *old != a && (a.Parts != codecraft.Given || old.Parts != 0) {
		h.Orders = a.AppendOrders(h.Orders, h.State.Units[i].ID)
	}
}

// Reserve sets money aside.
func (h *Holdings) Reserve(cost int32) {
	h.Money -= cost
	h.Saving = true
}

// Pay subtracts the price of one more unit of type t. It reports false if the population limit
// has no room for the unit, or if money was set aside and the rest does not suffice. If no
// money was set aside, Money may become negative.
func (h *Holdings) Pay(t codecraft.Type) bool {
	s, p := h.State, h.Player
	if !h.Rules.RoomFor(t, s.PopUse[p], s.PopProvide[p]) {
		return false
	}
	cost := h.Rules.CostOf(t, int32(s.Count[p][t]))
	if h.Saving && h.Money < cost {
		return false
	}
	h.Money -= cost
	return true
}

// Corner returns the lowest corner of unit i, and its size.
func (h *Holdings) Corner(i int) (x, y, size int) {
	u := &h.State.Units[i]
	return int(u.X), int(u.Y), int(h.Rules.Types[u.Type].Size)
}

// HomeAt is the coordinate of the middle of a builder base at the start, on both axes of the
// own frame.
const HomeAt = 7

// Home returns the middle of the first own builder base, or of the place where it stands at
// the start.
func (h *Holdings) Home() (x, y int) {
	for _, i := range h.Fixed.All() {
		if h.State.Units[i].Type == codecraft.BuilderBase {
			x, y, size := h.Corner(int(i))
			return x + size/2, y + size/2
		}
	}
	return codecraft.TurnBack(h.Player, HomeAt, HomeAt, 1)
}

// roamTicks is the time for which a unit heads for one place to look for enemies.
const roamTicks = 64

// Roam returns the random place where unit i looks for enemies for the next ticks.
func (h *Holdings) Roam(i int) (x, y int) {
	id := uint64(h.State.Units[i].ID)
	r := prng.New(prng.Mix(id<<32 | (uint64(h.State.Tick)+id)/roamTicks))
	return r.IntN(codecraft.Side), r.IntN(codecraft.Side)
}

// Beside returns the k-th cell along one side of a square, upwards or to the right: side 0 is
// right of the square, 1 above, 2 left, 3 below.
func Beside(x, y, size, side, k int) (int, int) {
	switch side {
	case 0:
		return x + size, y + k
	case 1:
		return x + k, y + size
	case 2:
		return x - 1, y + k
	}
	return x + k, y - 1
}

// ClearAround removes a square and a lane of some cells around it, including the diagonal
// ones, from a board.
func ClearAround(b *bitboard.Square, x, y, size, lane int) {
	for row := max(y-lane, 0); row < min(y+size+lane, codecraft.Side); row++ {
		low, high := b.Row(row)
		for col := max(x-lane, 0); col < min(x+size+lane, codecraft.Side); col++ {
			if col < 64 {
				low &^= 1 << col
			} else {
				high &^= 1 << (col - 64)
			}
		}
		b.SetRow(row, low, high)
	}
}
