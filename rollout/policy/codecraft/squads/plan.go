package squads

import "moonfarm/sim/codecraft"

// plan holds the numbers in which the economies of the scripts differ.
type plan struct {
	beginners int32 // below this population, a house is begun only when the limit is reached
	perHouse  int32 // population for which one more unfinished house is allowed
	forward   int   // preferred site of the ranged base, on both axes of the own frame
	baseStep  int   // cost of a builder's step to the site of the ranged base
	vanguard  int   // number of builders that go to that site before the base is begun
	leaveAt   int32 // number of builders at which they leave
}

// classic is the plan of the script squads, forward the plan of squads-forward. In 8 games with
// the search's fighters, the houses of forward won 6 against those of classic; in 8 further
// games with these houses, the ranged base of forward won 7 against that of classic.
var (
	classic = plan{beginners: 16, perHouse: 15, forward: 26, baseStep: 2}
	forward = plan{beginners: 6, perHouse: 8, forward: 30, baseStep: 1, vanguard: 3, leaveAt: 30}
)

// vanguardStop is the distance from the site at which builders of the vanguard work on.
const vanguardStop = 3

// New returns a Commander of the script squads, or of squads-forward: then houses are begun earlier,
// and some builders go ahead, so that the ranged base can be built nearer to the middle of the map.
func New(ahead bool) *Commander {
	if ahead {
		return &Commander{plan: &forward}
	}
	return &Commander{plan: &classic}
}

// lead sends the builders of the vanguard, the nearest ones, towards the preferred site of the
// ranged base.
func (c *Commander) lead() {
	if c.plan.vanguard == 0 || c.count(codecraft.RangedBase) > 0 || c.count(codecraft.BuilderUnit) < c.plan.leaveAt {
		return
	}
	f := &c.toWork // gather computes it afresh
	f.begin()
	x, y := c.anchor(codecraft.RangedBase)
	f.source(cellAt(x, y), 0)
	f.flood(&c.ground, &passable)
	for range c.plan.vanguard {
		first, least := -1, uint16(far)
		for _, at := range c.Builders.All() {
			i := int(at)
			if bx, by, _ := c.Corner(i); !c.busy[i] && f.dist[cellAt(bx, by)] < least {
				first, least = i, f.dist[cellAt(bx, by)]
			}
		}
		if first < 0 || least <= vanguardStop {
			return
		}
		bx, by, _ := c.Corner(first)
		to := c.downhill(cellAt(bx, by), f, false)
		if to < 0 {
			return
		}
		c.step(first, to)
	}
}
