package codecraft

import (
	"moonfarm/features"
	"moonfarm/sim"
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

// NewEntityActions returns the action space of the form for the rules of g.
func NewEntityActions(g *cc.Game) *EntityActions {
	a := &EntityActions{game: g, rules: g.Rules(), heads: make([]int, slots)}
	a.ranges, a.plans.rules = rangesOf(&a.rules), a.rules
	for h := range a.heads {
		a.heads[h] = entityChoices
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
func (a *EntityActions) alwaysOf(p sim.Player, t cc.Type) uint64 {
	r := &a.rules.Types[t]
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
	r := &a.rules.Types[t]
	return r.CanAttack && !r.CanBuild && (r.Range > 1 || r.Size > 1)
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
		t := &a.types[u.Type]
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
