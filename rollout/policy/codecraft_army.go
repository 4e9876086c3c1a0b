package policy

import (
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// How armies fight: distances in cells.
const (
	defendReach = 20 // chase range in the own half
	attackReach = 10 // … and beyond
	nearStep    = 4  // so far an army is sent ahead at a time
	guardReach  = 6  // who is so near to a base sees whether it still stands
	rallyReach  = 5
	roamTicks   = 64 // before another place is looked at
)

// march sends the army to the first of the enemies' bases that is not known to
// be gone, or around the map. A part of it stays home, all while it is small.
func (c *codecraftSeat) march() {
	home := c.style.home
	if home == 1 && c.state.Tick >= c.rules.MaxTurns*3/4 {
		home = 0
	}
	if c.army.n < c.style.leastArmy {
		home = 1
	}
	x, y, ok, guards := c.target()
	for _, at := range c.army.all() {
		i := int(at)
		tx, ty := x, y
		switch {
		case home != 0 && prng.Mix(uint64(c.state.Units[i].ID))%home == 0:
			c.rally(i)
			continue
		case guards[0] == i || guards[1] == i || guards[2] == i:
			tx, ty, _ = c.corner(i)
		case !ok:
			tx, ty = c.roam(i)
		}
		c.attack(i, tx, ty)
	}
}

// roam is where unit i looks for enemies for a while.
func (c *codecraftSeat) roam(i int) (x, y int) {
	id := uint64(c.state.Units[i].ID)
	r := prng.New(prng.Mix(id<<32 | (uint64(c.state.Tick)+id)/roamTicks))
	return r.IntN(codecraft.Side), r.IntN(codecraft.Side)
}

// attack sends a unit to a place and has it fight on the way.
func (c *codecraftSeat) attack(i, x, y int) {
	u := &c.state.Units[i]
	ux, uy := codecraft.Turn(c.player, int(u.X), int(u.Y), 1)
	reach := int32(attackReach)
	if ux+uy < codecraft.Side {
		reach = defendReach
	}
	if c.style.near {
		x, y = ahead(int(u.X), int(u.Y), x, y)
	}
	c.give(i, c.moveTo(autoAttack(reach, codecraft.AllButResource), x, y))
}

// ahead is the cell that lies nearStep cells from (x, y) towards a target, half
// of them along each axis, or the target itself if that is no farther.
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

// target is where the army goes; not ok if all bases are known to be gone.
// guards are the units that know it of each enemy: they stay where they are, −1
// where there is none.
func (c *codecraftSeat) target() (x, y int, ok bool, guards [3]int) {
	guards = [3]int{-1, -1, -1}
	for k, q := range c.foes[:c.nFoes] {
		x, y = codecraft.TurnBack(q, codecraftHome, codecraftHome, 1)
		if !c.rules.Fog {
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

// first is the place of the oldest entity of an enemy: its base, as a rule.
func (c *codecraftSeat) first(q sim.Player) (x, y int, ok bool) {
	for i := range c.state.Units[:c.state.N] {
		if c.state.Units[i].Owner == q {
			x, y, size := c.corner(i)
			return x + size/2, y + size/2, true
		}
	}
	return 0, 0, false
}

// guard is the first unit of the army that is near a place where an enemy's
// base was and sees nothing of that enemy; −1 if there is none.
func (c *codecraftSeat) guard(q sim.Player, x, y int) int {
	for _, at := range c.army.all() {
		ux, uy, _ := c.corner(int(at))
		if codecraft.Gap(ux, uy, 1, x, y, 1) > guardReach {
			continue
		}
		sight := int(c.rules.Types[c.state.Units[at].Type].Sight)
		for j := range c.state.Units[:c.state.N] {
			if c.state.Units[j].Owner != q {
				continue
			}
			ex, ey, size := c.corner(j)
			if codecraft.Gap(ux, uy, 1, ex, ey, size) <= sight {
				return -1
			}
		}
		return int(at)
	}
	return -1
}

// rally keeps unit i near one of a few places before the own base, from where
// it attacks what comes near.
func (c *codecraftSeat) rally(i int) {
	u := &c.state.Units[i]
	post := codecraftRallies[u.ID%uint32(len(codecraftRallies))]
	x, y := codecraft.TurnBack(c.player, post[0], post[1], 1)
	a := autoAttack(defendReach, codecraft.AllButResource)
	if codecraft.Gap(int(u.X), int(u.Y), 1, x, y, 1) > rallyReach {
		a = c.moveTo(a, x, y)
	}
	c.give(i, a)
}

// codecraftRallies are those places, in the own frame.
var codecraftRallies = [...][2]int{{19, 19}, {25, 12}, {12, 25}, {25, 22}, {22, 25}}
