package policy

import (
	"fmt"
	"strings"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// codecraftPolicies are the scripted policies of CodeCraft.
var codecraftPolicies = craftEntries()

// craftStyle is what makes one script differ from the others.
type craftStyle struct {
	name, doc string
	rule      func(c *craftSeat)

	builders, ranged int16  // units to have, at most
	settled          int16  // builders to have before much is spent on an army …
	early            int16  // … but for so many ranged units
	turrets          int16  // turrets to have, at most
	home             uint64 // one of so many of the army stays home; 1: until the last quarter of the game
	muster           int    // all stay home while they are fewer
	near             bool   // the army is sent a few cells ahead at a time
	breaks           bool   // ways may break through what stands in them
}

// craftStyles are all scripts.
var craftStyles = [...]craftStyle{
	{name: "quickstart", rule: (*craftSeat).quickstart,
		doc: "the original's QuickStart player: all units to the far corner, bases fill the population they provide themselves"},
	{name: "econ", rule: (*craftSeat).colony, builders: 45, ranged: 60, settled: 30, early: 5, home: 3, muster: 12,
		doc: "up to 45 builders, houses in time, then a ranged base and a stream of ranged units to the enemy's base"},
	{name: "econ-near", rule: (*craftSeat).colony, builders: 45, ranged: 60, settled: 30, early: 5, home: 3, muster: 12, near: true,
		doc: "econ with its army sent four cells ahead at a time"},
	{name: "econ-break", rule: (*craftSeat).colony, builders: 45, ranged: 60, settled: 30, early: 5, home: 3, muster: 12, breaks: true,
		doc: "econ with units that break through what stands in their way"},
	{name: "turtle", rule: (*craftSeat).colony, builders: 40, ranged: 40, settled: 20, early: 5, turrets: 12, home: 1,
		doc: "turrets and ranged units around the base, all in repair; attacks in the last quarter of the game alone"},
}

// craftEntries lists the styles as policies.
func craftEntries() (list []entry) {
	for i := range craftStyles {
		style := &craftStyles[i]
		list = append(list, entry{Entry{style.name, style.doc}, func(s env.Spec) (rollout.Policy, error) {
			if s.Info.Name != "codecraft" {
				return nil, fmt.Errorf("%s plays codecraft, not %s", style.name, s.Info.Name)
			}
			if want := codecraft.PartsOfAction * codecraft.MaxUnits; s.Info.MaxOrders < want {
				return nil, fmt.Errorf("%s needs room for %d orders, not %d", style.name, want, s.Info.MaxOrders)
			}
			return &craftPolicy{player: CodeCraft{craftSeat{style: style}}, seats: int32(s.Info.Players)}, nil
		}})
	}
	return list
}

// craftPolicy is a CodeCraft player at the seats of a Vector.
type craftPolicy struct {
	player CodeCraft
	seats  int32
}

func (c *craftPolicy) Name() string { return c.player.Name() }

func (c *craftPolicy) Wants() env.Want { return 0 }

func (c *craftPolicy) Act(v env.Vector, b *env.Batch, rows []int32) {
	states, ok := env.States[codecraft.State](v)
	rules, _ := env.Rules[codecraft.State](v)
	game, same := rules.(*codecraft.Game)
	if !ok || !same {
		panic("policy: " + c.Name() + " plays no " + v.Spec().Info.Name)
	}
	room := len(b.Orders) / b.Rows
	for _, row := range rows {
		at := int(row) * room
		orders := c.player.AppendOrders(b.Orders[at:at:at+room], game, &states[row/c.seats], sim.Player(row%c.seats))
		b.OrderLen[row] = int32(len(orders))
	}
}

// CodeCraft is a scripted policy of CodeCraft for those who step games
// themselves. It holds scratch memory: each goroutine should have its own.
type CodeCraft struct{ seat craftSeat }

// NewCodeCraft returns the scripted policy of that name; the error says which
// there are.
func NewCodeCraft(name string) (*CodeCraft, error) {
	var known []string
	for i := range craftStyles {
		if craftStyles[i].name == name {
			return &CodeCraft{craftSeat{style: &craftStyles[i]}}, nil
		}
		known = append(known, craftStyles[i].name)
	}
	return nil, fmt.Errorf("no scripted policy %q for codecraft; there are: %s", name, strings.Join(known, ", "))
}

// Name is the policy's name.
func (c *CodeCraft) Name() string { return c.seat.style.name }

// AppendOrders appends the orders that the policy gives for seat p in state s
// of game g: at most Info.MaxOrders. Entities whose stored action is what they
// should do are not named. What p does not see makes no difference.
func (c *CodeCraft) AppendOrders(dst []sim.Order, g *codecraft.Game, s *codecraft.State, p sim.Player) []sim.Order {
	seat := &c.seat
	seat.look(g, s, p, dst)
	seat.style.rule(seat)
	return seat.orders
}

// craftSeat is a state as a scripted policy sees it from one seat, and the
// orders it gives. Coordinates are those of the state but where it says "own
// frame". Lists of units hold indices of State.Units, ascending by id; each has
// room for all.
type craftSeat struct {
	style  *craftStyle
	game   *codecraft.Game
	rules  codecraft.Rules
	state  *codecraft.State
	player sim.Player
	orders []sim.Order

	money    int32                      // left after what is planned
	saving   bool                       // money was set aside for something
	begun    [codecraft.Types]int16     // buildings that a builder is on the way to begin, by type
	housed   int32                      // population provided once all is finished that is begun
	taken    bitboard.Square            // cells where builders are on their way to
	free     [codecraft.MaxUnits]bool   // of builders: has nothing to do but gather
	builders craftList                  //
	army     craftList                  // other units that move
	fixed    craftList                  // all that does not move
	works    [maxWorks]craftWork        // what is to be repaired
	nWorks   int                        //
	foes     [sim.MaxPlayers]sim.Player // the other seats, in the order in which they are attacked
	nFoes    int                        //
	sight    bitboard.Square            // scratch of site, as are the next two
	open     bitboard.Square
	spare    bitboard.Square
}

// craftList is a list of units.
type craftList struct {
	n  int
	at [codecraft.MaxUnits]uint16
}

func (l *craftList) add(i int) {
	l.at[l.n] = uint16(i)
	l.n++
}

// all returns the units of the list.
func (l *craftList) all() []uint16 { return l.at[:l.n] }

// look turns the seat to a state.
func (c *craftSeat) look(g *codecraft.Game, s *codecraft.State, p sim.Player, orders []sim.Order) {
	if c.game != g {
		c.game, c.rules = g, g.Rules()
	}
	c.state, c.player, c.orders = s, p, orders
	c.nFoes = 0
	for q := craftNext[p]; q != p; q = craftNext[q] {
		if int32(q) < c.rules.Players {
			c.foes[c.nFoes] = q
			c.nFoes++
		}
	}
}

// craftNext goes around the corners of the map.
var craftNext = [sim.MaxPlayers]sim.Player{0: 2, 2: 1, 1: 3, 3: 0}

// give makes a the stored action of unit i, if it is not that already.
func (c *craftSeat) give(i int, a codecraft.Action) {
	if old := &c.state.Acts[i]; *old != a && (a.Parts != codecraft.Given || old.Parts != 0) {
		c.orders = a.AppendOrders(c.orders, c.state.Units[i].ID)
	}
}

// moveTo adds a move to a cell of the map to an action, as close as can be.
func (c *craftSeat) moveTo(a codecraft.Action, x, y int) codecraft.Action {
	a.Parts |= codecraft.Given | codecraft.HasMove | codecraft.FindClosest
	if c.style.breaks {
		a.Parts |= codecraft.BreakThrough
	}
	a.MoveX, a.MoveY = uint8(x), uint8(y)
	return a
}

// autoAttack is the action to attack the valid types, and to chase them so far.
func autoAttack(reach int32, valid codecraft.TypeSet) codecraft.Action {
	return codecraft.Action{Parts: codecraft.Given | codecraft.HasAuto, Range: uint16(reach), Valid: valid}
}

// Types that auto attack is for.
const (
	allButResource  = codecraft.EveryType &^ (1 << codecraft.Resource)
	resourcesToTake = codecraft.TypeSet(1 << codecraft.Resource)
)

// buildAt is the action to build one of type t.
func buildAt(t codecraft.Type, x, y int) codecraft.Action {
	return codecraft.Action{Parts: codecraft.Given | codecraft.HasBuild, BuildType: t, BuildX: uint8(x), BuildY: uint8(y)}
}

// quickstart plays as the original's player of that name, which looks at
// nothing but the number of its own entities: every movable unit goes to the
// far corner of its own frame through whatever stands in the way; every other
// entity that can build builds the first type it can beside its upper right
// corner, while the population it provides itself is enough for one more of
// that type. All attack, builders resources alone, within their own sight.
// Entities that are not active yet get their action too.
func (c *craftSeat) quickstart() {
	s, p := c.state, c.player
	x, y := codecraft.TurnBack(p, codecraft.Side-1, codecraft.Side-1, 1)
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != p {
			continue
		}
		t := &c.rules.Types[u.Type]
		valid := allButResource
		if u.Type == codecraft.BuilderUnit {
			valid = resourcesToTake
		}
		a := autoAttack(t.Sight, valid)
		switch {
		case t.CanMove:
			a = c.moveTo(a, x, y)
			a.Parts |= codecraft.BreakThrough
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
			a = c.quickBuild(a, k, bx, by)
		}
		c.give(i, a)
	}
}

// quickBuild adds to an action that one of type k is built at (x, y) of the
// own frame.
func (c *craftSeat) quickBuild(a codecraft.Action, k codecraft.Type, x, y int) codecraft.Action {
	size := int(c.rules.Types[k].Size)
	a.Parts |= codecraft.HasBuild
	a.BuildType, a.BuildX, a.BuildY = k, 255, 255
	if x+size <= codecraft.Side && y+size <= codecraft.Side {
		x, y = codecraft.TurnBack(c.player, x, y, size)
		a.BuildX, a.BuildY = uint8(x), uint8(y)
	}
	return a
}
