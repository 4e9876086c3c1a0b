package codecraft

import (
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// The choices of the first head of a slot. There are 64, so its mask is one word. Directions are
// right, left, up, down as the seat sees them. The choices after choiceParts are shortcuts for
// policies that choose by the mask alone. The other heads can also express their actions, and
// Action returns that form.
const (
	heads   = headsOfSlot * slots
	choices = 64

	choiceLeave   = 0
	choiceParts   = 1
	choiceStep    = 2                    // 4 directions
	choiceGather  = choiceStep + 4       //
	choiceFight   = choiceGather + 1     //
	choiceRepair  = choiceFight + 1      // 4 directions
	choiceBuild   = choiceRepair + 4     // options × 4 directions
	choiceMarch   = choiceBuild + 4*most // regions
	choiceAdvance = choiceMarch + regions
	choiceHold    = choiceAdvance + 8
	choiceHarvest = choiceHold + 1
	choiceFocus   = choiceHarvest + 1
	choiceMend    = choiceFocus + 1
)

var _ [choices]struct{} = [choiceMend + 1]struct{}{}

const (
	most          = 6  // options to build that have choices
	regionsAcross = 4  // regions of the map along each axis
	regionSide    = 20 // cells
	regions       = regionsAcross * regionsAcross
	advance       = 8    // length of an advance, in cells
	far           = side // pathfind range of gathering and fighting
)

// Actions implements features.ActionSpace for CodeCraft 2020: a MultiDiscrete space with 14 heads
// for each of 256 slots. Each own entity has a slot.
type Actions struct {
	game  *cc.Game
	rules cc.Rules
	heads []int

	types  [cc.Types]abilities
	ranges []ranged                             // the attack ranges, the shortest first
	march  [sim.MaxPlayers][regions]place       // middle of a region
	ahead  [sim.MaxPlayers][8]place             // the steps of the 8 directions of an advance
	spread bool                                 // squares next to an entity, or in its range, may be out of its sight
	sites  [cc.Types][cc.MaxSize + 1]directions // by the type of the builder and the size of the square
}

// place is a cell, or the difference of two cells.
type place struct{ x, y int8 }

// A direction lists the squares of one size on one side of an entity in the order in which they are
// tried, each as its lowest corner minus the entity's. The number of squares is the size of the
// entity plus the size of the square minus 1.
type direction struct {
	n  int8
	at [2*cc.MaxSize - 1]place
}

// directions has the squares by seat and direction.
type directions [sim.MaxPlayers][4]direction

// ranged has the types with one attack range.
type ranged struct {
	reach int
	types cc.TypeSet
}

// abilities has the abilities of a type by the rules.
type abilities struct {
	always  uint64 // choices that are always legal
	size    int
	moves   bool
	builds  bool
	reach   int // attack range, if it attacks
	repairs cc.TypeSet
}

// NewActions returns the action space for the rules of g.
func NewActions(g *cc.Game) *Actions {
	a := &Actions{game: g, rules: g.Rules(), heads: make([]int, heads)}
	for h := range a.heads {
		a.heads[h] = headSizes[h/slots]
	}
	for t := range a.types {
		a.types[t] = a.abilitiesOf(cc.Type(t))
		own := a.types[t].size
		for size := 1; size <= cc.MaxSize; size++ {
			for p := range a.sites[t][size] {
				a.sites[t][size][p] = sitesOf(sim.Player(p), own, size)
			}
		}
	}
	a.ranges = rangesOf(&a.rules)
	for p := range sim.Player(sim.MaxPlayers) {
		for r := range regions {
			x, y := r%regionsAcross*regionSide+regionSide/2, r/regionsAcross*regionSide+regionSide/2
			x, y = cc.TurnBack(p, x, y, 1)
			a.march[p][r] = place{int8(x), int8(y)}
		}
		for d, c := range compass {
			x, y := cc.TurnBack(p, side/2+int(c.x), side/2+int(c.y), 1)
			x0, y0 := cc.TurnBack(p, side/2, side/2, 1)
			a.ahead[p][d] = place{int8(x - x0), int8(y - y0)}
		}
	}
	return a
}

// compass has the directions of an advance; all other choices have its first four.
var compass = [8]place{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}}

// abilitiesOf returns the abilities of a type, and sets a.spread if the type needs it.
func (a *Actions) abilitiesOf(t cc.Type) abilities {
	r := &a.rules.Types[t]
	b := abilities{always: 1<<choiceLeave | 1<<choiceParts, size: int(r.Size), moves: r.CanMove}
	if b.moves {
		b.always |= (1<<regions - 1) << choiceMarch
	}
	if r.CanAttack {
		b.reach = int(r.Range)
		b.always |= 1 << choiceHold
		if r.CanMove {
			b.always |= 1 << choiceFight
		}
		a.spread = a.spread || r.Range > r.Sight
	}
	if r.Collects {
		b.always |= 1 << choiceHarvest
		if r.CanMove {
			b.always |= 1 << choiceGather
		}
	}
	if r.CanRepair {
		b.repairs = r.Repairs.Set()
	}
	if r.CanBuild {
		for _, built := range r.Builds.All()[:min(int(r.Builds.N), most)] {
			b.builds = true
			// The farthest cell of a square lies its size ahead, and its size minus 1
			// aside.
			a.spread = a.spread || 2*a.rules.Types[built].Size-1 > r.Sight
		}
	}
	return b
}

