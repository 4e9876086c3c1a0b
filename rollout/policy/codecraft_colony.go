package policy

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// A colony remembers nothing between ticks but what the stored actions say:
// a builder with a build action is on the way to begin a building, one with a
// repair action to finish it. All others gather.

// maxWorks is the most buildings that are repaired at a time.
const maxWorks = 12

// craftWork is a building to be repaired.
type craftWork struct {
	unit         int // index
	wants, hands int // builders that should work there, and that do
}

// How builders work: distances in cells.
const (
	gatherReach  = 30             // chase range of builders
	hireFinish   = 30             // from where builders come to finish a building
	hireMend     = 12             // … and to repair one that is damaged
	siteTicks    = sim.MaxPlayers // a place for a building is looked for every so many
	stuckTicks   = 64             // who has not reached his work by then looks for another
	maxHands     = 10
	housesAtOnce = 5
)

// colony gathers, builds and fights.
func (c *craftSeat) colony() {
	c.survey()
	c.keep()
	c.expand()
	c.staff()
	c.produce()
	c.gather()
	c.march()
}

// survey lists the own units and what is to be repaired.
func (c *craftSeat) survey() {
	s := c.state
	c.builders.n, c.army.n, c.fixed.n, c.nWorks = 0, 0, 0, 0
	c.money, c.saving = s.Resource[c.player], false
	c.housed = s.PopProvide[c.player]
	c.begun = [codecraft.Types]int16{}
	c.taken = bitboard.Square{}
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != c.player {
			continue
		}
		t := &c.rules.Types[u.Type]
		switch {
		case u.Type == codecraft.BuilderUnit:
			c.free[i] = u.Active
			c.builders.add(i)
		case t.CanMove:
			c.army.add(i)
		default:
			c.fixed.add(i)
			c.inspect(i, u, t)
		}
	}
}

// inspect lists a building that is damaged or not finished.
func (c *craftSeat) inspect(i int, u *codecraft.Unit, t *codecraft.Properties) {
	missing := int(t.MaxHealth) - int(u.Health)
	wants := min(1+missing/60, 3)
	if !u.Active {
		wants = 1 + int(t.MaxHealth)/12
		c.housed += t.PopProvide
	}
	if missing > 0 && c.nWorks < maxWorks {
		c.works[c.nWorks] = craftWork{unit: i, wants: min(wants, maxHands)}
		c.nWorks++
	}
}

// keep lets builders go on with the work they have.
func (c *craftSeat) keep() {
	for _, at := range c.builders.all() {
		i := int(at)
		a := &c.state.Acts[i]
		switch {
		case !c.free[i]:
		case a.Parts&codecraft.HasBuild != 0:
			c.keepBuild(i, a)
		case a.Parts&codecraft.HasRepair != 0:
			c.keepRepair(i, a)
		}
	}
}

// tired tells whether a builder that is not yet beside its work should look
// for another: from time to time, in case the way is blocked.
func (c *craftSeat) tired(i int) bool {
	return (uint32(c.state.Tick)+c.state.Units[i].ID)%stuckTicks == 0
}

// keepBuild goes on with a building that has not begun. Once it has, the
// builder goes on to repair it.
func (c *craftSeat) keepBuild(i int, a *codecraft.Action) {
	x, y, t := int(a.BuildX), int(a.BuildY), a.BuildType
	if t >= codecraft.Types {
		return
	}
	size := int(c.rules.Types[t].Size)
	ux, uy, _ := c.corner(i)
	away := distance(ux, uy, 1, x, y, size)
	if x+size > codecraft.Side || y+size > codecraft.Side || away != 1 && c.tired(i) {
		return
	}
	// What covers the place is seen from near.
	if away+2*(size-1) <= int(c.rules.Types[codecraft.BuilderUnit].Sight) && c.state.Occupied.MeetsSquare(x, y, size) {
		if j := int(c.state.At[codecraft.CellOf(x, y)]) - 1; j >= 0 && c.state.Units[j].Owner == c.player && c.state.Units[j].Type == t {
			c.join(i, j)
		}
		return
	}
	c.free[i] = false
	c.begun[t]++
	c.housed += c.rules.Types[t].PopProvide
	c.reserve(c.rules.Types[t].Cost)
}

