package codecraft

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// roster has the parts of a state that the choices of all slots need.
type roster struct {
	a       *EntityActions
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
func (v *roster) call(a *EntityActions, s *cc.State, p sim.Player) {
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

// entityRepairs returns the legal repairs of a unit.
func (v *roster) entityRepairs(u *cc.Unit, t *abilities) (legal uint64) {
	if t.moves {
		legal = 1 << entityMend
	}
	if t.size == 1 {
		if cross(&v.ailing, int(u.X), int(u.Y)) == 0 {
			return legal
		}
	}
	for d := range 4 {
		if v.repairTarget(u, t, d) != nil {
			legal |= 1 << (entityRepair + d)
		}
	}
	return legal
}

// cross returns the neighbours of a cell that are in a set: bit 0 x + 1, bit 1 x − 1, bit 2 y + 1, bit 3
// y − 1.
func cross(b *bitboard.Square, x, y int) uint8 {
	return uint8(b.Bit(x+1, y) | b.Bit(x-1, y)<<1 | b.Bit(x, y+1)<<2 | b.Bit(x, y-1)<<3)
}
