package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// hideUnseen keeps only the cells of visible entities in known. By most rules no choice looks out of
// sight, so that this is not needed: see EntityActions.spread.
func (v *roster) hideUnseen() {
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

// sees reports whether an entity of another player is in sight. Unless the rules set
// EntityActions.spread, no choice asks for entities out of sight, and sees returns true.
func (v *roster) sees(u *cc.Unit) bool {
	return !v.a.rules.Fog || !v.a.spread || v.seen.MeetsSquare(int(u.X), int(u.Y), v.a.types[u.Type].size)
}

// enemies returns the cells of the entities of all other players that may be in sight.
func (v *roster) enemies() (b bitboard.Square) {
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
func (v *roster) fit(largest int) {
	for n := range largest {
		if n == 0 {
			v.fits[0].Flip(&v.known)
		} else {
			v.fits[n].Corners(&v.fits[n-1])
		}
	}
}

// step returns the next cell of a unit of size 1 in direction d, and whether the cell is on the map and
// not covered by an own entity that cannot move.
func (v *roster) step(u *cc.Unit, d int) (c place, ok bool) {
	by := beside[1][v.p][d][0]
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

// repairTarget returns the first entity on one side of u that needs a repair, nil if there is none.
func (v *roster) repairTarget(u *cc.Unit, b *abilities, d int) *cc.Unit {
	for _, by := range beside[b.size][v.p][d][:b.size] {
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
func (v *roster) mend(u *cc.Unit, b *abilities) (id uint32, x, y int, ok bool) {
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
func (v *roster) gap(u, w *cc.Unit) int {
	return v.a.gapTo(u, int(w.X), int(w.Y), v.a.types[w.Type].size)
}

// gapTo returns the distance between an entity and a square.
func (a *EntityActions) gapTo(u *cc.Unit, x, y, size int) int {
	return cc.Gap(int(u.X), int(u.Y), a.types[u.Type].size, x, y, size)
}

// weakest returns the enemy in range with the least health, and among equals the one with the lowest
// id.
func (v *roster) weakest(u *cc.Unit, b *abilities) (id uint32, ok bool) {
	least := int16(0)
	for i := range v.s.Units[:v.s.N] {
		w := &v.s.Units[i]
		if w.Owner != v.p && (!ok || w.Health < least) && v.gap(u, w) <= b.reach && v.sees(w) {
			id, least, ok = w.ID, w.Health, true
		}
	}
	return id, ok
}