// reserve sets money aside.
func (c *craftSeat) reserve(cost int32) {
	c.money -= cost
	c.saving = true
}

// keepRepair goes on with a repair.
func (c *craftSeat) keepRepair(i int, a *codecraft.Action) {
	if j := c.state.Find(a.Repair); j >= 0 {
		c.join(i, j)
	}
}

// join has a builder repair building j if that is among the works and needs
// more hands; its way is chosen again when it is blocked.
func (c *craftSeat) join(i, j int) {
	for k := range c.works[:c.nWorks] {
		w := &c.works[k]
		if w.unit != j || w.hands >= w.wants {
			continue
		}
		a := &c.state.Acts[i]
		x, y, size := c.corner(j)
		ux, uy, _ := c.corner(i)
		if distance(ux, uy, 1, x, y, size) != 1 {
			if c.tired(i) {
				return
			}
			sx, sy := int(a.MoveX), int(a.MoveY)
			if a.Parts&codecraft.HasRepair != 0 && !c.state.Occupied.Has(sx, sy) && !c.taken.Has(sx, sy) {
				c.taken.Add(sx, sy)
				c.free[i] = false // on the way
				w.hands++
				return
			}
		}
		c.hire(i, w)
		return
	}
}

// hire sends a builder to repair; the answer is no if it finds no place there.
func (c *craftSeat) hire(i int, w *craftWork) bool {
	x, y, size := c.corner(w.unit)
	sx, sy, ok := c.stand(i, x, y, size, nil)
	if !ok {
		return false
	}
	c.taken.Add(sx, sy)
	a := c.moveTo(codecraft.Action{Parts: codecraft.HasRepair, Repair: c.state.Units[w.unit].ID}, sx, sy)
	c.give(i, a)
	c.free[i] = false
	w.hands++
	return true
}

// expand begins a building, if one is wanted.
func (c *craftSeat) expand() {
	s, p := c.state, c.player
	count := func(t codecraft.Type) int16 { return s.Count[p][t] + c.begun[t] }
	n := count(codecraft.BuilderUnit)
	switch {
	case n == 0:
	case count(codecraft.BuilderBase) == 0:
		c.begin(codecraft.BuilderBase)
	case c.crowded():
		c.begin(codecraft.House)
	case c.style.ranged > 0 && n >= c.style.settled && count(codecraft.RangedBase) == 0:
		c.begin(codecraft.RangedBase)
	case count(codecraft.Turret) < c.style.turrets && s.Count[p][codecraft.RangedBase] > 0:
		c.begin(codecraft.Turret)
	}
}

// crowded tells whether a house should be begun: before the population reaches
// what is provided.
func (c *craftSeat) crowded() bool {
	s, p := c.state, c.player
	used := s.PopUse[p]
	all := int32(c.style.builders + c.style.ranged)
	pending := c.begun[codecraft.House]
	for _, w := range c.works[:c.nWorks] {
		if u := &s.Units[w.unit]; u.Type == codecraft.House && !u.Active {
			pending++
		}
	}
	short := c.housed-used < 3+used/8+max(c.money, 0)/150
	return c.housed < all && short && int32(pending) < min(1+used/15, housesAtOnce)
}

