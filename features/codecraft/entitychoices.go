package codecraft

import (
	"cmp"
	"math/bits"
	"slices"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// The choices of a slot in the form "entities". Directions d are right, left, up, down as seen.
const (
	entityChoices = 128
	entityMask    = entityChoices / 64 // words of the mask of a slot

	entityLeave   = 0
	entityStop    = 1
	entityStep    = 2                // 4 directions
	entityStrike  = entityStep + 4   // 4 directions
	entityRepair  = entityStrike + 4 // 4 directions
	entityGather  = entityRepair + 4
	entityCollect = entityGather + 1
	entityForage  = entityCollect + 1
	entityFight   = entityForage + 1
	entityGuard   = entityFight + 1
	entityWatch   = entityGuard + 1
	entityHold    = entityWatch + 1
	entityHarvest = entityHold + 1
	entityFocus   = entityHarvest + 1
	entityMend    = entityFocus + 1
	entityMarch   = entityMend + 1         // regions
	entityAssault = entityMarch + regions  // the other players: opposite, right, left
	entityHome    = entityAssault + others //
	entityPlace   = entityHome + 1
	places        = entityChoices - entityPlace
)

// Pathfind ranges of the choices, in cells.
const (
	forageReach = 30
	guardReach  = 20
	watchReach  = 10
	startMiddle = 7 // both coordinates of the middle of the start base, in its owner's frame
)

// EntityActions implements features.ActionSpace for the form "entities": one head of 128 choices for
// each of 256 slots.
type EntityActions struct {
	cells    *Actions
	heads    []int
	always   [sim.MaxPlayers][cc.Types]uint64   // the choices below 64 that do not depend on the state
	ahead    [sim.MaxPlayers][others]sim.Player // the seats of the other players in the order of the choices; sim.MaxPlayers: there is none
	spots    [sim.MaxPlayers][cc.Types]spots
	striking cc.TypeSet // types that attack what is beside them by direction
	plans    planners
}

// spots has the places of a type, as seen by a seat.
type spots struct {
	n     int
	at    [places]place // the world's offset from the lowest corner of the entity
	first [cc.Types]int // of builders: the first place of each option, in the order of the options
	last  [cc.Types]int //
	width int           // of shooters: the side of the table
	table []int8        // … the place of each offset, row by row from (−reach, −reach), −1 if it has none
}

// NewEntityActions returns the action space of the form for the rules of g.
func NewEntityActions(g *cc.Game) *EntityActions {
	a := &EntityActions{cells: NewActions(g), heads: make([]int, slots)}
	for h := range a.heads {
		a.heads[h] = entityChoices
	}
	for t := range cc.Type(cc.Types) {
		if r := &a.cells.rules.Types[t]; r.CanAttack && r.Size == 1 && !a.shoots(t) {
			a.striking |= 1 << t
		}
	}
	for p := range sim.Player(sim.MaxPlayers) {
		a.ahead[p] = [others]sim.Player{sim.MaxPlayers, sim.MaxPlayers, sim.MaxPlayers}
		for q := range sim.Player(a.cells.rules.Players) {
			if q != p {
				a.ahead[p][rivals[p][q]-1] = q
			}
		}
		for t := range cc.Type(cc.Types) {
			a.always[p][t] = a.alwaysOf(p, t)
			a.spots[p][t] = a.spotsOf(p, t)
		}
	}
	a.plans.rules = a.cells.rules
	return a
}

// alwaysOf returns the choices of an entity of type t of seat p that are legal in every state.
func (a *EntityActions) alwaysOf(p sim.Player, t cc.Type) uint64 {
	r := &a.cells.rules.Types[t]
	set := uint64(1 << entityLeave)
	if r.CanMove || r.CanAttack || r.CanBuild || r.CanRepair {
		set |= 1 << entityStop
	}
	if r.CanMove {
		set |= (1<<regions-1)<<entityMarch | 1<<entityHome
		for k, q := range a.ahead[p] {
			if q < sim.MaxPlayers {
				set |= 1 << (entityAssault + k)
			}
		}
	}
	if r.CanAttack {
		set |= 1 << entityHold
		if r.CanMove {
			set |= 1<<entityFight | 1<<entityGuard | 1<<entityWatch
		}
	}
	if r.Collects {
		set |= 1 << entityHarvest
		if r.CanMove {
			set |= 1<<entityGather | 1<<entityCollect | 1<<entityForage
		}
	}
	return set
}

// shoots reports whether the places of a type are targets.
func (a *EntityActions) shoots(t cc.Type) bool {
	r := &a.cells.rules.Types[t]
	return r.CanAttack && !r.CanBuild && (r.Range > 1 || r.Size > 1)
}

// spotsOf returns the places of a type as seat p sees them.
func (a *EntityActions) spotsOf(p sim.Player, t cc.Type) (l spots) {
	r := &a.cells.rules.Types[t]
	own := int(r.Size)
	const x, y = side / 2, side / 2 // the entity, as seen
	x0, y0 := cc.TurnBack(p, x, y, own)
	add := func(dx, dy, size int) {
		if l.n < places {
			wx, wy := cc.TurnBack(p, x+dx, y+dy, size)
			l.at[l.n] = place{int8(wx - x0), int8(wy - y0)}
			l.n++
		}
	}
	if r.CanBuild {
		for k, built := range r.Builds.All() {
			size := int(a.cells.rules.Types[built].Size)
			l.first[k] = l.n
			if l.n+4*(own+size-1) <= places {
				for d := range 4 {
					for along := 1 - size; along < own; along++ {
						switch d {
						case 0:
							add(own, along, size)
						case 1:
							add(-size, along, size)
						case 2:
							add(along, own, size)
						default:
							add(along, -size, size)
						}
					}
				}
			}
			l.last[k] = l.n
		}
		return l
	}
	if !a.shoots(t) {
		return l
	}
	for _, c := range around(own, int(r.Range)) {
		add(int(c.x), int(c.y), 1)
	}
	reach := int(r.Range)
	l.width = own + 2*reach
	l.table = slices.Repeat([]int8{-1}, l.width*l.width)
	for i, c := range l.at[:l.n] {
		l.table[(int(c.y)+reach)*l.width+int(c.x)+reach] = int8(i)
	}
	return l
}

// around returns the cells within reach of a square with its lowest corner on (0, 0), the nearest
// first, equally near ones row by row.
func around(own, reach int) (list []place) {
	gap := func(c place) int { return cc.Gap(0, 0, own, int(c.x), int(c.y), 1) }
	for y := -reach; y < own+reach; y++ {
		for x := -reach; x < own+reach; x++ {
			if c := (place{int8(x), int8(y)}); gap(c) > 0 && gap(c) <= reach {
				list = append(list, c)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b place) int { return cmp.Compare(gap(a), gap(b)) })
	return list
}

// Heads returns 256 heads of 128 choices.
func (a *EntityActions) Heads() []int { return a.heads }

// Doc explains the choices.
func (a *EntityActions) Doc() string { return entityActionsDoc }

// masks has the mask of all slots.
type masks [entityMask * slots]uint64

// of returns the mask of a slot.
func (m *masks) of(slot int) *[entityMask]uint64 { return (*[entityMask]uint64)(m[entityMask*slot:]) }

// Mask writes two words for each slot: choice c of slot i is bit c%64 of word 2·i + c/64.
func (a *EntityActions) Mask(dst []uint64, s *cc.State, p sim.Player) {
	features.CheckLength("mask", len(dst), entityMask*slots)
	m := (*masks)(dst)
	p &= 3
	var v roster
	v.call(a, s, p)
	for slot := range slots {
		m[entityMask*slot], m[entityMask*slot+1] = 1<<entityLeave, 0
	}
	for slot, i := range v.units[:v.n] {
		u, legal := &s.Units[i&(cc.MaxUnits-1)], m.of(slot)
		if legal[0] = a.always[p][u.Type]; !u.Active {
			continue
		}
		t := &a.cells.types[u.Type]
		if t.size == 1 {
			x, y := int(u.X), int(u.Y)
			if t.moves {
				legal[0] |= turned[p][onMap(x, y)&^cross(&v.fixed, x, y)] << entityStep
			}
			if a.striking.Has(u.Type) {
				legal[0] |= turned[p][cross(&v.struck, x, y)] << entityStrike
			}
		}
		if t.repairs&v.damaged != 0 && (v.needy[u.Type] > 1 || v.needy[u.Type] == 1 && !v.a.rules.NeedsRepair(u, p, t.repairs)) {
			legal[0] |= v.entityRepairs(u, t)
		}
		if t.builds {
			a.builds(&v, u, legal)
		}
	}
	a.aim(m, &v)
}

// roster has the parts of a state that the choices of all slots need.
type roster struct {
	view
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
	v.a, v.s, v.p = a.cells, s, p
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
			for d, by := range compassOf[p] {
				for k, c := range compass[:4] {
					if by == c && set>>k&1 != 0 {
						t[p][set] |= 1 << d
					}
				}
			}
		}
	}
	return t
}()

