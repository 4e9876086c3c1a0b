package codecraft

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// view is what a seat knows when it chooses.
type view struct {
	a *Actions
	s *cc.State
	p sim.Player

	known bitboard.Square // cells covered by what the seat sees
	seen  bitboard.Square // cells in sight, if not all that counts is

	afford [cc.Types][maxSize + 1]uint64 // by builder and size: what can be paid for, as choices of the first direction
	fits   [maxSize]bitboard.Square      // by size − 1: lowest corners of free squares, up to the largest size in afford
	hurt   [cc.Types]int32               // own entities below full health, by type
}

// look fills in the view.
func (v *view) look(a *Actions, s *cc.State, p sim.Player) {
	v.a, v.s, v.p = a, s, p
	v.known = s.Occupied
	if a.rules.Fog && a.spread {
		v.peer()
	}
	largest := 0
	for t := range a.types {
		if a.types[t].builds && s.Count[p][t] > 0 && s.N < cc.MaxUnits {
			largest = max(largest, v.pay(cc.Type(t)))
		}
	}
	v.fit(largest)
	for i := range s.Units[:s.N] {
		if u := &s.Units[i]; u.Owner == p && int32(u.Health) < a.rules.Types[u.Type].MaxHealth {
			v.hurt[u.Type]++
		}
	}
}

// peer leaves in known what is in sight. By most rules that is all that any
// choice asks for, and it need not be known what is.
func (v *view) peer() {
	s := v.s
	v.a.game.Sight(&v.seen, s, v.p)
	v.known = s.Resources
	v.known.And(&v.seen)
	v.known.Or(&s.Own[v.p])
	for i := range s.Units[:s.N] {
		if u := &s.Units[i]; u.Owner != v.p && v.sees(u) {
			v.known.AddSquare(int(u.X), int(u.Y), v.a.types[u.Type].size)
		}
	}
}

// sees tells whether an entity of another player is in sight, for those that any
// choice asks for.
func (v *view) sees(u *cc.Unit) bool {
	return !v.a.rules.Fog || !v.a.spread || v.seen.MeetsSquare(int(u.X), int(u.Y), v.a.types[u.Type].size)
}

// enemies are the cells of the entities of all others.
func (v *view) enemies() (b bitboard.Square) {
	for q := range sim.Player(v.a.rules.Players) {
		if q != v.p {
			b.Or(&v.s.Own[q])
		}
	}
	if v.a.rules.Fog && v.a.spread {
		b.And(&v.known)
	}
	return b
}

// fit finds the free squares up to a size: one of size n is four of size n − 1.
func (v *view) fit(largest int) {
	for n := range largest {
		b := &v.fits[n]
		if n == 0 {
			b.Flip(&v.known)
			continue
		}
		low, high := v.fits[n-1].Row(0)
		for y := range side {
			nextLow, nextHigh := v.fits[n-1].Row(y + 1) // none beyond the last
			l, h := low&nextLow, high&nextHigh
			b.SetRow(y, l&(l>>1|h<<63), h&(h>>1))
			low, high = nextLow, nextHigh
		}
	}
}

// pay works out what a builder can pay for now, and how large that is at most.
func (v *view) pay(t cc.Type) (largest int) {
	r := &v.a.rules
	builds := r.Types[t].Builds.All()
	for k, built := range builds[:min(len(builds), most)] {
		n := &r.Types[built]
		cost := n.Cost
		if n.CanMove {
			cost += int32(v.s.Count[v.p][built])
		}
		room := v.s.PopProvide[v.p] >= v.s.PopUse[v.p]+n.PopUse || n.PopUse == 0 && !r.PopulationAll
		if room && v.s.Resource[v.p] >= cost {
			v.afford[t][n.Size] |= 1 << (choiceBuild + 4*k)
			largest = max(largest, int(n.Size))
		}
	}
	return largest
}

// beyond is where an advance from v leads, along one axis.
func beyond(v uint8, step int8) int { return min(max(int(v)+advance*int(step), 0), side-1) }

// moves are the legal steps and advances.
func (v *view) moves(u *cc.Unit) (legal uint64) {
	for d := range 4 {
		if _, ok := v.step(u, d); ok {
			legal |= 1 << (choiceStep + d)
		}
	}
	if u.X-1 < side-2 && u.Y-1 < side-2 {
		return legal | 0xff<<choiceAdvance // not on the edge
	}
	for d := range 8 {
		if _, _, ok := v.advance(u, d); ok {
			legal |= 1 << (choiceAdvance + d)
		}
	}
	return legal
}

// step is the cell a step away, and whether it is on the map and not covered by
// an own entity that cannot move.
func (v *view) step(u *cc.Unit, d int) (c place, ok bool) {
	by := v.a.sites[u.Type][1][v.p][d].at[0]
	c = place{int8(u.X) + by.x, int8(u.Y) + by.y}
	if uint8(c.x) >= side || uint8(c.y) >= side {
		return c, false
	}
	i := v.s.At[cc.CellOf(int(c.x), int(c.y))]
	if i == 0 {
		return c, true
	}
	there := &v.s.Units[(i-1)%cc.MaxUnits]
	return c, there.Owner != v.p || v.a.rules.Types[there.Type].CanMove
}