// begin has the free builder that is nearest to the best place go there and
// build one of type t, once there is money for it. To look for the place takes
// longer than all else; the seats do it in turn.
func (c *craftSeat) begin(t codecraft.Type) {
	cost := c.rules.Types[t].Cost
	c.reserve(cost)
	if c.money < 0 || uint32(c.state.Tick)%siteTicks != uint32(c.player) || !c.rules.Types[codecraft.BuilderUnit].Builds.Set().Has(t) {
		return
	}
	ax, ay := c.middle()
	if t == codecraft.Turret {
		n := int(c.state.Count[c.player][t]+c.begun[t]) % len(craftPosts)
		ax, ay = codecraft.TurnBack(c.player, craftPosts[n][0], craftPosts[n][1], 1)
	}
	x, y, ok := c.site(t, ax, ay)
	if !ok {
		return
	}
	size := int(c.rules.Types[t].Size)
	i := c.nearestFree(x, y, size, 2*codecraft.Side)
	if i < 0 {
		return
	}
	if sx, sy, ok := c.stand(i, x, y, size, &c.sight); ok {
		c.give(i, c.moveTo(buildAt(t, x, y), sx, sy))
		c.free[i] = false
	}
}

// craftPosts are where turrets are wanted, in the own frame.
var craftPosts = [...][2]int{{17, 17}, {22, 10}, {10, 22}, {20, 14}, {14, 20}, {24, 5}, {5, 24}, {22, 22}}

// nearestFree is the free builder nearest to a square, or −1 if none is within
// reach.
func (c *craftSeat) nearestFree(x, y, size, reach int) int {
	best := -1
	for _, i := range c.builders.all() {
		if !c.free[i] {
			continue
		}
		u := &c.state.Units[i]
		if d := distance(int(u.X), int(u.Y), 1, x, y, size); d > 0 && d <= reach {
			best, reach = int(i), d-1
		}
	}
	return best
}

// staff sends free builders to the works that want more.
func (c *craftSeat) staff() {
	for k := range c.works[:c.nWorks] {
		w := &c.works[k]
		x, y, size := c.corner(w.unit)
		reach := hireMend
		if !c.state.Units[w.unit].Active {
			reach = hireFinish
		}
		for w.hands < w.wants {
			i := c.nearestFree(x, y, size, reach)
			if i < 0 || !c.hire(i, w) {
				break
			}
		}
	}
}

// produce has the bases build units, as long as there is money that is not set
// aside, and the other buildings do what they can.
func (c *craftSeat) produce() {
	for _, at := range c.fixed.all() {
		i := int(at)
		t := &c.rules.Types[c.state.Units[i].Type]
		a := codecraft.Action{Parts: codecraft.Given}
		if t.CanAttack {
			a = autoAttack(t.Sight, allButResource)
		}
		if t.CanBuild && t.Builds.N > 0 && c.state.Units[i].Active && c.affords(t.Builds.T[0]) {
			if x, y, ok := c.exit(i); ok {
				b := buildAt(t.Builds.T[0], x, y)
				b.Parts |= a.Parts
				b.Range, b.Valid = a.Range, a.Valid
				a = b
			}
		}
		c.give(i, a)
	}
}

// affords tells whether one more unit of type t is wanted and may be built,
// and takes its price. Money that is set aside is not touched; where none is,
// bases need not wait for the price to be there.
func (c *craftSeat) affords(t codecraft.Type) bool {
	s, p := c.state, c.player
	built := &c.rules.Types[t]
	if s.Count[p][t] >= c.most(t) || s.PopUse[p]+built.PopUse > s.PopProvide[p] {
		return false
	}
	cost := built.Cost
	if built.CanMove {
		cost += int32(s.Count[p][t])
	}
	if c.saving && c.money < cost {
		return false
	}
	c.money -= cost
	return true
}

// most is how many units of type t are wanted.
func (c *craftSeat) most(t codecraft.Type) int16 {
	switch t {
	case codecraft.BuilderUnit:
		return c.style.builders
	case codecraft.RangedUnit:
		if c.state.Count[c.player][codecraft.BuilderUnit] < c.style.settled {
			return c.style.early
		}
		return c.style.ranged
	}
	return 0
}

// gather has all free builders take the resources they find on the way to the
// far corner.
func (c *craftSeat) gather() {
	x, y := codecraft.TurnBack(c.player, codecraft.Side-1, codecraft.Side-1, 1)
	a := c.moveTo(autoAttack(gatherReach, resourcesToTake), x, y)
	for _, i := range c.builders.all() {
		if c.free[i] {
			c.give(int(i), a)
		}
	}
}