// compassOf has the four directions of each seat on the map.
var compassOf = func() (t [sim.MaxPlayers][4]place) {
	for p := range t {
		x0, y0 := cc.TurnBack(sim.Player(p), side/2, side/2, 1)
		for d, c := range compass[:4] {
			x, y := cc.TurnBack(sim.Player(p), side/2+int(c.x), side/2+int(c.y), 1)
			t[p][d] = place{int8(x - x0), int8(y - y0)}
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

// builds adds the squares on which a unit can build.
func (a *EntityActions) builds(v *roster, u *cc.Unit, legal *[entityMask]uint64) {
	r := &a.cells.rules
	l := &a.spots[v.p][u.Type]
	x, y := int(u.X), int(u.Y)
	for k, built := range r.Types[u.Type].Builds.All() {
		if !v.payable.Has(built) {
			continue
		}
		size := int(r.Types[built].Size)
		fits, set := &v.fits[size-1], uint64(0)
		for i, c := range l.at[l.first[k]:l.last[k]] {
			if y < size && y+int(c.y) < 0 {
				continue
			}
			set |= fits.Bit(x+int(c.x), y+int(c.y)) << i
		}
		at := entityPlace + l.first[k]
		legal[at>>6] |= set << (at & 63)
		if at < 64 {
			legal[1] |= set >> (64 - at)
		}
	}
}

// aim makes the targets in range legal, and focus for the entities that have one.
func (a *EntityActions) aim(m *masks, v *roster) {
	foes := v.enemies()
	reached, own, last := foes, &v.s.Own[v.p], 0
	low, high := foes.Rows()
	if low > high {
		return
	}
	for _, r := range a.cells.ranges {
		for ; last < r.reach; last++ {
			low, high = max(low-1, 0), min(high+1, side-1)
			reached.GrowRows(low, high)
		}
		if !meet(&reached, own) {
			continue
		}
		for slot, i := range v.units[:v.n] {
			u := &v.s.Units[i&(cc.MaxUnits-1)]
			if !u.Active || !r.types.Has(u.Type) || !reached.MeetsSquare(int(u.X), int(u.Y), a.cells.types[u.Type].size) {
				continue
			}
			legal := m.of(slot)
			legal[0] |= 1 << entityFocus
			if a.shoots(u.Type) {
				a.targets(v, &foes, u, legal)
			}
		}
	}
}

// targets adds the places of the entities of other players in range of a unit.
func (a *EntityActions) targets(v *roster, foes *bitboard.Square, u *cc.Unit, legal *[entityMask]uint64) {
	l := &a.spots[v.p][u.Type]
	t := &a.cells.types[u.Type]
	x0, y0 := int(u.X), int(u.Y)
	for y := max(y0-t.reach, 0); y <= min(y0+t.size-1+t.reach, side-1); y++ {
		low, high := foes.Row(y)
		for k, w := range [2]uint64{low, high} {
			for ; w != 0; w &= w - 1 {
				x := 64*k + bits.TrailingZeros64(w)
				if dx := x - x0 + t.reach; uint(dx) >= uint(l.width) {
					continue
				}
				w := &v.s.Units[(v.s.At[cc.CellOf(x, y)]-1)%cc.MaxUnits]
				if i := a.placeOf(v, u, w); i >= 0 {
					legal[(entityPlace+i)>>6] |= 1 << ((entityPlace + i) & 63)
				}
			}
		}
	}
}

// placeOf returns the place of a target: its cell nearest to the unit, and of equally near ones the
// first as seen. It is −1 if the target has none.
func (a *EntityActions) placeOf(v *roster, u, w *cc.Unit) int {
	own, size := a.cells.types[u.Type].size, a.cells.types[w.Type].size
	x, y := int(w.X), int(w.Y)
	if size > 1 || own > 1 {
		ux, uy := cc.Turn(v.p, int(u.X), int(u.Y), own)
		wx, wy := cc.Turn(v.p, x, y, size)
		x, y = cc.TurnBack(v.p, min(max(ux, wx), wx+size-1), min(max(uy, wy), wy+size-1), 1)
	}
	l, reach := &a.spots[v.p][u.Type], a.cells.types[u.Type].reach
	dx, dy := x-int(u.X)+reach, y-int(u.Y)+reach
	if uint(dx) >= uint(l.width) || uint(dy) >= uint(l.width) {
		return -1
	}
	return int(l.table[dy*l.width+dx])
}
