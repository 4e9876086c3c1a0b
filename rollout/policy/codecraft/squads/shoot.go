package squads

import (
	"moonfarm/sim/codecraft"
)

// shots are the shots assigned in this tick.
type shots struct {
	left    [codecraft.MaxUnits]int16 // by enemy: its health after the shots
	inRange [codecraft.MaxUnits]uint8 // by own unit: number of enemy fighters in range
}

// shoot assigns the attacks. The fighters with the fewest targets choose first; each chooses
// an enemy that its shot kills, else the one with the least health left.
func (c *Commander) shoot() {
	for _, at := range c.foes.at[:c.foes.n] {
		c.shots.left[at] = c.State.Units[at].Health
	}
	for few := 1; few <= 4; few++ {
		for _, at := range c.Army.All() {
			i := int(at)
			if c.busy[i] {
				continue
			}
			if few == 1 {
				c.shots.inRange[i] = c.armedInRange(i)
			}
			n := int(c.shots.inRange[i])
			if n == few || few == 4 && n > few {
				c.aim(i)
			}
		}
	}
	for _, at := range c.Army.All() {
		if i := int(at); !c.busy[i] && c.shots.inRange[i] == 0 {
			c.aimAtAny(i)
		}
	}
}

// armedInRange counts the enemy fighters in range of a unit, up to 255.
func (c *Commander) armedInRange(i int) uint8 {
	u := &c.State.Units[i]
	reach := int16(c.Rules.Types[u.Type].Range)
	n := 0
	for k := range c.foes.arms[:c.foes.armed] {
		if a := &c.foes.arms[k]; c.gapTo(u, int(a.unit)) <= reach {
			n++
		}
	}
	return uint8(min(n, 255))
}

// gapTo returns the distance from an own unit to unit j.
func (c *Commander) gapTo(u *codecraft.Unit, j int) int16 {
	x, y, size := c.Corner(j)
	return int16(codecraft.Gap(int(u.X), int(u.Y), int(c.Rules.Types[u.Type].Size), x, y, size))
}

// aim lets a unit attack an enemy fighter in range.
func (c *Commander) aim(i int) {
	u := &c.State.Units[i]
	t := &c.Rules.Types[u.Type]
	best, value := -1, 0
	for k := range c.foes.arms[:c.foes.armed] {
		a := &c.foes.arms[k]
		if !t.CanAttack || c.gapTo(u, int(a.unit)) > int16(t.Range) {
			continue
		}
		if v := c.worthShot(int(a.unit), int(t.Damage)); best < 0 || v > value {
			best, value = int(a.unit), v
		}
	}
	if best >= 0 {
		c.attack(i, best, int16(t.Damage))
	}
}

// worthShot returns the priority of a target: highest for enemies that the shot kills, then
// higher for less health left, and lowest for enemies that earlier shots kill.
func (c *Commander) worthShot(j, damage int) int {
	left := int(c.shots.left[j])
	switch {
	case left <= 0:
		return left
	case left <= damage:
		return 1 << 16
	}
	return 1<<15 - left
}

// aimAtAny lets a unit attack any enemy in range.
func (c *Commander) aimAtAny(i int) {
	u := &c.State.Units[i]
	t := &c.Rules.Types[u.Type]
	if !t.CanAttack {
		return
	}
	best, value := -1, 0
	for _, at := range c.foes.at[:c.foes.n] {
		if c.gapTo(u, int(at)) > int16(t.Range) {
			continue
		}
		v := c.worthShot(int(at), int(t.Damage))
		if c.Rules.Types[c.State.Units[at].Type].CanMove {
			v += 1 << 17
		}
		if best < 0 || v > value {
			best, value = int(at), v
		}
	}
	if best >= 0 {
		c.attack(i, best, int16(t.Damage))
	}
}

// attack orders unit i to attack unit j, and subtracts the damage from its health left.
func (c *Commander) attack(i, j int, damage int16) {
	c.shots.left[j] -= damage
	var a codecraft.Action
	a.AddTarget(c.State.Units[j].ID)
	c.give(i, a)
	c.stay(i)
}
