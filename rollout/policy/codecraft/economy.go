package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// A script has no memory between ticks but the stored actions: a builder with a build action
// is on the way to begin a building, a builder with a repair action to finish it. All other
// builders gather.

// maxWorks is the limit of buildings that are repaired at a time.
const maxWorks = 12

// work is a building to be repaired.
type work struct {
	unit            int // index
	wants, assigned int // number of builders that should work there, and that do
}

// How builders work: distances in cells.
const (
	gatherReach  = 30             // chase range of builders
	finishReach  = 30             // distance from which builders come to finish a building
	repairReach  = 12             // … and to repair one that is damaged
	siteTicks    = sim.MaxPlayers // ticks between two searches for a building site
	stuckTicks   = 64             // ticks after which a builder that has not reached its work looks for other work
	maxAssigned  = 10
	housesAtOnce = 5
)

// economy gathers, builds and fights.
func (c *seat) economy() {
	c.survey()
	c.keepWorking()
	c.expand()
	c.assignRepairs()
	c.produce()
	c.gather()
	c.march()
}

// survey lists the own units and the buildings to be repaired.
func (c *seat) survey() {
	s := c.State
	c.Begin()
	c.nWorks = 0
	c.begun = [codecraft.Types]int16{}
	c.taken = bitboard.Square{}
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != c.Player {
			continue
		}
		t := &c.Rules.Types[u.Type]
		switch {
		case u.Type == codecraft.BuilderUnit:
			c.free[i] = u.Active
			c.Builders.Add(i)
		case t.CanMove:
			c.Army.Add(i)
		default:
			c.Fixed.Add(i)
			c.inspect(i, u, t)
		}
	}
}

// inspect lists a building that is damaged or not finished.
func (c *seat) inspect(i int, u *codecraft.Unit, t *codecraft.Properties) {
	missing := int(t.MaxHealth) - int(u.Health)
	wants := min(1+missing/60, 3)
	if !u.Active {
		wants = 1 + int(t.MaxHealth)/12
		c.Housed += t.PopProvide
	}
	if missing > 0 && c.nWorks < maxWorks {
		c.works[c.nWorks] = work{unit: i, wants: min(wants, maxAssigned)}
		c.nWorks++
	}
}

// keepWorking lets builders continue their stored work.
func (c *seat) keepWorking() {
	for _, at := range c.Builders.All() {
		i := int(at)
		a := &c.State.Acts[i]
		switch {
		case !c.free[i]:
		case a.Parts&codecraft.HasBuild != 0:
			c.keepBuild(i, a)
		case a.Parts&codecraft.HasRepair != 0:
			c.keepRepair(i, a)
		}
	}
}

// givesUp reports whether a builder that is not yet beside its work should look for other
// work: once every stuckTicks, in case its path is blocked.
func (c *seat) givesUp(i int) bool {
	return (uint32(c.State.Tick)+c.State.Units[i].ID)%stuckTicks == 0
}

// keepBuild continues a building that has not begun. Once it has begun, the builder repairs
// it.
func (c *seat) keepBuild(i int, a *codecraft.Action) {
	x, y, t := int(a.BuildX), int(a.BuildY), a.BuildType
	if t >= codecraft.Types {
		return
	}
	size := int(c.Rules.Types[t].Size)
	ux, uy, _ := c.Corner(i)
	away := codecraft.Gap(ux, uy, 1, x, y, size)
	if !codecraft.OnMap(x, y, size) || away != 1 && c.givesUp(i) {
		return
	}
	// This close, a unit that covers the place is in sight.
	if away+2*(size-1) <= int(c.Rules.Types[codecraft.BuilderUnit].Sight) && c.State.Occupied.MeetsSquare(x, y, size) {
		if j := int(c.State.At[codecraft.CellOf(x, y)]) - 1; j >= 0 && c.State.Units[j].Owner == c.Player && c.State.Units[j].Type == t {
			c.join(i, j)
		}
		return
	}
	c.free[i] = false
	c.begun[t]++
	c.Housed += c.Rules.Types[t].PopProvide
	c.Reserve(c.Rules.Types[t].Cost)
}

// keepRepair continues a repair.
func (c *seat) keepRepair(i int, a *codecraft.Action) {
	if j := c.State.Find(a.Repair); j >= 0 {
		c.join(i, j)
	}
}

