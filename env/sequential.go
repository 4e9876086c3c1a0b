package env

import (
	"encoding/binary"
	"errors"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// drafts holds the turns in the making of a sequential form, one for each row.
type drafts[S any] struct {
	form    features.Drafts[S]
	rows    []draft
	turns   []uint64    // [games] number of turns begun, in all episodes
	orders  []sim.Order // [rows, most] of the turns that have ended
	actions []int32     // [rows, steps, heads] so far, for snapshots
	most    int         // orders of a turn
	steps   int         // actions of a turn
	heads   int
}

// draft is the turn in the making of a row.
type draft struct {
	begun  bool   // the form has begun the turn
	ended  bool   // the seat has ended its turn
	whole  bool   // by orders, not by an action
	step   uint32 // actions so far
	orders int32  // number of orders, once the turn is ended
}

// newDrafts makes the memory of some rows. A turn has at most `most` orders.
func newDrafts[S any](f *features.Form[S], rows, most int) *drafts[S] {
	d := &drafts[S]{rows: make([]draft, rows), most: most, steps: 1, heads: len(f.Actions.Heads())}
	if f.Sequential() {
		d.form, d.steps = f.NewDrafts(rows), most+1 // every action but the last gives an order
	} else {
		d.form = newWhole(f, rows)
	}
	d.orders, d.actions = make([]sim.Order, rows*most), make([]int32, rows*d.steps*d.heads)
	return d
}

// ordersOf returns the orders of a row whose turn is ended.
func (d *drafts[S]) ordersOf(row int) []sim.Order {
	return d.orders[row*d.most:][:d.rows[row].orders:d.most]
}

// begin makes sure that the turn of a row is begun.
func (d *drafts[S]) begin(row int, s *S, p sim.Player) *draft {
	r := &d.rows[row]
	if !r.begun {
		d.form.Begin(row, s, p)
		r.begun = true
	}
	return r
}

// take carries out an action of a row. A turn has at most d.steps actions.
func (d *drafts[S]) take(row int, action []int32) {
	r := &d.rows[row]
	copy(d.actions[(row*d.steps+int(r.step))*d.heads:][:d.heads], action)
	r.step++
	r.ended = d.form.Take(row, action)
	if int(r.step) == d.steps {
		r.ended = true
	}
	if r.ended {
		at := row * d.most
		orders := d.form.AppendOrders(d.orders[at:at:at+d.most], row)
		if len(orders) > d.most {
			panic("env: the form gives more orders than Info.MaxOrders")
		}
		r.orders = int32(len(orders))
	}
}

// takeAll ends the turn of a row with its orders.
func (d *drafts[S]) takeAll(row int, orders []sim.Order) {
	r := &d.rows[row]
	r.ended, r.whole, r.orders = true, true, int32(copy(d.orders[row*d.most:][:d.most], orders))
}

// sequentialName returns the name of a sequential form, "" for other forms.
func sequentialName[S any](f *features.Form[S]) string {
	if f.Sequential() {
		return f.Name
	}
	return ""
}

// Waits implements Vector.
func (v *pool[S]) Waits(row int) bool { return v.drafts != nil && v.drafts.rows[row].ended }

// TurnID implements Vector.
func (v *pool[S]) TurnID(i int) uint64 {
	if v.drafts == nil {
		return 0
	}
	return v.drafts.turns[i]
}

// TurnSeeds implements Vector.
func (v *pool[S]) TurnSeeds(dst []uint64, i int) {
	for seat := range v.sizes.players {
		dst[i*v.sizes.players+seat] = v.rowSeed(i, sim.Player(seat), 0)
	}
}

// open begins a turn of game i: no seat has given an order.
func (v *pool[S]) open(i int) {
	if v.drafts == nil {
		return
	}
	n := v.spec.Info.Players
	clear(v.drafts.rows[i*n : (i+1)*n])
	v.drafts.turns[i]++
}

// observeDrafts observes the turns in the making of the seats from first to
// last of game i, into the given row of the slabs and the next ones.
func (v *pool[S]) observeDrafts(b *Batch, row, i, first, last int) {
	z := &v.sizes
	for seat := first; seat <= last; seat++ {
		k, p := i*z.players+seat, sim.Player(seat)
		r := v.drafts.begin(k, &v.states[i], p)
		v.drafts.form.Observe(features.Rows{
			Planes:  part(b.Planes, row, 1, z.planes),
			Packed:  part(b.Packed, row, 1, z.words),
			Scalars: part(b.Scalars, row, 1, z.scalars),
		}, k)
		if b.Mask != nil {
			mask := b.Mask[row*z.mask : (row+1)*z.mask]
			if b.masks(v.status[i]) && !r.ended {
				v.drafts.form.Mask(mask, k)
			} else {
				copy(mask, v.ended)
			}
		}
		if b.RowSeed != nil {
			b.RowSeed[row] = v.rowSeed(i, p, r.step)
		}
		row++
	}
}

// takeActions takes an action, or the orders of a whole turn, of each seat of
// game i. Once all seats have ended their turns it sets their orders and
// returns true.
func (v *pool[S]) takeActions(b *Batch, i int) (all bool) {
	all = true
	first := i * v.sizes.players
	for seat := range v.sizes.players {
		row := first + seat
		if v.drafts.rows[row].ended {
			v.restRow(b, row)
			continue
		}
		v.takeAction(b, row, &v.states[i], sim.Player(seat))
		all = all && v.drafts.rows[row].ended
	}
	if !all {
		return false
	}
	for seat := range v.sizes.players {
		v.turn.Set(sim.Player(seat), v.drafts.ordersOf(first+seat))
	}
	return true
}

// takeAction takes the action or the orders of a row.
func (v *pool[S]) takeAction(b *Batch, row int, s *S, p sim.Player) {
	z, d := &v.sizes, v.drafts
	slab := b.Orders[row*z.orders : (row+1)*z.orders]
	n := b.given(row, len(slab))
	played := part(b.Played, row, 1, z.heads)
	action := part(b.Action, row, 1, z.heads)
	if n < 0 {
		d.begin(row, s, p)
		d.take(row, action)
		copy(played, action)
		b.OrderLen[row] = 0
		if d.rows[row].ended {
			b.OrderLen[row] = int32(copy(slab, d.ordersOf(row)))
		}
		return
	}
	if b.ActionReadOnly {
		action = nil
	}
	for _, dst := range [2][]int32{played, action} {
		if dst != nil {
			d.begin(row, s, p)
			v.next(dst, slab[:n], row)
		}
	}
	d.takeAll(row, slab[:n])
}

// hash returns the hash of what the seats from row first on have given so far.
func (d *drafts[S]) hash(first, n int) uint64 {
	h := prng.Digest(1)
	for row := first; row < first+n; row++ {
		r := &d.rows[row]
		h.Add(uint64(r.step)<<8 | flag(r.ended)<<1 | flag(r.whole))
		for _, c := range d.actionsOf(row) {
			h.Add(uint64(uint32(c)))
		}
		if r.whole {
			for _, o := range d.ordersOf(row) {
				h.Add(uint64(o))
			}
		}
	}
	return h.Sum()
}

// actionsOf returns the actions of a row so far.
func (d *drafts[S]) actionsOf(row int) []int32 {
	return d.actions[row*d.steps*d.heads:][:int(d.rows[row].step)*d.heads]
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// appendTo appends the turns in the making of some rows to a snapshot: for each
// row 4 bytes of the number of actions, 4 of the number of orders, or −1 if the
// turn was not ended by orders; then the actions and the orders.
func (d *drafts[S]) appendTo(dst []byte, first, n int) []byte {
	for row := first; row < first+n; row++ {
		r := &d.rows[row]
		orders := int32(-1)
		if r.whole {
			orders = r.orders
		}
		dst = binary.LittleEndian.AppendUint32(dst, r.step)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(orders))
		for _, c := range d.actionsOf(row) {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(c))
		}
		if r.whole {
			for _, o := range d.ordersOf(row) {
				dst = binary.LittleEndian.AppendUint64(dst, uint64(o))
			}
		}
	}
	return dst
}

