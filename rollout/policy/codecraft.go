package policy

import (
	"fmt"
	"strings"

	"moonfarm/rollout/policy/squads"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// codecraftPolicies are the scripted policies of CodeCraft.
var codecraftPolicies = func() (list []entry) {
	for i := range codecraftStyles {
		e := Entry{Name: codecraftStyles[i].name, Doc: codecraftStyles[i].doc}
		list = append(list, scriptEntry("codecraft", e, codecraft.PartsOfAction*codecraft.MaxUnits, 0, func() (*codecraftView, func()) {
			c := &codecraftSeat{style: &codecraftStyles[i]}
			return &c.codecraftView, c.play
		}))
	}
	return list
}()

// codecraftStyle is what makes one script differ from the others.
type codecraftStyle struct {
	name, doc string
	rule      func(c *codecraftSeat)

	builders, ranged int16  // units to have, at most
	settled          int16  // builders to have before much is spent on an army …
	early            int16  // … but for so many ranged units
	turrets          int16  // turrets to have, at most
	home             uint64 // one of so many of the army stays home; 1: until the last quarter of the game
	leastArmy        int    // all stay home while they are fewer
	near             bool   // the army is sent a few cells ahead at a time
	breaks           bool   // ways may break through what stands in them
}

// codecraftStyles are all scripts.
var codecraftStyles = [...]codecraftStyle{
	{name: "quickstart", rule: (*codecraftSeat).quickstart,
		doc: "the original's QuickStart player: all units to the far corner, bases fill the population they provide themselves"},
	{name: "econ", rule: (*codecraftSeat).economy, builders: 45, ranged: 60, settled: 30, early: 5, home: 3, leastArmy: 12,
		doc: "up to 45 builders, houses in time, then a ranged base and a stream of ranged units to the enemy's base"},
	{name: "econ-near", rule: (*codecraftSeat).economy, builders: 45, ranged: 60, settled: 30, early: 5, home: 3, leastArmy: 12, near: true,
		doc: "econ with its army sent four cells ahead at a time"},
	{name: "econ-break", rule: (*codecraftSeat).economy, builders: 45, ranged: 60, settled: 30, early: 5, home: 3, leastArmy: 12, breaks: true,
		doc: "econ with units that break through what stands in their way"},
	{name: "turtle", rule: (*codecraftSeat).economy, builders: 40, ranged: 40, settled: 20, early: 5, turrets: 12, home: 1,
		doc: "turrets and ranged units around the base, all in repair; attacks in the last quarter of the game alone"},
	{name: "squads", rule: (*codecraftSeat).squads,
		doc: "builders spread over resources, population planned ahead, ranged units that advance where they are the stronger ones and share out their shots"},
}

// CodeCraft is a scripted policy of CodeCraft for those who step games
// themselves. It holds scratch memory: each goroutine should have its own.
type CodeCraft struct{ seat codecraftSeat }

// NewCodeCraft returns the scripted policy of that name; the error says which
// there are.
func NewCodeCraft(name string) (*CodeCraft, error) {
	var known []string
	for i := range codecraftStyles {
		if codecraftStyles[i].name == name {
			return &CodeCraft{codecraftSeat{style: &codecraftStyles[i]}}, nil
		}
		known = append(known, codecraftStyles[i].name)
	}
	return nil, fmt.Errorf("no scripted policy %q for codecraft; there are: %s", name, strings.Join(known, ", "))
}

// Name is the policy's name.
func (c *CodeCraft) Name() string { return c.seat.style.name }

// AppendOrders appends the orders that the policy gives for seat p in state s
// of game g: at most Info.MaxOrders. Entities whose stored action is what they
// should do are not named. What p does not see makes no difference.
func (c *CodeCraft) AppendOrders(dst []sim.Order, g *codecraft.Game, s *codecraft.State, p sim.Player) []sim.Order {
	c.seat.look(g, s, p, dst)
	c.seat.play()
	return c.seat.orders
}

type codecraftView = seat[codecraft.State, codecraft.Rules, *codecraft.Game]

// codecraftSeat is a state as a scripted policy sees it from one seat, and the
// orders it gives. Coordinates are those of the state but where it says "own
// frame". Lists of units hold indices of State.Units, ascending by id; each has
// room for all.
type codecraftSeat struct {
	codecraftView
	style *codecraftStyle
	squad *squads.Player // of the script of that name

	money    int32                      // left after what is planned
	saving   bool                       // money was set aside for something
	begun    [codecraft.Types]int16     // buildings that a builder is on the way to begin, by type
	housed   int32                      // population provided once all is finished that is begun
	taken    bitboard.Square            // cells where builders are on their way to
	free     [codecraft.MaxUnits]bool   // of builders: has nothing to do but gather
	builders codecraftList              //
	army     codecraftList              // other units that move
	fixed    codecraftList              // all that does not move
	works    [maxWorks]codecraftWork    // what is to be repaired
	nWorks   int                        //
	foes     [sim.MaxPlayers]sim.Player // the other seats, in the order in which they are attacked
	nFoes    int                        //
	sight    bitboard.Square            // scratch of site, as is the next
	open     bitboard.Square
}

// codecraftList is a list of units.
type codecraftList struct {
	n  int
	at [codecraft.MaxUnits]uint16
}

func (l *codecraftList) add(i int) {
	l.at[l.n] = uint16(i)
	l.n++
}

// all returns the units of the list.
func (l *codecraftList) all() []uint16 { return l.at[:l.n] }

// play gives the orders of the style.
func (c *codecraftSeat) play() {
	c.prepare()
	c.style.rule(c)
}

// squads plays as the package of that name.
func (c *codecraftSeat) squads() {
	if c.squad == nil {
		c.squad = new(squads.Player)
	}
	c.orders = c.squad.AppendOrders(c.orders, c.game, c.state, c.player)
}

// prepare makes the seat ready for the orders of a tick.
func (c *codecraftSeat) prepare() {
	c.nFoes = 0
	for q := codecraftNext[c.player]; q != c.player; q = codecraftNext[q] {
		if int32(q) < c.rules.Players {
			c.foes[c.nFoes] = q
			c.nFoes++
		}
	}
}

// codecraftNext goes around the corners of the map.
var codecraftNext = [sim.MaxPlayers]sim.Player{0: 2, 2: 1, 1: 3, 3: 0}

// give makes a the stored action of unit i, if it is not that already.
func (c *codecraftSeat) give(i int, a codecraft.Action) {
	if old := &c.state.Acts[i]; *old != a && (a.Parts != codecraft.Given || old.Parts != 0) {
		c.orders = a.AppendOrders(c.orders, c.state.Units[i].ID)
	}
}

// moveTo adds a move to a cell of the map to an action, as close as can be.
func (c *codecraftSeat) moveTo(a codecraft.Action, x, y int) codecraft.Action {
	how := codecraft.FindClosest
	if c.style.breaks {
		how |= codecraft.BreakThrough
	}
	a.AddMove(x, y, how)
	return a
}

// autoAttack is the action to attack the valid types, and to chase them so far.
func autoAttack(reach int32, valid codecraft.TypeSet) (a codecraft.Action) {
	a.AddAuto(int(reach), valid)
	return a
}

// resourcesToTake are the types that builders attack.
const resourcesToTake = codecraft.TypeSet(1 << codecraft.Resource)

// quickstart plays as the original's player of that name, which looks at
// nothing but the number of its own entities: every movable unit goes to the
// far corner of its own frame through whatever stands in the way; every other
// entity that can build builds the first type it can beside its upper right
// corner, while the population it provides itself is enough for one more of
// that type. All attack, builders resources alone, within their own sight.
// Entities that are not active yet get their action too.
func (c *codecraftSeat) quickstart() {
	s, p := c.state, c.player
	x, y := codecraft.TurnBack(p, codecraft.Side-1, codecraft.Side-1, 1)
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != p {
			continue
		}
		t := &c.rules.Types[u.Type]
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
			built := &c.rules.Types[k]
			if (int32(s.Count[p][k])+1)*built.PopUse > t.PopProvide {
				break
			}
			// The place is told in the own frame, where it may lie outside of
			// the map or be a larger square than one cell.
			bx, by := codecraft.Turn(p, int(u.X), int(u.Y), int(t.Size))
			bx, by = bx+int(t.Size), by+int(t.Size)-1
			if size := int(built.Size); codecraft.OnMap(bx, by, size) {
				bx, by = codecraft.TurnBack(p, bx, by, size)
			} else {
				bx = -1
			}
			a.AddBuild(k, bx, by)
		}
		c.give(i, a)
	}
}
