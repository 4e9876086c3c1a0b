package terminal

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// strategist is a planner that also sees what its simulated turns leave out: public contest algos
// take their walls down every turn, and order them again in one of several forms together with an
// attack. So the board that a seat sees is not the board on which the turn is played.
//
//  1. It knows the walls with which the enemy would besiege each corner (see siegeLine), and counts
//     sieges among the enemy's attacks, those in two waves too: the first destroys the
//     structures in the corner.
//  2. It looks three turns ahead at the bits that the enemy saves, and orders turrets and upgrades
//     as long as each saves enough for its price, where the simulated units pass.
//  3. It keeps its own way out open, and has supports behind it when the maze is complete.
//  4. It counts of its own attacks what they gain against each siege line that the enemy can pay,
//     and saves its bits for more turns.
//  5. If an attack that the enemy can pay now would still do harm, it sends interceptors.
type strategist struct {
	planner
	lines  [2]siegeLine // the enemy's walls for a siege of its left and right corner
	delays [2]siegeLine // the same with the walls that delay a second wave
	found  [2]bool      // the siege is possible

	record terminal.Record // of the worst attack
	heat   heat            // its steps
	sited  [planSites]uint16
}

const (
	stratPatience = 8 // turns of waiting that are considered
	stratAttack   = 2 // least gain of an attack for each bit, in cores
)

// decide gives the orders of a turn.
func (c *strategist) decide() {
	c.ready()
	c.findSieges()
	o := c.opening()
	c.repairMaze(o)
	c.renew(o, mazeLine+1, 2)
	for _, turns := range guardAhead {
		c.guard(o, turns)
	}
	if c.develop(o) {
		start := c.draft()
		if c.closeGap(); !c.leaves() {
			c.revert(&start)
		}
	}
	if !c.sendGuards() {
		c.strike(stratPatience, stratAttack, c.bestReplied)
	}
}

// develop orders the maze, and before the structures outside of its opening supports behind it. It
// reports whether the cores sufficed for all of them.
func (c *strategist) develop(o int) bool {
	if !c.buildInside(o, false) {
		return false
	}
	if c.Rules.Units[terminal.Support].Shield > 0 || c.Rules.Upgraded[terminal.Support].Shield > 0 {
		inward := 1
		if o >= terminal.Side/2 {
			inward = -1
		}
		for y := mazeLine - 2; y >= 6; y-- {
			for i := 1; i <= 6; i++ {
				x := o + inward*i
				if !c.build(terminal.Support, x, y) || !c.upgrade(x, y) {
					return false
				}
			}
		}
	}
	return c.buildOutside(o)
}

// leaves reports whether own units can leave the own half.
func (c *strategist) leaves() bool {
	c.paths.Reset(&c.blocked)
	for _, at := range launchCells {
		cell := c.cell(at[0], at[1])
		if c.blocked.Has(cell) {
			continue
		}
		way, _ := c.paths.Walk(c.way[:0], cell, c.Player)
		if _, y := c.coordinates(int(way[len(way)-1])); y >= terminal.Side/2 {
			return true
		}
	}
	return false
}

// bestReplied returns the attack with the bits after some turns that gains most against the
// enemy's best reply: no walls, or the walls of a siege that its cores can pay. These are upgraded
// whatever its cores: the enemy's own lines are no thinner, while the line with the fewest walls is
// one that scouts shoot through.
func (c *strategist) bestReplied(bits float32, turns int) (best wave) {
	foe := c.Player ^ 1
	c.list(c.Player, bits)
	s := c.withBits(c.Player, bits)
	cores := s.Cores[foe] + float32(float32(turns)*c.Rules.CoresPerTurn)
	upgrades := float32(float32(max(c.lines[0].n, c.lines[1].n)) * c.Rules.Upgraded[terminal.Wall].Cores)
	s.Cores[foe] = cores + upgrades
	for i := range c.waves[:c.listed] {
		w := &c.waves[i]
		w.gain = c.exchange(s, c.Player, w)
		for corner := range c.lines {
			line := &c.lines[corner]
			if w.gain > best.gain && c.found[corner] && line.n > 0 && c.wallPrice(line) <= cores {
				w.reply = line
				w.gain = min(w.gain, c.exchange(s, c.Player, w))
				w.reply = nil
			}
		}
		if w.gain > best.gain {
			best = *w
		}
	}
	return best
}

// findSieges finds the walls of the enemy's sieges.
func (c *strategist) findSieges() {
	foe := c.Player ^ 1
	for corner := range c.lines {
		c.found[corner] = c.keepOutlet(foe, corner) && c.besiege(&c.lines[corner], foe, corner)
		c.front.kept = bitboard.Diamond{}
		c.delays[corner] = c.lines[corner]
		for _, at := range siegeDelays {
			line := &c.delays[corner]
			if cell := c.attacker(foe, mirrored(at[0], 1-corner), at[1]); !c.blocked.Has(cell) && line.n < len(line.cells) {
				line.cells[line.n] = uint16(cell)
				line.n++
			}
		}
	}
}

// foresee lists and simulates the enemy's attacks with its bits after some turns, and returns the
// worst one. It returns a wave without stacks if no attack gains anything.
func (c *strategist) foresee(turns int) (worst wave) {
	foe := c.Player ^ 1
	bits := c.State.Bits[foe]
	for k := 1; k <= turns; k++ {
		bits = c.waited(bits, k)
	}
	c.list(foe, bits)
	if n := c.paid(terminal.Scout, bits); n >= siegeLeast {
		c.listSieges(n)
	}
	s := c.withBits(foe, bits)
	for i := range c.waves[:c.listed] {
		w := &c.waves[i]
		s.Cores[foe] = c.State.Cores[foe]
		if w.line != nil {
			s.Cores[foe] = max(s.Cores[foe], c.wallPrice(w.line)) // it may have saved them
		}
		w.gain = c.exchange(s, foe, w)
		if w.gain > worst.gain {
			worst = *w
		}
	}
	s.Cores[foe] = max(s.Cores[foe], c.wallPrice(&c.delays[0]), c.wallPrice(&c.delays[1]))
	return worst
}

// listSieges lists the enemy's sieges by n scouts, in one wave and in two.
func (c *strategist) listSieges(n int) {
	foe := c.Player ^ 1
	stack := func(at [2]int, corner, n int) sim.Order {
		x, y := c.absolute(terminal.Side-1-mirrored(at[0], 1-corner), terminal.Side-1-at[1])
		return terminal.Spawn(terminal.Scout, x, y, n)
	}
	for corner := range c.lines {
		start, ok := c.freeStart(foe, corner)
		if !ok || !c.found[corner] {
			continue
		}
		c.addWave(stack(start, corner, n), terminal.Nothing)
		c.waves[c.listed-1].line = &c.lines[corner]
		first, second := siegeWaves[0], siegeWaves[1]
		if c.free(foe, corner, first) && c.free(foe, corner, second) {
			for _, part := range siegeParts {
				c.addWave(stack(first, corner, n*part/12), stack(second, corner, n-n*part/12))
				c.waves[c.listed-1].line = &c.delays[corner]
			}
		}
	}
}

// wallPrice returns the price of the walls of a line.
func (c *seat) wallPrice(line *siegeLine) float32 {
	return float32(float32(line.n) * c.Rules.Units[terminal.Wall].Cores)
}