// size returns the number of bytes that appendTo appended for n rows at the
// beginning of from, or an error if they are damaged.
func (d *drafts[S]) size(from []byte, n int) (int, error) {
	at := 0
	for range n {
		if len(from)-at < 8 {
			return 0, errDrafts
		}
		steps, orders := binary.LittleEndian.Uint32(from[at:]), int32(binary.LittleEndian.Uint32(from[at+4:]))
		if int64(steps) > int64(d.steps) || orders < -1 || int(orders) > d.most {
			return 0, errDrafts
		}
		at += 8 + int(steps)*d.heads*4 + max(0, int(orders))*8
		if at > len(from) {
			return 0, errDrafts
		}
	}
	return at, nil
}

var errDrafts = errors.New("env: snapshot is damaged: the turns in the making")

// restoreDrafts takes the actions and orders that appendTo appended.
func (v *pool[S]) restoreDrafts(i int, from []byte) {
	v.open(i)
	d := v.drafts
	action := make([]int32, d.heads)
	for seat := range v.sizes.players {
		row := i*v.sizes.players + seat
		steps, orders := binary.LittleEndian.Uint32(from), int32(binary.LittleEndian.Uint32(from[4:]))
		from = from[8:]
		d.begin(row, &v.states[i], sim.Player(seat))
		for range steps {
			for h := range action {
				action[h] = int32(binary.LittleEndian.Uint32(from[4*h:]))
			}
			from = from[4*d.heads:]
			d.take(row, action)
		}
		if orders >= 0 {
			list := make([]sim.Order, orders)
			for k := range list {
				list[k] = sim.Order(binary.LittleEndian.Uint64(from[8*k:]))
			}
			from = from[8*orders:]
			d.takeAll(row, list)
		}
	}
}

// next writes the next action of a row on the way to the orders of a turn, or −1
// if the form cannot express the rest of them.
func (v *pool[S]) next(dst []int32, orders []sim.Order, row int) {
	if !v.drafts.form.Action(dst, orders, row) && len(dst) == 1 && int(dst[0]) == v.spec.Nothing {
		dst[0] = -1
	}
}
