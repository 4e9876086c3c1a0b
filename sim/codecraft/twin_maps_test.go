package codecraft_test

import (
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/internal/plain"
	"moonfarm/sim/prng"
)

// scene is a state under construction, without boards.
type scene struct {
	r     *prng.Rand
	rules codecraft.Rules
	s     codecraft.State
	taken [codecraft.Side][codecraft.Side]bool
}

// newScene returns a scene with a map of resources; share is in thousandths of the cells.
func newScene(r *prng.Rand, rules codecraft.Rules, share int) *scene {
	c := &scene{r: r, rules: rules}
	c.s.Seed, c.s.Tick = r.Uint64(), int32(r.IntN(int(rules.MaxTurns)))
	c.veins(share)
	c.s.SetVeins()
	c.s.FirstID = uint32(1 + r.IntN(30))
	veins := c.s.Resources.Count()
	for x := range codecraft.Side {
		for y := range codecraft.Side {
			if c.s.Resources.Has(x, y) && chance(r, 5) {
				c.empty(x, y)
			}
		}
	}
	c.s.NextID = c.s.FirstID + uint32(veins)
	for p := range rules.Players {
		c.s.Score[p], c.s.Resource[p] = int32(r.IntN(5000)), int32(r.IntN(pick(r, 1, 60, 600, 3000)))
	}
	return c
}

// veins draws resources: single ones, lines and squares.
func (c *scene) veins(share int) {
	shape := c.r.IntN(3)
	for n := 0; n < share*codecraft.Cells/1000; {
		x, y, w, h := c.r.IntN(codecraft.Side), c.r.IntN(codecraft.Side), 1, 1
		switch shape {
		case 1:
			w, h = 1+c.r.IntN(20), 1
			if chance(c.r, 2) {
				w, h = h, w
			}
		case 2:
			w, h = 1+c.r.IntN(9), 1+c.r.IntN(9)
		}
		for i := x; i < min(x+w, codecraft.Side); i++ {
			for j := y; j < min(y+h, codecraft.Side); j++ {
				n++
				c.s.Resources.Add(i, j)
				c.s.Health[codecraft.CellOf(i, j)] = uint8(1 + c.r.IntN(int(c.rules.Types[codecraft.Resource].MaxHealth)))
				c.taken[i][j] = true
			}
		}
	}
}

// empty removes a resource from the map.
func (c *scene) empty(x, y int) {
	c.s.Resources.Drop(x, y)
	c.s.Health[codecraft.CellOf(x, y)] = 0
	c.taken[x][y] = false
}

// put puts a unit on the map if there is room, and removes resources in its place.
func (c *scene) put(p sim.Player, t codecraft.Type, x, y int) bool {
	size := int(c.rules.Types[t].Size)
	if x < 0 || y < 0 || x+size > codecraft.Side || y+size > codecraft.Side || c.s.N == codecraft.MaxUnits {
		return false
	}
	for i := x; i < x+size; i++ {
		for j := y; j < y+size; j++ {
			if c.taken[i][j] && !c.s.Resources.Has(i, j) {
				return false
			}
		}
	}
	for i := x; i < x+size; i++ {
		for j := y; j < y+size; j++ {
			c.empty(i, j)
			c.taken[i][j] = true
		}
	}
	most := c.rules.Types[t].MaxHealth
	u := codecraft.Unit{ID: c.s.NextID, Health: int16(most), X: uint8(x), Y: uint8(y), Type: t, Owner: p, Active: true}
	if chance(c.r, 3) {
		u.Health = int16(1 + c.r.IntN(int(most)))
	}
	if chance(c.r, 12) && u.Health < int16(most) {
		u.Active = false
	}
	c.s.NextID += 1 + uint32(c.r.IntN(3))
	c.s.Units[c.s.N] = u
	c.s.N++
	return true
}

// anything returns a random type of unit, mostly a movable one.
func (c *scene) anything() codecraft.Type {
	if chance(c.r, 8) {
		return pick(c.r, codecraft.Wall, codecraft.House, codecraft.Turret, codecraft.BuilderBase, codecraft.MeleeBase, codecraft.RangedBase)
	}
	return pick(c.r, codecraft.BuilderUnit, codecraft.BuilderUnit, codecraft.MeleeUnit, codecraft.RangedUnit)
}

func (c *scene) player() sim.Player { return sim.Player(c.r.IntN(int(c.rules.Players))) }

// crowd puts units of one player, or of all, close together.
func (c *scene) crowd(units, spread int) {
	x, y := c.r.IntN(codecraft.Side), c.r.IntN(codecraft.Side)
	p, mixed := c.player(), chance(c.r, 2)
	for range units {
		if mixed {
			p = c.player()
		}
		c.put(p, c.anything(), x+c.r.IntN(2*spread+1)-spread, y+c.r.IntN(2*spread+1)-spread)
	}
}

