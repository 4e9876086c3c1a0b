package codecraft

import (
	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// The choices of a slot. Directions d are right, left, up, down as seen.
const (
	choices   = 128
	maskWords = choices / 64 // words of the mask of a slot

	choiceLeave   = 0
	choiceStop    = 1
	choiceStep    = 2                // 4 directions
	choiceStrike  = choiceStep + 4   // 4 directions
	choiceRepair  = choiceStrike + 4 // 4 directions
	choiceGather  = choiceRepair + 4
	choiceCollect = choiceGather + 1
	choiceForage  = choiceCollect + 1
	choiceFight   = choiceForage + 1
	choiceGuard   = choiceFight + 1
	choiceWatch   = choiceGuard + 1
	choiceHold    = choiceWatch + 1
	choiceHarvest = choiceHold + 1
	choiceFocus   = choiceHarvest + 1
	choiceMend    = choiceFocus + 1
	choiceMarch   = choiceMend + 1         // regions
	choiceAssault = choiceMarch + regions  // the other players: opposite, right, left
	choiceHome    = choiceAssault + others //
	choicePlace   = choiceHome + 1
	places        = choices - choicePlace
)

const (
	regionsAcross = 4  // regions of the map along each axis
	regionSide    = 20 // cells
	regions       = regionsAcross * regionsAcross
)

// Pathfind ranges of the choices, in cells.
const (
	far         = side
	forageReach = 30
	guardReach  = 20
	watchReach  = 10
	startMiddle = 7 // both coordinates of the middle of the start base, in its owner's frame
)

// Actions implements features.ActionSpace: one head of 128 choices for each of 256 slots, in which the
// own entities are.
type Actions struct {
	game     *cc.Game
	rules    cc.Rules
	heads    []int
	types    [cc.Types]abilities
	ranges   []ranged                           // the attack ranges, the shortest first
	spread   bool                               // squares next to an entity, or in its range, may be out of its sight
	march    [sim.MaxPlayers][regions]place     // middle of a region
	always   [sim.MaxPlayers][cc.Types]uint64   // the choices below 64 that do not depend on the state
	ahead    [sim.MaxPlayers][others]sim.Player // the seats of the other players in the order of the choices; sim.MaxPlayers: there is none
	spots    [sim.MaxPlayers][cc.Types]spots
	striking cc.TypeSet // types that attack what is beside them by direction
	plans    planners
}

// NewActions returns the action space for the rules of g.
func NewActions(g *cc.Game) *Actions {
	a := &Actions{game: g, rules: g.Rules(), heads: make([]int, slots)}
	a.ranges, a.plans.rules = rangesOf(&a.rules), a.rules
	for h := range a.heads {
		a.heads[h] = choices
	}
	for t := range cc.Type(cc.Types) {
		spread := false
		a.types[t], spread = abilitiesOf(&a.rules, t)
		a.spread = a.spread || spread
		if r := &a.rules.Types[t]; r.CanAttack && r.Size == 1 && !a.shoots(t) {
			a.striking |= 1 << t
		}
	}
	for p := range sim.Player(sim.MaxPlayers) {
		for r := range regions {
			x, y := r%regionsAcross*regionSide+regionSide/2, r/regionsAcross*regionSide+regionSide/2
			x, y = cc.TurnBack(p, x, y, 1)
			a.march[p][r] = place{int8(x), int8(y)}
		}
		a.ahead[p] = [others]sim.Player{sim.MaxPlayers, sim.MaxPlayers, sim.MaxPlayers}
		for q := range sim.Player(a.rules.Players) {
			if q != p {
				a.ahead[p][rivals[p][q]-1] = q
			}
		}
		for t := range cc.Type(cc.Types) {
			a.always[p][t] = a.alwaysOf(p, t)
			a.spots[p][t] = a.spotsOf(p, t)
		}
	}
	return a
}

// alwaysOf returns the choices of an entity of type t of seat p that are legal in every state.
func (a *Actions) alwaysOf(p sim.Player, t cc.Type) uint64 {
	r := &a.rules.Types[t]
	set := uint64(1 << choiceLeave)
	if r.CanMove || r.CanAttack || r.CanBuild || r.CanRepair {
		set |= 1 << choiceStop
	}
	if r.CanMove {
		set |= (1<<regions-1)<<choiceMarch | 1<<choiceHome
		for k, q := range a.ahead[p] {
			if q < sim.MaxPlayers {
				set |= 1 << (choiceAssault + k)
			}
		}
	}
	if r.CanAttack {
		set |= 1 << choiceHold
		if r.CanMove {
			set |= 1<<choiceFight | 1<<choiceGuard | 1<<choiceWatch
		}
	}
	if r.Collects {
		set |= 1 << choiceHarvest
		if r.CanMove {
			set |= 1<<choiceGather | 1<<choiceCollect | 1<<choiceForage
		}
	}
	return set
}

// shoots reports whether the places of a type are targets.
func (a *Actions) shoots(t cc.Type) bool {
	r := &a.rules.Types[t]
	return r.CanAttack && !r.CanBuild && (r.Range > 1 || r.Size > 1)
}

// Heads returns 256 heads of 128 choices.
func (a *Actions) Heads() []int { return a.heads }

// Doc explains the choices.
func (a *Actions) Doc() string { return actionsDoc }

// masks has the mask of all slots.
type masks [maskWords * slots]uint64

// of returns the mask of a slot.
func (m *masks) of(slot int) *[maskWords]uint64 { return (*[maskWords]uint64)(m[maskWords*slot:]) }

// Mask writes two words for each slot: choice c of slot i is bit c%64 of word 2·i + c/64.
func (a *Actions) Mask(dst []uint64, s *cc.State, p sim.Player) {
	features.CheckLength("mask", len(dst), maskWords*slots)
	m := (*masks)(dst)
	p &= 3
	var v roster
	v.call(a, s, p)
	for slot := range slots {
		m[maskWords*slot], m[maskWords*slot+1] = 1<<choiceLeave, 0
	}
	for slot, i := range v.units[:v.n] {
		u, legal := &s.Units[i&(cc.MaxUnits-1)], m.of(slot)
		if legal[0] = a.always[p][u.Type]; !u.Active {
			continue
		}
		t := &a.types[u.Type]
		if t.size == 1 {
			x, y := int(u.X), int(u.Y)
			if t.moves {
				legal[0] |= turned[p][onMap(x, y)&^cross(&v.fixed, x, y)] << choiceStep
			}
			if a.striking.Has(u.Type) {
				legal[0] |= turned[p][cross(&v.struck, x, y)] << choiceStrike
			}
		}
		if t.repairs&v.damaged != 0 && (v.needy[u.Type] > 1 || v.needy[u.Type] == 1 && !v.a.rules.NeedsRepair(u, p, t.repairs)) {
			legal[0] |= v.repairs(u, t)
		}
		if t.builds {
			a.builds(&v, u, legal)
		}
	}
	a.aim(m, &v)
}

// ranged has the types with one attack range.
type ranged struct {
	reach int
	types cc.TypeSet
}

// abilities has the abilities of a type by the rules.
type abilities struct {
	size    int
	moves   bool
	builds  bool
	reach   int // attack range, if it attacks
	repairs cc.TypeSet
}

// abilitiesOf returns the abilities of a type, and whether squares next to it, or in its range, may be
// out of its sight.
func abilitiesOf(r *cc.Rules, t cc.Type) (b abilities, spread bool) {
	k := &r.Types[t]
	b = abilities{size: int(k.Size), moves: k.CanMove}
	if k.CanAttack {
		b.reach = int(k.Range)
		spread = k.Range > k.Sight
	}
	if k.CanRepair {
		b.repairs = k.Repairs.Set()
	}
	if k.CanBuild {
		for _, built := range k.Builds.All() {
			b.builds = true
			// The farthest cell of a square lies its size ahead, and its size minus 1
			// aside.
			spread = spread || 2*r.Types[built].Size-1 > k.Sight
		}
	}
	return b, spread
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
