package codecraft

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// view has the parts of a state that a seat knows when it chooses.
type view struct {
	observer
	ranks ranks

	known bitboard.Square // cells of the entities that the seat sees

	afford [cc.Types][cc.MaxSize + 1]uint64 // by builder and size: the affordable options, as choices of the first direction
	fits   [cc.MaxSize]bitboard.Square      // by size − 1: lowest corners of free squares, up to the largest size in afford
	hurt   [cc.Types]int32                  // own entities with less than full health, by type
}

// begin sets the seat and numbers its entities. Choices 0 and 1 need no more.
func (v *view) begin(a *Actions, s *cc.State, p sim.Player) {
	v.a, v.s, v.p = a, s, p
	a.rank(&v.ranks, s, p)
}

// survey fills in the data for the shortcuts.
func (v *view) survey() {
	a, s, p := v.a, v.s, v.p
	v.known = s.Occupied
	if a.rules.Fog && a.spread {
		v.hideUnseen()
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

// hideUnseen keeps only the cells of visible entities in known. By most rules no choice looks out of
// sight, so that this is not needed: see Actions.spread.
func (v *view) hideUnseen() {
	s := v.s
	v.look()
	v.known = s.Resources
	v.known.And(&v.seen)
	v.known.Or(&s.Own[v.p])
	for i := range s.Units[:s.N] {
		if u := &s.Units[i]; u.Owner != v.p && v.sees(u) {
			v.known.AddSquare(int(u.X), int(u.Y), v.a.types[u.Type].size)
		}
	}
}

// sees reports whether an entity of another player is in sight. Unless the rules set
// Actions.spread, no choice asks for entities out of sight, and sees returns true.
func (v *view) sees(u *cc.Unit) bool {
	return !v.a.rules.Fog || !v.a.spread || v.seen.MeetsSquare(int(u.X), int(u.Y), v.a.types[u.Type].size)
}

// enemies returns the cells of the entities of all other players that may be in sight.
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

// fit finds the free squares of all sizes up to largest.
func (v *view) fit(largest int) {
	for n := range largest {
		if n == 0 {
			v.fits[0].Flip(&v.known)
		} else {
			v.fits[n].Corners(&v.fits[n-1])
		}
	}
}

// pay fills in the options that a builder of type t can afford now, and returns the largest of their
// sizes.
func (v *view) pay(t cc.Type) (largest int) {
	r := &v.a.rules
	builds := r.Types[t].Builds.All()
	for k, built := range builds[:min(len(builds), most)] {
		if r.Affords(v.s, v.p, built) {
			size := int(r.Types[built].Size)
			v.afford[t][size] |= 1 << (choiceBuild + 4*k)
			largest = max(largest, size)
		}
	}
	return largest
}

// beyond returns the coordinate of an advance from v along one axis.
func beyond(v uint8, step int8) int { return min(max(int(v)+advance*int(step), 0), side-1) }

// moves returns the legal steps and advances.
func (v *view) moves(u *cc.Unit) (legal uint64) {
	for d := range 4 {
		if _, ok := v.step(u, d); ok {
			legal |= 1 << (choiceStep + d)
		}
	}
	if u.X-1 < side-2 && u.Y-1 < side-2 {
		return legal | 0xff<<choiceAdvance // the unit is not on the edge
	}
	for d := range 8 {
		if _, _, ok := v.advance(u, d); ok {
			legal |= 1 << (choiceAdvance + d)
		}
	}
	return legal
}

// step returns the next cell in direction d, and whether the cell is on the map and not covered by
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

// advance returns the target of an advance, and whether it moves along every axis of the
// direction.
func (v *view) advance(u *cc.Unit, d int) (x, y int, ok bool) {
	by := v.a.ahead[v.p][d]
	x, y = beyond(u.X, by.x), beyond(u.Y, by.y)
	return x, y, (x != int(u.X)) == (by.x != 0) && (y != int(u.Y)) == (by.y != 0)
}

// repairs returns the legal repairs.
func (v *view) repairs(u *cc.Unit, b *abilities) (legal uint64) {
	if !v.canRepairAny(u, b) {
		return 0
	}
	for d := range 4 {
		if v.repairTarget(u, b, d) != nil {
			legal |= 1 << (choiceRepair + d)
		}
	}
	if b.moves {
		legal |= 1 << choiceMend
	}
	return legal
}

// canRepairAny reports whether another own entity needs a repair.
func (v *view) canRepairAny(u *cc.Unit, b *abilities) bool {
	n := int32(0)
	for set := b.repairs; set != 0; set &= set - 1 {
		n += v.hurt[bits.TrailingZeros16(uint16(set))%cc.Types]
	}
	return n > 1 || n == 1 && !v.a.rules.NeedsRepair(u, v.p, b.repairs)
}

// repairTarget returns the first entity on one side of u that needs a repair, nil if there is none.
func (v *view) repairTarget(u *cc.Unit, b *abilities, d int) *cc.Unit {
	l := &v.a.sites[u.Type][1][v.p][d]
	for _, by := range l.at[:l.n] {
		x, y := int(u.X)+int(by.x), int(u.Y)+int(by.y)
		if uint(x) >= side || uint(y) >= side {
			continue
		}
		if i := v.s.At[cc.CellOf(x, y)]; i != 0 {
			if w := &v.s.Units[(i-1)%cc.MaxUnits]; v.a.rules.NeedsRepair(w, v.p, b.repairs) {
				return w
			}
		}
	}
	return nil
}

// mend returns the nearest own entity that needs a repair and its cell nearest to u. Among equally
// near entities it returns the one with the lowest id.
func (v *view) mend(u *cc.Unit, b *abilities) (id uint32, x, y int, ok bool) {
	best := 1 << 30
	for i := range v.s.Units[:v.s.N] {
		w := &v.s.Units[i]
		if w == u || !v.a.rules.NeedsRepair(w, v.p, b.repairs) {
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

// gap returns the distance between two entities.
func (v *view) gap(u, w *cc.Unit) int {
	return v.a.gapTo(u, int(w.X), int(w.Y), v.a.types[w.Type].size)
}

// gapTo returns the distance between an entity and a square.
func (a *Actions) gapTo(u *cc.Unit, x, y, size int) int {
	return cc.Gap(int(u.X), int(u.Y), a.types[u.Type].size, x, y, size)
}

// weakest returns the enemy in range with the least health, and among equals the one with the lowest
// id.
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

// builds returns the legal builds.
func (v *view) builds(u *cc.Unit, b *abilities) (legal uint64) {
	for size := 1; size <= cc.MaxSize; size++ {
		options := v.afford[u.Type][size]
		if options == 0 {
			continue
		}
		for d := range 4 {
			legal |= options * v.room(u, size, d) << d
		}
	}
	return legal
}

// room returns 1 if any square of a size on one side of u is free, else 0, without a branch for each
// square. A square lies at most one row above the map and 40 columns beside it, where no square is free.
func (v *view) room(u *cc.Unit, size, d int) (free uint64) {
	l, fits := &v.a.sites[u.Type][size][v.p][d], &v.fits[size-1]
	x, y := int(u.X), int(u.Y)
	for _, by := range l.at[:l.n] {
		if y < size && y+int(by.y) < 0 {
			continue
		}
		free |= fits.Bit(x+int(by.x), y+int(by.y))
	}
	return free
}

// site returns the lowest corner of the first free square of a size on one side of u. It returns
// false for sizes that the player cannot afford.
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
