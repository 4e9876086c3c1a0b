package codecraft

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// roster has the parts of a state that the choices of all slots need.
type roster struct {
	a       *Actions
	s       *cc.State
	p       sim.Player
	ranks   ranks
	seen    bitboard.Square             // cells in sight, if known hides some
	known   bitboard.Square             // cells of the entities that the seat sees
	fits    [cc.MaxSize]bitboard.Square // by size − 1: lowest corners of free squares, up to the largest size that can be paid
	hurt    [cc.Types]int32             // own entities with less than full health, by type
	n       int
	units   [slots]uint16   // by slot: the index of the unit
	fixed   bitboard.Square // own entities that do not move
	struck  bitboard.Square // visible resources and entities of other players
	ailing  bitboard.Square // own entities without full health
	damaged cc.TypeSet      // their types
	needy   [cc.Types]int32 // by type of the repairer: their number
	purse   int32           // resource to spend in this tick: what there is, and what the collectors can get before builds
	payable cc.TypeSet      // types that the purse and the population allow
}

// call fills in the roster.
func (v *roster) call(a *Actions, s *cc.State, p sim.Player) {
	v.a, v.s, v.p = a, s, p
	var mine [cc.MaxUnits]uint16
	n := 0
	f := &frames[p]
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != p {
			continue
		}
		mine[n] = uint16(i)
		n++
		t := &v.a.types[u.Type]
		x, y := int(u.X), int(u.Y)
		v.ranks.add(f.cornerAt(x, y, t.size))
		if !t.moves {
			v.fixed.AddSquare(x, y, t.size)
		}
		if int32(u.Health) < v.a.rules.Types[u.Type].MaxHealth {
			v.hurt[u.Type]++
			v.damaged |= 1 << u.Type
			v.ailing.AddSquare(x, y, t.size)
		}
	}
	for t := range v.needy {
		for set := v.a.types[t].repairs & v.damaged; set != 0; set &= set - 1 {
			v.needy[t] += v.hurt[bits.TrailingZeros16(uint16(set))%cc.Types]
		}
	}
	v.n = min(v.ranks.count(), slots)
	for _, i := range mine[:n] {
		if slot, ok := v.slotOf(&s.Units[i&(cc.MaxUnits-1)]); ok {
			v.units[slot] = i
		}
	}
	v.known = s.Occupied
	if v.a.rules.Fog && v.a.spread {
		v.hideUnseen()
	}
	v.struck = v.known
	v.struck.AndNot(&s.Own[p])
	v.fill(mine[:n])
	v.price()
}

// fill counts the purse: a collector that has a resource in range can get what it takes in a tick. Where
// others have resource, too, or what is beside an entity may be out of sight, all collectors count.
func (v *roster) fill(mine []uint16) {
	r := &v.a.rules
	v.purse = v.s.Resource[v.p]
	var near [cc.Types]*bitboard.Square
	var grown bitboard.Square
	yield, all := int32(0), v.a.rules.Fog && v.a.spread
	for t := range r.Types {
		yield = max(yield, r.Types[t].Yield)
		all = all || cc.Type(t) != cc.Resource && r.Types[t].Yield > 0
	}
	if !all {
		for t := range r.Types {
			if k := &r.Types[t]; k.Collects && k.Range == 1 && v.s.Count[v.p][t] > 0 {
				grown.Grow(&v.s.Resources)
				near[t] = &grown
			}
		}
	}
	for _, i := range mine {
		u := &v.s.Units[i&(cc.MaxUnits-1)]
		k := &r.Types[u.Type]
		if u.Active && k.Collects && k.CanAttack && (near[u.Type] == nil || near[u.Type].MeetsSquare(int(u.X), int(u.Y), int(k.Size))) {
			v.purse += k.Damage * yield
		}
	}
}

// price finds what can be paid, and the squares for it.
func (v *roster) price() {
	r, largest := &v.a.rules, int32(0)
	if v.s.N == cc.MaxUnits {
		return
	}
	for t := range r.Types {
		if !r.Types[t].CanBuild || v.s.Count[v.p][t] == 0 {
			continue
		}
		for _, built := range r.Types[t].Builds.All() {
			if v.purse >= r.CostOf(built, int32(v.s.Count[v.p][built])) && r.RoomFor(built, v.s.PopUse[v.p], v.s.PopProvide[v.p]) {
				v.payable |= 1 << built
				largest = max(largest, r.Types[built].Size)
			}
		}
	}
	v.fit(int(largest))
}

// onMap returns the directions, as cross does, in which the neighbours of a cell are on the map.
func onMap(x, y int) uint8 {
	set := uint8(15)
	if x == side-1 {
		set &^= 1
	}
	if x == 0 {
		set &^= 2
	}
	if y == side-1 {
		set &^= 4
	}
	if y == 0 {
		set &^= 8
	}
	return set
}

// turned has the directions of a set that cross returns, as each seat sees them: bit d for direction d.
var turned = func() (t [sim.MaxPlayers][16]uint64) {
	for p := range t {
		for set := range t[p] {
			for d := range beside[1][p] {
				for k := range beside[1][0] {
					if beside[1][p][d] == beside[1][0][k] && set>>k&1 != 0 {
						t[p][set] |= 1 << d
					}
				}
			}
		}
	}
	return t
}()

// repairs returns the legal repairs of a unit.
func (v *roster) repairs(u *cc.Unit, t *abilities) (legal uint64) {
	if t.moves {
		legal = 1 << choiceMend
	}
	if t.size == 1 {
		if cross(&v.ailing, int(u.X), int(u.Y)) == 0 {
			return legal
		}
	}
	for d := range 4 {
		if v.repairTarget(u, t, d) != nil {
			legal |= 1 << (choiceRepair + d)
		}
	}
	return legal
}

// cross returns the neighbours of a cell that are in a set: bit 0 x + 1, bit 1 x − 1, bit 2 y + 1, bit 3
// y − 1.
func cross(b *bitboard.Square, x, y int) uint8 {
	return uint8(b.Bit(x+1, y) | b.Bit(x-1, y)<<1 | b.Bit(x, y+1)<<2 | b.Bit(x, y-1)<<3)
}

// hideUnseen keeps only the cells of visible entities in known. By most rules no choice looks out of
// sight, so that this is not needed: see Actions.spread.
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
// Actions.spread, no choice asks for entities out of sight, and sees returns true.
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
func (a *Actions) gapTo(u *cc.Unit, x, y, size int) int {
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
