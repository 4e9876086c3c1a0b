package policy

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// A script remembers nothing between ticks but what the stored actions say:
// a builder with a build action is on the way to begin a building, one with a
// repair action to finish it. All others gather.

// maxWorks is the most buildings that are repaired at a time.
const maxWorks = 12

// codecraftWork is a building to be repaired.
type codecraftWork struct {
	unit            int // index
	wants, assigned int // builders that should work there, and that do
}

// How builders work: distances in cells.
const (
	gatherReach  = 30             // chase range of builders
	finishReach  = 30             // from where builders come to finish a building
	repairReach  = 12             // … and to repair one that is damaged
	siteTicks    = sim.MaxPlayers // a place for a building is looked for every so many
	stuckTicks   = 64             // who has not reached its work by then looks for another
	maxAssigned  = 10
	housesAtOnce = 5
)

// economy gathers, builds and fights.
func (c *codecraftSeat) economy() {
	c.survey()
	c.keepWorking()
	c.expand()
	c.assignRepairs()
	c.produce()
	c.gather()
	c.march()
}

// survey lists the own units and what is to be repaired.
func (c *codecraftSeat) survey() {
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
func (c *codecraftSeat) inspect(i int, u *codecraft.Unit, t *codecraft.Properties) {
	missing := int(t.MaxHealth) - int(u.Health)
	wants := min(1+missing/60, 3)
	if !u.Active {
		wants = 1 + int(t.MaxHealth)/12
		c.housed += t.PopProvide
	}
	if missing > 0 && c.nWorks < maxWorks {
		c.works[c.nWorks] = codecraftWork{unit: i, wants: min(wants, maxAssigned)}
		c.nWorks++
	}
}

// keepWorking lets builders go on with the work they have.
func (c *codecraftSeat) keepWorking() {
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

// givesUp reports whether a builder that is not yet beside its work should look
// for another: from time to time, in case the way is blocked.
func (c *codecraftSeat) givesUp(i int) bool {
	return (uint32(c.state.Tick)+c.state.Units[i].ID)%stuckTicks == 0
}

// keepBuild goes on with a building that has not begun. Once it has, the
// builder goes on to repair it.
func (c *codecraftSeat) keepBuild(i int, a *codecraft.Action) {
	x, y, t := int(a.BuildX), int(a.BuildY), a.BuildType
	if t >= codecraft.Types {
		return
	}
	size := int(c.rules.Types[t].Size)
	ux, uy, _ := c.corner(i)
	away := codecraft.Gap(ux, uy, 1, x, y, size)
	if !codecraft.OnMap(x, y, size) || away != 1 && c.givesUp(i) {
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
func (c *codecraftSeat) reserve(cost int32) {
	c.money -= cost
	c.saving = true
}

// keepRepair goes on with a repair.
func (c *codecraftSeat) keepRepair(i int, a *codecraft.Action) {
	if j := c.state.Find(a.Repair); j >= 0 {
		c.join(i, j)
	}
}

// join has a builder repair building j if that is among the works and needs
// more builders; its way is chosen again when it is blocked.
func (c *codecraftSeat) join(i, j int) {
	for k := range c.works[:c.nWorks] {
		w := &c.works[k]
		if w.unit != j || w.assigned >= w.wants {
			continue
		}
		a := &c.state.Acts[i]
		x, y, size := c.corner(j)
		ux, uy, _ := c.corner(i)
		if codecraft.Gap(ux, uy, 1, x, y, size) != 1 {
			if c.givesUp(i) {
				return
			}
			sx, sy := int(a.MoveX), int(a.MoveY)
			if a.Parts&codecraft.HasRepair != 0 && !c.state.Occupied.Has(sx, sy) && !c.taken.Has(sx, sy) {
				c.taken.Add(sx, sy)
				c.free[i] = false // on the way
				w.assigned++
				return
			}
		}
		c.sendToRepair(i, w)
		return
	}
}

// sendToRepair sends a builder to repair, and reports whether there is a place
// for it.
func (c *codecraftSeat) sendToRepair(i int, w *codecraftWork) bool {
	x, y, size := c.corner(w.unit)
	sx, sy, ok := c.stand(i, x, y, size, nil)
	if !ok {
		return false
	}
	c.taken.Add(sx, sy)
	var a codecraft.Action
	a.AddRepair(c.state.Units[w.unit].ID)
	c.give(i, c.moveTo(a, sx, sy))
	c.free[i] = false
	w.assigned++
	return true
}

// expand begins a building, if one is wanted.
func (c *codecraftSeat) expand() {
	s, p := c.state, c.player
	count := func(t codecraft.Type) int16 { return s.Count[p][t] + c.begun[t] }
	n := count(codecraft.BuilderUnit)
	switch {
	case n == 0:
	case count(codecraft.BuilderBase) == 0:
		c.begin(codecraft.BuilderBase)
	case c.needsHouse():
		c.begin(codecraft.House)
	case c.style.ranged > 0 && n >= c.style.settled && count(codecraft.RangedBase) == 0:
		c.begin(codecraft.RangedBase)
	case count(codecraft.Turret) < c.style.turrets && s.Count[p][codecraft.RangedBase] > 0:
		c.begin(codecraft.Turret)
	}
}

// needsHouse reports whether a house should be begun: before the population
// reaches what is provided.
func (c *codecraftSeat) needsHouse() bool {
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
func (c *codecraftSeat) begin(t codecraft.Type) {
	cost := c.rules.Types[t].Cost
	c.reserve(cost)
	if c.money < 0 || uint32(c.state.Tick)%siteTicks != uint32(c.player) || !c.rules.Types[codecraft.BuilderUnit].Builds.Set().Has(t) {
		return
	}
	ax, ay := c.middle()
	if t == codecraft.Turret {
		n := int(c.state.Count[c.player][t]+c.begun[t]) % len(codecraftPosts)
		ax, ay = codecraft.TurnBack(c.player, codecraftPosts[n][0], codecraftPosts[n][1], 1)
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
		var a codecraft.Action
		a.AddBuild(t, x, y)
		c.give(i, c.moveTo(a, sx, sy))
		c.free[i] = false
	}
}

// codecraftPosts are where turrets are wanted, in the own frame.
var codecraftPosts = [...][2]int{{17, 17}, {22, 10}, {10, 22}, {20, 14}, {14, 20}, {24, 5}, {5, 24}, {22, 22}}

// nearestFree is the free builder nearest to a square, or −1 if none is within
// reach.
func (c *codecraftSeat) nearestFree(x, y, size, reach int) int {
	best := -1
	for _, i := range c.builders.all() {
		if !c.free[i] {
			continue
		}
		u := &c.state.Units[i]
		if d := codecraft.Gap(int(u.X), int(u.Y), 1, x, y, size); d > 0 && d <= reach {
			best, reach = int(i), d-1
		}
	}
	return best
}

// assignRepairs sends free builders to the works that want more.
func (c *codecraftSeat) assignRepairs() {
	for k := range c.works[:c.nWorks] {
		w := &c.works[k]
		x, y, size := c.corner(w.unit)
		reach := repairReach
		if !c.state.Units[w.unit].Active {
			reach = finishReach
		}
		for w.assigned < w.wants {
			i := c.nearestFree(x, y, size, reach)
			if i < 0 || !c.sendToRepair(i, w) {
				break
			}
		}
	}
}

// produce has the bases build units, as long as there is money that is not set
// aside, and the other buildings do what they can.
func (c *codecraftSeat) produce() {
	for _, at := range c.fixed.all() {
		i := int(at)
		t := &c.rules.Types[c.state.Units[i].Type]
		a := codecraft.Action{Parts: codecraft.Given}
		if t.CanAttack {
			a = autoAttack(t.Sight, codecraft.AllButResource)
		}
		if t.CanBuild && t.Builds.N > 0 && c.state.Units[i].Active && c.affords(t.Builds.T[0]) {
			if x, y, ok := c.exit(i); ok {
				a.AddBuild(t.Builds.T[0], x, y)
			}
		}
		c.give(i, a)
	}
}

// affords reports whether one more unit of type t is wanted and may be built,
// and takes its price. Money that is set aside is not touched; where none is,
// bases need not wait for the price to be there.
func (c *codecraftSeat) affords(t codecraft.Type) bool {
	s, p := c.state, c.player
	if s.Count[p][t] >= c.most(t) || !c.rules.RoomFor(t, s.PopUse[p], s.PopProvide[p]) {
		return false
	}
	cost := c.rules.CostOf(t, int32(s.Count[p][t]))
	if c.saving && c.money < cost {
		return false
	}
	c.money -= cost
	return true
}

// most is how many units of type t are wanted.
func (c *codecraftSeat) most(t codecraft.Type) int16 {
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
func (c *codecraftSeat) gather() {
	x, y := codecraft.TurnBack(c.player, codecraft.Side-1, codecraft.Side-1, 1)
	a := c.moveTo(autoAttack(gatherReach, resourcesToTake), x, y)
	for _, i := range c.builders.all() {
		if c.free[i] {
			c.give(int(i), a)
		}
	}
}
