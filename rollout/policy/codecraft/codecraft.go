// Package codecraft has the scripts of CodeCraft, listed in Scripts. They use
// internal/toolbox; the strongest script is in package squads.
//
// None of them draws random numbers. A rule that does needs env.WantRowSeed among the
// wants that Scripts passes to script.New; without it View.Random is not seeded.
package codecraft

import (
	"fmt"
	"strings"

	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"moonfarm/rollout/policy/codecraft/squads"
	"moonfarm/rollout/policy/script"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// Scripts are the scripted policies of CodeCraft.
var Scripts = func() (list []script.Script) {
	for i := range styles {
		list = append(list, script.New(styles[i].name, styles[i].doc, codecraft.PartsOfAction*codecraft.MaxUnits, 0, func() (*toolbox.View, func()) {
			c := &seat{style: &styles[i]}
			return &c.View, c.play
		}))
	}
	return list
}()

// Portfolio is the portfolio greedy search of CodeCraft.
var Portfolio = script.Portfolio[codecraft.State]{
	Doc:      "portfolio greedy search: squads-forward, with better orders for fighters near enemies, as in pgs(sims=200)",
	Playouts: 400,
	Horizon:  script.Number{Default: 4, Doc: "ticks of a playout"},
	Room:     codecraft.PartsOfAction * codecraft.MaxUnits,
	New: func(horizon int) script.Planner[codecraft.State] {
		return squads.NewSearcher(horizon)
	},
}

// style holds the parameters of a script.
type style struct {
	name, doc string
	rule      func(c *seat)

	builders, ranged int16  // limits of the units to have
	settled          int16  // number of builders before which the army has at most `early` units
	early            int16  // limit of the ranged units until there are `settled` builders
	turrets          int16  // limit of the turrets to have
	home             uint64 // one of this many units of the army stays home; 1: all, until the last quarter of the game
	leastArmy        int    // a smaller army stays home
	near             bool   // the army is sent a few cells ahead at a time
	breaks           bool   // units break through obstacles in their way
	forward          bool   // see squads.New
}

// styles are all scripts.
var styles = [...]style{
	{name: "quickstart", rule: (*seat).quickstart,
		doc: "the original's QuickStart player: all units to the far corner, bases fill the population they provide themselves"},
	{name: "econ", rule: (*seat).economy, builders: 45, ranged: 60, settled: 30, early: 5, home: 3, leastArmy: 12,
		doc: "up to 45 builders, houses in time, then a ranged base and a stream of ranged units to the enemy's base"},
	{name: "econ-near", rule: (*seat).economy, builders: 45, ranged: 60, settled: 30, early: 5, home: 3, leastArmy: 12, near: true,
		doc: "econ with its army sent four cells ahead at a time"},
	{name: "econ-break", rule: (*seat).economy, builders: 45, ranged: 60, settled: 30, early: 5, home: 3, leastArmy: 12, breaks: true,
		doc: "econ with units that break through what stands in their way"},
	{name: "turtle", rule: (*seat).economy, builders: 40, ranged: 40, settled: 20, early: 5, turrets: 12, home: 1,
		doc: "turrets and ranged units around the base, all in repair; attacks in the last quarter of the game alone"},
	{name: "squads", rule: (*seat).squads,
		doc: "builders spread over resources, population planned ahead, ranged units that advance where they are stronger and share out their shots"},
	{name: "squads-forward", rule: (*seat).squads, forward: true,
		doc: "squads with earlier houses and a ranged base nearer to the middle of the map"},
}

// ScriptPlayer plays a script, for callers that step games themselves. It holds scratch
// memory, so each goroutine needs its own.
type ScriptPlayer struct{ seat seat }

// NewScriptPlayer returns a player of the script of that name. The error for an unknown name
// lists the scripts.
func NewScriptPlayer(name string) (*ScriptPlayer, error) {
	var known []string
	for i := range styles {
		if styles[i].name == name {
			return &ScriptPlayer{seat{style: &styles[i]}}, nil
		}
		known = append(known, styles[i].name)
	}
	return nil, fmt.Errorf("no scripted policy %q for codecraft; there are: %s", name, strings.Join(known, ", "))
}

// Name returns the script's name.
func (c *ScriptPlayer) Name() string { return c.seat.style.name }

// AppendOrders appends the orders that the script gives for seat p in state s
// of game g: at most Info.MaxOrders. Entities whose stored action is already the right one get
// no order. The orders do not depend on entities that p does not see.
func (c *ScriptPlayer) AppendOrders(dst []sim.Order, g *codecraft.Game, s *codecraft.State, p sim.Player) []sim.Order {
	c.seat.Look(g, s, p, dst)
	c.seat.play()
	return c.seat.Orders
}

// seat is a state as a script sees it from one seat, and the orders it gives. Coordinates are
// the map's unless a comment says "own frame".
type seat struct {
	toolbox.Holdings
	style *style
	squad *squads.Commander // of the scripts squads and squads-forward

	begun  [codecraft.Types]int16     // buildings that a builder is on the way to begin, by type
	taken  bitboard.Square            // destinations of builders
	free   [codecraft.MaxUnits]bool   // of builders: has no work but to gather
	works  [maxWorks]work             // buildings to be repaired
	nWorks int                        //
	foes   [sim.MaxPlayers]sim.Player // the other seats, in the order in which they are attacked
	nFoes  int                        //
	sight  bitboard.Square            // scratch of site, as is the next
	open   bitboard.Square
}

// play gives the orders of the style.
func (c *seat) play() {
	c.prepare()
	c.style.rule(c)
}

// squads gives the orders of package squads.
func (c *seat) squads() {
	if c.squad == nil {
		c.squad = squads.New(c.style.forward)
	}
	c.Orders = c.squad.AppendOrders(c.Orders, c.Game, c.State, c.Player)
}

// prepare lists the enemies for the orders of a tick.
func (c *seat) prepare() {
	c.nFoes = 0
	for q := next[c.Player]; q != c.Player; q = next[q] {
		if int32(q) < c.Rules.Players {
			c.foes[c.nFoes] = q
			c.nFoes++
		}
	}
}

// next goes around the corners of the map.
var next = [sim.MaxPlayers]sim.Player{0: 2, 2: 1, 1: 3, 3: 0}

// moveTo adds a move to a cell of the map, or to the nearest cell that can be reached, to an
// action.
func (c *seat) moveTo(a codecraft.Action, x, y int) codecraft.Action {
	how := codecraft.FindClosest
	if c.style.breaks {
		how |= codecraft.BreakThrough
	}
	a.AddMove(x, y, how)
	return a
}

// autoAttack returns the action to attack the valid types, and to chase them up to a distance.
func autoAttack(reach int32, valid codecraft.TypeSet) (a codecraft.Action) {
	a.AddAuto(int(reach), valid)
	return a
}

// resourcesToTake are the types that builders attack.
const resourcesToTake = codecraft.TypeSet(1 << codecraft.Resource)

// quickstart plays like the original's player of that name, which reads only
// its own entities: every movable unit goes to the far corner of its own frame
// and breaks through obstacles; every other entity that can build builds the
// first type it can beside its upper right corner, while the population that it
// provides itself suffices for one more of that type. All entities attack within
// their own sight, builders only resources. Entities that are not active yet
// get their action, too.
func (c *seat) quickstart() {
	s, p := c.State, c.Player
	x, y := codecraft.TurnBack(p, codecraft.Side-1, codecraft.Side-1, 1)
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != p {
			continue
		}
		t := &c.Rules.Types[u.Type]
		valid := codecraft.AllButResource
		if u.Type == codecraft.BuilderUnit {
			valid = resourcesToTake
		}
		a := autoAttack(t.Sight, valid)
		switch {
		case t.CanMove:
			a.AddMove(x, y, codecraft.FindClosest|codecraft.BreakThrough)
		case t.CanBuild && t.Builds.N > 0:
			k := t.Builds.T[0]
			built := &c.Rules.Types[k]
			if (int32(s.Count[p][k])+1)*built.PopUse > t.PopProvide {
				break
			}
			// The place is computed in the own frame. It may lie outside of the
			// map or be larger than one cell.
			bx, by := codecraft.Turn(p, int(u.X), int(u.Y), int(t.Size))
			bx, by = bx+int(t.Size), by+int(t.Size)-1
			if size := int(built.Size); codecraft.OnMap(bx, by, size) {
				bx, by = codecraft.TurnBack(p, bx, by, size)
			} else {
				bx = -1
			}
			a.AddBuild(k, bx, by)
		}
		c.Give(i, a)
	}
}
