package squads

import (
	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"moonfarm/sim/codecraft"
)

// produce lets the bases build units while there is money that is not set aside, and the
// other buildings attack.
func (c *Commander) produce() {
	first := codecraft.BuilderUnit
	if c.armyFirst() {
		first = codecraft.RangedUnit
	}
	for pass := range 2 {
		for _, at := range c.Fixed.All() {
			i := int(at)
			t := &c.Rules.Types[c.State.Units[i].Type]
			unit := codecraft.Types
			if t.CanBuild && t.Builds.N > 0 {
				unit = int(t.Builds.T[0])
			}
			if (unit == int(first)) == (pass == 0) {
				c.operate(i, t)
			}
		}
	}
}

// armyFirst reports whether fighters are needed more than builders.
func (c *Commander) armyFirst() bool {
	n, army := c.count(codecraft.BuilderUnit), int32(c.Army.N)
	return c.foes.near > int(army) || n >= settled && army < early || n >= fewBuilders && n >= fewBuilders+army/3
}

// operate gives a building its action.
func (c *Commander) operate(i int, t *codecraft.Properties) {
	a := codecraft.Action{Parts: codecraft.Given}
	if t.CanAttack {
		a = codecraft.Action{}
		a.AddAuto(int(t.Sight), codecraft.AllButResource)
	}
	if t.CanBuild && t.Builds.N > 0 && c.State.Units[i].Active && c.wants(t.Builds.T[0]) && c.Pay(t.Builds.T[0]) {
		if x, y, ok := c.exit(i, t.Builds.T[0]); ok {
			a.AddBuild(t.Builds.T[0], x, y)
		}
	}
	c.give(i, a)
}

// wants reports whether one more unit of a type is wanted.
func (c *Commander) wants(t codecraft.Type) bool {
	if c.Builders.N+c.Army.N+c.Fixed.N >= mostUnits {
		return false
	}
	n, army := c.count(codecraft.BuilderUnit), int32(c.Army.N)
	switch t {
	case codecraft.BuilderUnit:
		if c.jobless > mostJobless {
			return false
		}
		if c.count(codecraft.RangedBase) == c.pending[codecraft.RangedBase] {
			return n < mostBuilder // nothing else needs the money yet
		}
		return n < min(fewBuilders+army/3, mostBuilder)
	case codecraft.RangedUnit:
		return army < mostFighter && (n >= fewBuilders || army < early || int(army) < c.foes.near+2 || n >= settled && army < n/2)
	}
	return false
}

// exit returns a free cell beside a base for a new unit of type t: the one nearest to the
// unit's destination.
func (c *Commander) exit(i int, t codecraft.Type) (x, y int, ok bool) {
	bx, by, size := c.Corner(i)
	f := &c.toFoes
	if t == codecraft.BuilderUnit {
		f = &c.toWork
	}
	least := uint16(0)
	for side := range 4 {
		for k := range size {
			ex, ey := toolbox.Beside(bx, by, size, side, k)
			at := cellAt(ex, ey)
			if c.ground[at] != open || c.kept[at] || !codecraft.OnMap(ex, ey, 1) {
				continue
			}
			if d := f.dist[at]; !ok || d < least {
				x, y, least, ok = ex, ey, d, true
			}
		}
	}
	return x, y, ok
}
