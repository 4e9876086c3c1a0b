package env

import (
	"fmt"

	"moonfarm/features"
	"moonfarm/sim"
)

// FormView shows the games of a Vector in another form than the Vector's. With
// it a policy that was made for one form plays in Vectors of every form: Begin,
// then Observe and Take until no row is open, then AppendOrders. Rows are those
// of a Batch of the Vector (game*Players + seat). It is not safe for concurrent
// use, and no method allocates.
type FormView interface {
	// Spec is that of the Vector, in this form.
	Spec() Spec
	// Begin begins the turns of the rows, in the states that the games have at
	// the start of their turns.
	Begin(rows []int32)
	// Observe fills the observation slabs and RowSeed of the rows, in a Batch
	// for Spec.
	Observe(b *Batch, rows []int32)
	// Take takes the Action of the rows. It appends the rows whose turns are
	// still open to open.
	Take(b *Batch, rows, open []int32) []int32
	// AppendOrders appends the orders of a row whose turn is not open.
	AppendOrders(dst []sim.Order, row int32) []sim.Order
}

// FormView implements Vector.
func (v *pool[S]) FormView(name string) (FormView, error) {
	spec, ok := v.spec.InForm(name)
	if !ok {
		return nil, fmt.Errorf("env: %s has no form %q", v.spec.Info.Name, name)
	}
	for i := range v.forms {
		if f := &v.forms[i]; f.Name == name {
			rows := spec.Games * spec.Info.Players
			return &formView[S]{pool: v, spec: spec, sizes: sizesOf(&spec), form: f, drafts: newDrafts(f, rows, spec.Info.MaxOrders)}, nil
		}
	}
	return nil, fmt.Errorf("env: %s lacks the form %q", v.spec.Info.Name, name)
}

// formView implements FormView.
type formView[S any] struct {
	pool   *pool[S]
	spec   Spec
	sizes  sizes
	form   *features.Form[S]
	drafts *drafts[S]
}

// Spec implements FormView.
func (f *formView[S]) Spec() Spec { return f.spec }

// at returns the state of a row and its seat.
func (f *formView[S]) at(row int32) (*S, sim.Player) {
	n := int32(f.sizes.players)
	return &f.pool.states[row/n], sim.Player(row % n)
}

// Begin implements FormView.
func (f *formView[S]) Begin(rows []int32) {
	for _, row := range rows {
		f.drafts.rows[row] = draft{}
		s, p := f.at(row)
		f.drafts.begin(int(row), s, p)
	}
}

// Observe implements FormView.
func (f *formView[S]) Observe(b *Batch, rows []int32) {
	z := &f.sizes
	for _, row := range rows {
		k := int(row)
		f.drafts.form.Observe(features.Rows{
			Planes:  part(b.Planes, k, 1, z.planes),
			Packed:  part(b.Packed, k, 1, z.words),
			Scalars: part(b.Scalars, k, 1, z.scalars),
		}, k)
		if b.Mask != nil {
			f.drafts.form.Mask(b.Mask[k*z.mask:(k+1)*z.mask], k)
		}
		if b.RowSeed != nil {
			_, p := f.at(row)
			b.RowSeed[k] = f.pool.rowSeed(k/z.players, p, f.drafts.rows[k].step)
		}
	}
}

// Take implements FormView.
func (f *formView[S]) Take(b *Batch, rows, open []int32) []int32 {
	for _, row := range rows {
		f.drafts.take(int(row), part(b.Action, int(row), 1, f.sizes.heads))
		if !f.drafts.rows[row].ended {
			open = append(open, row)
		}
	}
	return open
}

// AppendOrders implements FormView.
func (f *formView[S]) AppendOrders(dst []sim.Order, row int32) []sim.Order {
	return append(dst, f.drafts.ordersOf(int(row))...)
}

// newWhole returns turns of one action each.
func newWhole[S any](f *features.Form[S], n int) *whole[S] {
	heads := len(f.Actions.Heads())
	return &whole[S]{form: f, rows: make([]wholeTurn[S], n), heads: heads, actions: make([]int32, n*heads)}
}

// whole implements features.Drafts for a form whose action is a whole turn.
type whole[S any] struct {
	form    *features.Form[S]
	rows    []wholeTurn[S]
	heads   int
	actions []int32 // [rows, heads]
}

// wholeTurn is the state and the seat of a row.
type wholeTurn[S any] struct {
	s *S
	p sim.Player
}

// Begin implements features.Drafts.
func (w *whole[S]) Begin(i int, s *S, p sim.Player) { w.rows[i] = wholeTurn[S]{s, p} }

// Observe implements features.Drafts.
func (w *whole[S]) Observe(dst features.Rows, i int) {
	r, e := &w.rows[i], w.form.Encoder
	if dst.Planes != nil {
		e.Planes(dst.Planes, r.s, r.p)
	}
	if dst.Packed != nil {
		e.Packed(dst.Packed, r.s, r.p)
	}
	if dst.Scalars != nil {
		e.Scalars(dst.Scalars, r.s, r.p)
	}
}

// Mask implements features.Drafts.
func (w *whole[S]) Mask(dst []uint64, i int) { w.form.Actions.Mask(dst, w.rows[i].s, w.rows[i].p) }

// Take implements features.Drafts.
func (w *whole[S]) Take(i int, action []int32) (ended bool) {
	copy(w.actions[i*w.heads:][:w.heads], action)
	return true
}

// AppendOrders implements features.Drafts.
func (w *whole[S]) AppendOrders(dst []sim.Order, i int) []sim.Order {
	r := &w.rows[i]
	return w.form.Actions.AppendOrders(dst, w.actions[i*w.heads:][:w.heads], r.s, r.p)
}

// Action implements features.Drafts.
func (w *whole[S]) Action(dst []int32, orders []sim.Order, i int) bool {
	return w.form.Actions.Action(dst, orders, w.rows[i].s, w.rows[i].p)
}
