package squads

import (
	"moonfarm/rollout/policy/script"
	"moonfarm/sim/codecraft"
)

// margin is the value by which an assignment must be better to replace another, in points.
const margin = 5

// uniform are the options that all enemies have in the first models.
var uniform = [...]option{assault, keep, hold}

// mostModels is the number of models: the uniform ones and the answer.
const mostModels = len(uniform) + 1

// greedy is the state of the search of a fight. Assignments are options by unit of the root.
type greedy struct {
	budget *script.Budget
	until  int // the part of the budget that this fight and those before it may use
	made   int // playouts in this tick

	own, foe members
	best     [codecraft.MaxUnits]option // the best assignment of the own fighters
	try      [codecraft.MaxUnits]option // the assignment that is judged, of both sides
	models   int
	model    [mostModels][codecraft.MaxUnits]option // assignments of the enemies
}

// members are the fighters of a side: units of the root.
type members struct {
	n    int
	unit [codecraft.MaxUnits]uint16
}

func (m *members) add(i uint16) {
	m.unit[m.n] = i
	m.n++
}

// copy copies the options of the members.
func (m *members) copy(dst, src *[codecraft.MaxUnits]option) {
	for _, at := range m.unit[:m.n] {
		dst[at] = src[at]
	}
}

// fill gives all members an option.
func (m *members) fill(dst *[codecraft.MaxUnits]option, o option) {
	for _, at := range m.unit[:m.n] {
		dst[at] = o
	}
}

// start begins the budget of a tick.
func (g *greedy) start(b *script.Budget) {
	g.budget, g.made = b, 0
	b.Spent(0)
}

// spent reports whether the fight has no budget left for another judgement and the forecast.
func (g *greedy) spent() bool { return g.budget.Spent(g.made+g.models) >= g.until }

// fightOut searches a fight, and stores the actions of the fighters that it improves.
func (c *Searcher) fightOut(leader uint16, seed uint64) {
	c.setScene(leader, seed)
	copy(c.try[:c.play.root.N], c.best[:c.play.root.N])
	c.models = len(uniform)
	for m, o := range uniform {
		c.foe.fill(&c.model[m], o)
	}
	if c.own.n == 0 || c.foe.n == 0 || c.spent() {
		return
	}
	value := c.judge()
	before := c.play.material(&c.play.root)
	for o := assault; o < toRight && !c.spent(); o++ {
		c.own.fill(&c.try, o)
		if v := c.judge(); v > value+margin {
			value = v
			c.own.copy(&c.best, &c.try)
		}
	}
	c.own.copy(&c.try, &c.best)
	c.climb(value)
	if !c.spent() {
		c.answer()
		c.own.copy(&c.try, &c.best)
		if c.models++; !c.spent() {
			c.climb(c.judge())
		}
	}
	c.decide()
	c.outlook += c.forecast() - before
}

// judge returns the mean value of the assignment to try against the models of the enemies.
func (c *Searcher) judge() (sum int32) {
	for m := range c.models {
		c.foe.copy(&c.try, &c.model[m])
		sum += c.playOn()
	}
	return sum / int32(c.models)
}

// playOn returns the value of a playout of the assignment to try, at most to the end of the game.
func (c *Searcher) playOn() int32 {
	c.made++
	return c.play.run(&c.try, min(c.ticks, int(c.Rules.MaxTurns-c.State.Tick)))
}

// climb improves the options of the own fighters one by one until no change is better or the
// budget is spent. value is the value of the best assignment so far.
func (c *Searcher) climb(value int32) {
	for changed := true; changed; {
		changed = false
		for _, at := range c.own.unit[:c.own.n] {
			for o := keep; o < options; o++ {
				if o == c.best[at] {
					continue
				}
				if c.spent() {
					c.try[at] = c.best[at]
					return
				}
				c.try[at] = o
				if v := c.judge(); v > value+margin {
					value, changed, c.best[at] = v, true, o
				}
			}
			c.try[at] = c.best[at]
		}
	}
}

// answer sets the model after the last one to the enemies' answer to the best assignment: their
// best model so far, with the options improved one by one.
func (c *Searcher) answer() {
	to, least := &c.model[c.models], int32(0)
	for m := range c.models {
		c.foe.copy(&c.try, &c.model[m])
		if v := c.playOn(); m == 0 || v < least {
			least = v
			c.foe.copy(to, &c.model[m])
		}
	}
	c.foe.copy(&c.try, to)
	for _, at := range c.foe.unit[:c.foe.n] {
		for o := assault; o < options; o++ {
			if o == to[at] {
				continue
			}
			if c.spent() {
				return
			}
			c.try[at] = o
			if v := c.playOn(); v < least-margin {
				least, to[at] = v, o
			}
		}
		c.try[at] = to[at]
	}
}

// decide stores the actions in the first tick of the best assignment.
func (c *Searcher) decide() {
	k := &c.play
	k.state.Clone(&k.root)
	copy(k.choice[:k.root.N], c.best[:k.root.N])
	k.first = true
	k.muster()
	k.command(0)
	for _, at := range c.own.unit[:c.own.n] {
		if c.best[at] == keep {
			continue
		}
		i := c.State.Find(k.root.Units[at].ID)
		c.acts[i], c.decided[i], c.changed = k.state.Acts[at], true, true
	}
}

// forecast returns the material after a playout of the best assignment, in which the enemies
// approach.
func (c *Searcher) forecast() int32 {
	c.own.copy(&c.try, &c.best)
	c.foe.copy(&c.try, &c.model[0])
	c.playOn()
	return c.play.material(&c.play.state)
}
