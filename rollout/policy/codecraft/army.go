package codecraft

import (
	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// How armies fight: distances in cells.
const (
	defendReach = 20 // chase range in the own half
	attackReach = 10 // chase range in the other half
	nearStep    = 4  // distance by which an army is sent ahead at a time
	guardReach  = 6  // distance from which a unit sees whether a base still stands
	rallyReach  = 5
)

// march sends the army to the first of the enemies' bases that is not known to be destroyed,
// or around the map. A part of the army stays home; while it is small, all of it.
func (c *seat) march() {
	home := c.style.home
	if home == 1 && c.State.Tick >= c.Rules.MaxTurns*3/4 {
		home = 0
	}
	if c.Army.N < c.style.leastArmy {
		home = 1
	}
	x, y, ok, guards := c.target()
	for _, at := range c.Army.All() {
		i := int(at)
		tx, ty := x, y
		switch {
		case home != 0 && prng.Mix(uint64(c.State.Units[i].ID))%home == 0:
			c.rally(i)
			continue
		case guards[0] == i || guards[1] == i || guards[2] == i:
			tx, ty, _ = c.Corner(i)
		case !ok:
			tx, ty = c.Roam(i)
		}
		c.attack(i, tx, ty)
	}
}

// attack sends a unit to a place and lets it fight on the way.
func (c *seat) attack(i, x, y int) {
	u := &c.State.Units[i]
	ux, uy := codecraft.Turn(c.Player, int(u.X), int(u.Y), 1)
	reach := int32(attackReach)
	if ux+uy < codecraft.Side {
		reach = defendReach
	}
	if c.style.near {
		x, y = ahead(int(u.X), int(u.Y), x, y)
	}
	c.Give(i, c.moveTo(autoAttack(reach, codecraft.AllButResource), x, y))
}

// ahead returns the cell that lies nearStep steps from (x, y) towards a target, half of them
// along each axis if possible, or the target itself if it is no farther.
func ahead(x, y, tx, ty int) (int, int) {
	dx, dy := tx-x, ty-y
	alongX := min(max(dx, -dx), max(nearStep/2, nearStep-max(dy, -dy)))
	alongY := min(max(dy, -dy), nearStep-alongX)
	if dx < 0 {
		alongX = -alongX
	}
	if dy < 0 {
		alongY = -alongY
	}
	return x + alongX, y + alongY
}

// target returns the destination of the army; not ok if all bases are known to be destroyed.
// guards has for each enemy a unit that sees that its base is destroyed and stays there, or −1.
func (c *seat) target() (x, y int, ok bool, guards [3]int) {
	guards = [3]int{-1, -1, -1}
	for k, q := range c.foes[:c.nFoes] {
		x, y = codecraft.TurnBack(q, toolbox.HomeAt, toolbox.HomeAt, 1)
		if !c.Rules.Fog {
			if x, y, ok = c.first(q); ok {
				return x, y, true, guards
			}
			continue
		}
		guards[k] = c.guard(q, x, y)
		if guards[k] < 0 {
			return x, y, true, guards
		}
	}
	return 0, 0, false, guards
}

// first returns the place of the oldest entity of an enemy: usually its base.
func (c *seat) first(q sim.Player) (x, y int, ok bool) {
	for i := range c.State.Units[:c.State.N] {
		if c.State.Units[i].Owner == q {
			x, y, size := c.Corner(i)
			return x + size/2, y + size/2, true
		}
	}
	return 0, 0, false
}

// guard returns the first unit of the army that is near the place of an enemy's base, or −1 if
// there is none or it sees any unit of that enemy.
func (c *seat) guard(q sim.Player, x, y int) int {
	for _, at := range c.Army.All() {
		ux, uy, _ := c.Corner(int(at))
		if codecraft.Gap(ux, uy, 1, x, y, 1) > guardReach {
			continue
		}
		sight := int(c.Rules.Types[c.State.Units[at].Type].Sight)
		for j := range c.State.Units[:c.State.N] {
			if c.State.Units[j].Owner != q {
				continue
			}
			ex, ey, size := c.Corner(j)
			if codecraft.Gap(ux, uy, 1, ex, ey, size) <= sight {
				return -1
			}
		}
		return int(at)
	}
	return -1
}

// rally keeps unit i near one of a few places in front of the own base, where it attacks
// enemies that come near.
func (c *seat) rally(i int) {
	u := &c.State.Units[i]
	post := rallies[u.ID%uint32(len(rallies))]
	x, y := codecraft.TurnBack(c.Player, post[0], post[1], 1)
	a := autoAttack(defendReach, codecraft.AllButResource)
	if codecraft.Gap(int(u.X), int(u.Y), 1, x, y, 1) > rallyReach {
		a = c.moveTo(a, x, y)
	}
	c.Give(i, a)
}

// rallies are the places of rally, in the own frame.
var rallies = [...][2]int{{19, 19}, {25, 12}, {12, 25}, {25, 22}, {22, 25}}