// join lets a builder repair building j if that is among the works and needs more builders.
// It chooses another cell beside j if the previous one is occupied or taken.
func (c *seat) join(i, j int) {
	for k := range c.works[:c.nWorks] {
		w := &c.works[k]
		if w.unit != j || w.assigned >= w.wants {
			continue
		}
		a := &c.State.Acts[i]
		x, y, size := c.Corner(j)
		ux, uy, _ := c.Corner(i)
		if codecraft.Gap(ux, uy, 1, x, y, size) != 1 {
			if c.givesUp(i) {
				return
			}
			sx, sy := int(a.MoveX), int(a.MoveY)
			if a.Parts&codecraft.HasRepair != 0 && !c.State.Occupied.Has(sx, sy) && !c.taken.Has(sx, sy) {
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

// sendToRepair sends a builder to repair, and reports whether there is a free cell beside the
// building for it.
func (c *seat) sendToRepair(i int, w *work) bool {
	x, y, size := c.Corner(w.unit)
	sx, sy, ok := c.stand(i, x, y, size, nil)
	if !ok {
		return false
	}
	c.taken.Add(sx, sy)
	var a codecraft.Action
	a.AddRepair(c.State.Units[w.unit].ID)
	c.Give(i, c.moveTo(a, sx, sy))
	c.free[i] = false
	w.assigned++
	return true
}

// expand begins the most urgent building, if one is needed.
func (c *seat) expand() {
	s, p := c.State, c.Player
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

// needsHouse reports whether a house should be begun: shortly before the population reaches
// its limit.
func (c *seat) needsHouse() bool {
	s, p := c.State, c.Player
	used := s.PopUse[p]
	all := int32(c.style.builders + c.style.ranged)
	pending := c.begun[codecraft.House]
	for _, w := range c.works[:c.nWorks] {
		if u := &s.Units[w.unit]; u.Type == codecraft.House && !u.Active {
			pending++
		}
	}
	short := c.Housed-used < 3+used/8+max(c.Money, 0)/150
	return c.Housed < all && short && int32(pending) < min(1+used/15, housesAtOnce)
}

// begin sends the free builder nearest to the best site to build a building of type t there,
// once there is money for it. The search for the site takes longer than all other work, so the
// seats do it in turn.
func (c *seat) begin(t codecraft.Type) {
	cost := c.Rules.Types[t].Cost
	c.Reserve(cost)
	if c.Money < 0 || uint32(c.State.Tick)%siteTicks != uint32(c.Player) || !c.Rules.Types[codecraft.BuilderUnit].Builds.Set().Has(t) {
		return
	}
	ax, ay := c.middle()
	if t == codecraft.Turret {
		n := int(c.State.Count[c.Player][t]+c.begun[t]) % len(posts)
		ax, ay = codecraft.TurnBack(c.Player, posts[n][0], posts[n][1], 1)
	}
	x, y, ok := c.site(t, ax, ay)
	if !ok {
		return
	}
	size := int(c.Rules.Types[t].Size)
	i := c.nearestFree(x, y, size, 2*codecraft.Side)
	if i < 0 {
		return
	}
	if sx, sy, ok := c.stand(i, x, y, size, &c.sight); ok {
		var a codecraft.Action
		a.AddBuild(t, x, y)
		c.Give(i, c.moveTo(a, sx, sy))
		c.free[i] = false
	}
}

// posts are the sites for turrets, in the own frame.
var posts = [...][2]int{{17, 17}, {22, 10}, {10, 22}, {20, 14}, {14, 20}, {24, 5}, {5, 24}, {22, 22}}

// nearestFree returns the free builder nearest to a square, or −1 if none is within reach.
func (c *seat) nearestFree(x, y, size, reach int) int {
	best := -1
	for _, i := range c.Builders.All() {
		if !c.free[i] {
			continue
		}
		u := &c.State.Units[i]
		if d := codecraft.Gap(int(u.X), int(u.Y), 1, x, y, size); d > 0 && d <= reach {
			best, reach = int(i), d-1
		}
	}
	return best
}

// assignRepairs sends free builders to the works that need more.
func (c *seat) assignRepairs() {
	for k := range c.works[:c.nWorks] {
		w := &c.works[k]
		x, y, size := c.Corner(w.unit)
		reach := repairReach
		if !c.State.Units[w.unit].Active {
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

// produce lets the bases build units while there is money that is not set aside, and the
// other buildings attack.
func (c *seat) produce() {
	for _, at := range c.Fixed.All() {
		i := int(at)
		t := &c.Rules.Types[c.State.Units[i].Type]
		a := codecraft.Action{Parts: codecraft.Given}
		if t.CanAttack {
			a = autoAttack(t.Sight, codecraft.AllButResource)
		}
		if t.CanBuild && t.Builds.N > 0 && c.State.Units[i].Active && c.affords(t.Builds.T[0]) {
			if x, y, ok := c.exit(i); ok {
				a.AddBuild(t.Builds.T[0], x, y)
			}
		}
		c.Give(i, a)
	}
}

// affords reports whether one more unit of type t is wanted and can be paid, and subtracts its
// price.
func (c *seat) affords(t codecraft.Type) bool {
	return c.State.Count[c.Player][t] < c.most(t) && c.Pay(t)
}

// most returns the number of units of type t that the script wants.
func (c *seat) most(t codecraft.Type) int16 {
	switch t {
	case codecraft.BuilderUnit:
		return c.style.builders
	case codecraft.RangedUnit:
		if c.State.Count[c.Player][codecraft.BuilderUnit] < c.style.settled {
			return c.style.early
		}
		return c.style.ranged
	}
	return 0
}

// gather sends all free builders towards the far corner, to take resources on the way.
func (c *seat) gather() {
	x, y := codecraft.TurnBack(c.Player, codecraft.Side-1, codecraft.Side-1, 1)
	a := c.moveTo(autoAttack(gatherReach, resourcesToTake), x, y)
	for _, i := range c.Builders.All() {
		if c.free[i] {
			c.Give(int(i), a)
		}
	}
}