// advance is the target of an advance, and whether the way that leads there is
// that of the direction.
func (v *view) advance(u *cc.Unit, d int) (x, y int, ok bool) {
	by := v.a.ahead[v.p][d]
	x, y = beyond(u.X, by.x), beyond(u.Y, by.y)
	return x, y, (x != int(u.X)) == (by.x != 0) && (y != int(u.Y)) == (by.y != 0)
}

// repairs are the legal repairs.
func (v *view) repairs(u *cc.Unit, b *abilities) (legal uint64) {
	if !v.mendable(u, b) {
		return 0
	}
	for d := range 4 {
		if v.patient(u, b, d) != nil {
			legal |= 1 << (choiceRepair + d)
		}
	}
	if b.roams {
		legal |= 1 << choiceMend
	}
	return legal
}

// mendable tells whether there is another own entity to repair.
func (v *view) mendable(u *cc.Unit, b *abilities) bool {
	n := int32(0)
	for set := b.mends; set != 0; set &= set - 1 {
		n += v.hurt[bits.TrailingZeros16(uint16(set))%cc.Types]
	}
	return n > 1 || n == 1 && !v.ails(u, u, b)
}

// ails tells whether w is an own entity that u can repair, were it not u itself.
func (v *view) ails(u, w *cc.Unit, b *abilities) bool {
	return w.Owner == v.p && b.mends.Has(w.Type) && int32(w.Health) < v.a.rules.Types[w.Type].MaxHealth
}

// patient is the entity to repair on one side of u: the first along the side.
func (v *view) patient(u *cc.Unit, b *abilities, d int) *cc.Unit {
	l := &v.a.sites[u.Type][1][v.p][d]
	for _, by := range l.at[:l.n] {
		x, y := int(u.X)+int(by.x), int(u.Y)+int(by.y)
		if uint(x) >= side || uint(y) >= side {
			continue
		}
		if i := v.s.At[cc.CellOf(x, y)]; i != 0 {
			if w := &v.s.Units[(i-1)%cc.MaxUnits]; v.ails(u, w, b) {
				return w
			}
		}
	}
	return nil
}

// mend is the nearest own entity to repair, of equals the one with the lowest
// id, and its cell nearest to u.
func (v *view) mend(u *cc.Unit, b *abilities) (id uint32, x, y int, ok bool) {
	best := 1 << 30
	for i := range v.s.Units[:v.s.N] {
		w := &v.s.Units[i]
		if w == u || !v.ails(u, w, b) {
			continue
		}
		last := v.a.types[w.Type].size - 1
		nx := min(max(int(u.X), int(w.X)), int(w.X)+last)
		ny := min(max(int(u.Y), int(w.Y)), int(w.Y)+last)
		if n := v.gap(u, w); n < best {
			best, id, x, y, ok = n, w.ID, nx, ny, true
		}
	}
	return id, x, y, ok
}

// gap is the distance of two entities.
func (v *view) gap(u, w *cc.Unit) int {
	a, b := v.a.types[u.Type].size, v.a.types[w.Type].size
	dx := max(int(w.X)-int(u.X)-a+1, int(u.X)-int(w.X)-b+1, 0)
	dy := max(int(w.Y)-int(u.Y)-a+1, int(u.Y)-int(w.Y)-b+1, 0)
	return dx + dy
}

// weakest is the enemy in range with the least health, of equals the one with
// the lowest id.
func (v *view) weakest(u *cc.Unit, b *abilities) (id uint32, ok bool) {
	least := int16(0)
	for i := range v.s.Units[:v.s.N] {
		w := &v.s.Units[i]
		if w.Owner != v.p && (!ok || w.Health < least) && v.gap(u, w) <= b.reach && v.sees(w) {
			id, least, ok = w.ID, w.Health, true
		}
	}
	return id, ok
}

// builds are the legal buildings.
func (v *view) builds(u *cc.Unit, b *abilities) (legal uint64) {
	for size := 1; size <= maxSize; size++ {
		options := v.afford[u.Type][size]
		if options == 0 {
			continue
		}
		for d := range 4 {
			if _, ok := v.site(u, size, d); ok {
				legal |= options << d
			}
		}
	}
	return legal
}

// site is the first free square of a size on one side of u: its lowest corner.
// Of sizes that nobody can pay for there is none.
func (v *view) site(u *cc.Unit, size, d int) (c place, ok bool) {
	l := &v.a.sites[u.Type][size][v.p][d]
	for _, by := range l.at[:l.n] {
		x, y := int(u.X)+int(by.x), int(u.Y)+int(by.y)
		if uint(x) < side && uint(y) < side && v.fits[size-1].Has(x, y) {
			return place{int8(x), int8(y)}, true
		}
	}
	return place{}, false
}