// fence puts walls or houses of a player around a place, with or without a gap.
func (c *scene) fence() {
	x, y, w, h := c.r.IntN(codecraft.Side), c.r.IntN(codecraft.Side), 2+c.r.IntN(16), 2+c.r.IntN(16)
	p, t := c.player(), pick(c.r, codecraft.Wall, codecraft.Wall, codecraft.House, codecraft.MeleeUnit)
	gap := c.r.IntN(4)
	for i := x; i <= x+w; i++ {
		for j := y; j <= y+h; j++ {
			edge := i == x || j == y || i == x+w || j == y+h
			if edge && (gap > 0 || i != x+w/2) {
				c.put(p, t, i, j)
			}
		}
	}
	c.put(c.player(), codecraft.RangedUnit, x+w/2, y+h/2)
	c.put(c.player(), codecraft.MeleeUnit, x+w/2+1, y+h/2)
	c.put(c.player(), codecraft.BuilderUnit, x+w/2, y+h/2-1)
}

// site puts an unfinished building on the map, with units of its owner around it.
func (c *scene) site() {
	x, y, p := c.r.IntN(codecraft.Side), c.r.IntN(codecraft.Side), c.player()
	t := pick(c.r, codecraft.House, codecraft.House, codecraft.Wall, codecraft.Turret, codecraft.RangedBase)
	if !c.put(p, t, x, y) {
		return
	}
	u := &c.s.Units[c.s.N-1]
	if most := c.rules.Types[t].MaxHealth; most > 1 {
		u.Active, u.Health = false, int16(max(most-1-int32(c.r.IntN(6)), 1))
	}
	size := int(c.rules.Types[t].Size)
	for range 2 + c.r.IntN(8) {
		q := p
		if chance(c.r, 10) {
			q = c.player()
		}
		c.put(q, pick(c.r, codecraft.BuilderUnit, codecraft.BuilderUnit, codecraft.BuilderUnit, c.anything()),
			x-1+c.r.IntN(size+2), y-1+c.r.IntN(size+2))
	}
}

// column puts a block of weak units on the map, with ranged units of all players around it.
func (c *scene) column() {
	x, y, w, h, p := c.r.IntN(codecraft.Side), c.r.IntN(codecraft.Side), 2+c.r.IntN(5), 2+c.r.IntN(5), c.player()
	for i := x; i < x+w; i++ {
		for j := y; j < y+h; j++ {
			if c.put(p, pick(c.r, codecraft.MeleeUnit, codecraft.BuilderUnit), i, j) && chance(c.r, 2) {
				c.s.Units[c.s.N-1].Health = 1
			}
		}
	}
	for range 6 {
		c.put(c.player(), codecraft.RangedUnit, x-3+c.r.IntN(w+6), y-3+c.r.IntN(h+6))
	}
}

// done returns the state with all its boards.
func (c *scene) done() (s codecraft.State) {
	if c.s.N == 0 {
		for p := range sim.Player(c.rules.Players) {
			c.put(p, codecraft.BuilderUnit, 10+20*int(p), 40)
		}
	}
	g := plain.New(c.rules)
	g.Load(&c.s)
	g.Store(&s)
	return s
}

// scenario is a kind of match.
type scenario struct {
	name  string
	share int // of all ticks
	ticks int // of a match, at most
	begin func(r *prng.Rand, g *codecraft.Game) codecraft.State
	mood  func(r *prng.Rand, c *commander)
	rules func(r *prng.Rand, rules *codecraft.Rules)
	give  func(c *commander, dst []sim.Order, p sim.Player) []sim.Order
}