// rangesOf returns the attack ranges above 0 with their types.
func rangesOf(r *cc.Rules) (list []ranged) {
	var types [cc.MaxRange + 1]cc.TypeSet
	for t := range r.Types {
		if r.Types[t].CanAttack {
			types[r.Types[t].Range] |= 1 << t
		}
	}
	for n, set := range types {
		if n > 0 && set != 0 {
			list = append(list, ranged{n, set})
		}
	}
	return list
}

// sitesOf returns the squares of a size next to an entity: first level with its lowest corner, then
// on along the side, then the squares that begin before the corner.
func sitesOf(p sim.Player, own, size int) (sides [4]direction) {
	const x, y = side / 2, side / 2 // the entity, as seen
	x0, y0 := cc.TurnBack(p, x, y, own)
	for d, c := range compass[:4] {
		for k := range own + size - 1 {
			if k >= own {
				k = own - 1 - k
			}
			vx, vy := x+k, y+k
			switch c {
			case place{1, 0}:
				vx = x + own
			case place{-1, 0}:
				vx = x - size
			case place{0, 1}:
				vy = y + own
			default:
				vy = y - size
			}
			wx, wy := cc.TurnBack(p, vx, vy, size)
			l := &sides[d]
			l.at[l.n] = place{int8(wx - x0), int8(wy - y0)}
			l.n++
		}
	}
	return sides
}

// Heads returns the sizes of 14 × 256 heads: the first heads of all slots, then the second heads,
// and so on.
func (a *Actions) Heads() []int { return a.heads }

// Unmasked returns the number of heads without a mask: all but the first head of each slot. They
// count only if the first head has choice 1.
func (a *Actions) Unmasked() int { return heads - slots }

// Doc explains the choices.
func (a *Actions) Doc() string { return actionsDoc }

// Mask writes 256 words, one for each slot: bit c is choice c of its first head.
func (a *Actions) Mask(dst []uint64, s *cc.State, p sim.Player) {
	features.CheckLength("mask", len(dst), slots)
	m := (*[slots]uint64)(dst)
	for i := range m {
		m[i] = 1 << choiceLeave
	}
	p &= 3
	var v view
	v.begin(a, s, p)
	v.survey()
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != p {
			continue
		}
		slot, ok := v.slotOf(u)
		if !ok {
			continue
		}
		b := &a.types[u.Type]
		if !u.Active {
			m[slot] = 1<<choiceLeave | 1<<choiceParts
			continue
		}
		legal := b.always
		if b.moves {
			legal |= v.moves(u)
		}
		if b.repairs != 0 {
			legal |= v.repairs(u, b)
		}
		if b.builds {
			legal |= v.builds(u, b)
		}
		m[slot] = legal
	}
	a.aim(m, &v)
}

// aim makes focus legal for the entities with an enemy in range.
func (a *Actions) aim(m *[slots]uint64, v *view) {
	widest := v.widest()
	if widest == 0 {
		return
	}
	reached, own, last := v.enemies(), &v.s.Own[v.p], 0
	low, high := reached.Rows()
	if low > high {
		return
	}
	for _, r := range a.ranges {
		if r.reach > widest {
			return
		}
		for ; last < r.reach; last++ {
			low, high = max(low-1, 0), min(high+1, side-1)
			reached.GrowRows(low, high)
		}
		if !meet(&reached, own) {
			continue
		}
		for i := range v.s.Units[:v.s.N] {
			u := &v.s.Units[i]
			if u.Owner != v.p || !u.Active || !r.types.Has(u.Type) {
				continue
			}
			slot, ok := v.slotOf(u)
			if ok && reached.MeetsSquare(int(u.X), int(u.Y), a.types[u.Type].size) {
				m[slot] |= 1 << choiceFocus
			}
		}
	}
}

// widest returns the widest attack range of the entities of the seat, 0 if none attacks.
func (v *view) widest() (reach int) {
	for _, r := range v.a.ranges {
		for set := r.types; set != 0; set &= set - 1 {
			if v.s.Count[v.p][bits.TrailingZeros16(uint16(set))%cc.Types] > 0 {
				reach = r.reach
			}
		}
	}
	return reach
}

// meet reports whether two sets have a cell in common.
func meet(a, b *bitboard.Square) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}