// scenarios has all kinds of matches.
var scenarios = []scenario{
	{name: "start", share: 12, ticks: 40, begin: fromStart, mood: anyMood, give: (*commander).orders},
	{name: "campaign", share: 6, ticks: 120, begin: fromStart, mood: anyMood, give: (*commander).campaign},
	{name: "crowds", share: 14, ticks: 8, begin: func(r *prng.Rand, g *codecraft.Game) codecraft.State {
		c := newScene(r, g.Rules(), pick(r, 0, 50, 200, 400))
		for range 1 + r.IntN(6) {
			c.crowd(5+r.IntN(40), pick(r, 2, 3, 5, 9))
		}
		return c.done()
	}, mood: anyMood, give: (*commander).orders},
	{name: "fences", share: 12, ticks: 10, begin: func(r *prng.Rand, g *codecraft.Game) codecraft.State {
		c := newScene(r, g.Rules(), pick(r, 0, 30, 100))
		for range 1 + r.IntN(5) {
			c.fence()
		}
		c.crowd(10, 6)
		return c.done()
	}, give: (*commander).orders, mood: func(r *prng.Rand, c *commander) {
		anyMood(r, c)
		c.far, c.closest = 40, 70
	}},
	{name: "thicket", share: 14, ticks: 10, begin: func(r *prng.Rand, g *codecraft.Game) codecraft.State {
		c := newScene(r, g.Rules(), pick(r, 300, 450, 550, 700))
		for range 2 + r.IntN(6) {
			c.crowd(4+r.IntN(8), pick(r, 1, 2, 4))
		}
		return c.done()
	}, give: (*commander).orders, mood: func(r *prng.Rand, c *commander) {
		anyMood(r, c)
		c.far, c.through = 50, 70
	}},
	{name: "limits", share: 14, ticks: 8, begin: func(r *prng.Rand, g *codecraft.Game) codecraft.State {
		c := newScene(r, g.Rules(), pick(r, 0, 100, 250))
		for range 1 + r.IntN(4) {
			c.crowd(4+r.IntN(10), pick(r, 2, 4, 9))
			c.fence()
		}
		return c.done()
	}, give: (*commander).orders, mood: func(r *prng.Rand, c *commander) {
		anyMood(r, c)
		c.far, c.closest = 70, 60
	}, rules: func(r *prng.Rand, rules *codecraft.Rules) {
		rules.MaxNodes = pick[int32](r, 1, 2, 3, 5, 5, 10, 20, 50, 50, 100, 300, 300, 700, 999)
	}},
	{name: "sites", share: 12, ticks: 12, begin: func(r *prng.Rand, g *codecraft.Game) codecraft.State {
		c := newScene(r, g.Rules(), pick(r, 0, 20, 100))
		for range 3 + r.IntN(12) {
			c.site()
		}
		return c.done()
	}, give: (*commander).works, mood: func(r *prng.Rand, c *commander) {
		anyMood(r, c)
		c.again = pick(r, 30, 60)
	}},
	{name: "march", share: 8, ticks: 4, begin: func(r *prng.Rand, g *codecraft.Game) codecraft.State {
		c := newScene(r, g.Rules(), 0)
		for range 2 + r.IntN(4) {
			c.column()
		}
		return c.done()
	}, give: (*commander).march, mood: anyMood},
	{name: "hordes", share: 16, ticks: 5, begin: func(r *prng.Rand, g *codecraft.Game) codecraft.State {
		c := newScene(r, g.Rules(), pick(r, 0, 30, 100, 200, 350))
		for range 1 + r.IntN(4) {
			c.fence()
			c.crowd(10+r.IntN(50), pick(r, 4, 9, 20, 40))
		}
		return c.done()
	}, give: (*commander).rally, mood: func(r *prng.Rand, c *commander) {
		anyMood(r, c)
		c.again, c.far, c.hunts = pick(r, 60, 100), pick(r, 40, 80), pick(r, 10, 30, 60)
		c.closest, c.through = pick(r, 30, 50, 100), pick(r, 0, 0, 30, 100)
	}, rules: func(r *prng.Rand, rules *codecraft.Rules) {
		if chance(r, 2) { // where it binds now and then
			rules.MaxNodes = int32(pick(r, 10, 100, 1000) + r.IntN(500))
		}
	}},
	{name: "crammed", share: 2, ticks: 2, begin: func(r *prng.Rand, g *codecraft.Game) codecraft.State {
		c := newScene(r, g.Rules(), 0)
		for units := codecraft.MaxUnits - r.IntN(40); int(c.s.N) < units; {
			c.put(c.player(), c.anything(), r.IntN(codecraft.Side), r.IntN(codecraft.Side))
		}
		for p := range c.rules.Players {
			c.s.Resource[p] = 10_000
		}
		return c.done()
	}, give: (*commander).works, mood: func(r *prng.Rand, c *commander) { c.again = 10 },
		rules: func(r *prng.Rand, rules *codecraft.Rules) { // nothing but room is short
			for t := range rules.Types {
				rules.Types[t].PopUse, rules.Types[t].Size = 0, 1
			}
		}},
	{name: "armies", share: 8, ticks: 4, begin: func(r *prng.Rand, g *codecraft.Game) codecraft.State {
		c := newScene(r, g.Rules(), pick(r, 0, 100, 300))
		for p := range sim.Player(g.Rules().Players) {
			for range 60 + r.IntN(60) {
				c.put(p, c.anything(), r.IntN(codecraft.Side), r.IntN(codecraft.Side))
			}
		}
		return c.done()
	}, mood: anyMood, give: (*commander).orders},
}

func fromStart(r *prng.Rand, g *codecraft.Game) (s codecraft.State) {
	g.Reset(&s, r.Uint64())
	return s
}

func anyMood(r *prng.Rand, c *commander) {
	c.again = pick(r, 10, 30, 60, 100)
	c.far = pick(r, 0, 10, 40, 80)
	c.closest, c.through = pick(r, 0, 30, 50, 100), pick(r, 0, 30, 50, 100)
	c.hunts, c.careless = pick(r, 10, 40, 70), pick(r, 0, 2, 15)
}
