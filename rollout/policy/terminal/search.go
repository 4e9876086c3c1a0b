package terminal

import (
	"math"

	"moonfarm/env"
	tmfeatures "moonfarm/features/terminal"
	"moonfarm/rollout/policy/script"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
)

// Search is the search of Terminal. By default turtle plays on from a leaf for four turns.
// With rollout=none a leaf is evaluated by the next attacks of both seats. With 400
// simulations rollout=none won 15 of 30 games against the default, 9 of 12 by the rules of
// 2022, and 8 of 12 against two public contest bots, against which the default won 6 of 14.
// But with 8,000 and more simulations it lost 3 of 10 games against maze, the default 1 of
// 14: its evaluation assumes that both seats only save from then on.
var Search = script.Search[terminal.State, Move]{
	Doc:     "tree search over plans: a defence and an attack for each turn, as in mcts(sims=1000)",
	Options: search.Options{Simulations: 400, C: 0.4, Memory: 64 << 20, Width: 24, Depth: 64},
	Rollout: script.Words{Values: []string{"none", "maze", "turtle", "starter", "playout"}, Default: "turtle",
		Doc: "the script that plays on from a leaf, for both seats; none: what the best attack of each would take counts"},
	Opponent: script.Words{Values: []string{script.AnyMove, "maze", "turtle", "starter"}, Default: script.AnyMove,
		Doc: "what the other seat is taken to play, there and in the tree; search: any of its moves"},
	Moves: script.Words{Values: []string{"plans", "strategist"}, Default: "plans",
		Doc: "the moves at the root: plans of a defence and an attack, as below it; strategist: the orders of that script, too"},
	Horizon: script.Number{Default: 4, Doc: "turns that such a script plays on at most, then a formula judges; 0: to the end"},
	Model:   "FILE.onnx: a network judges leaves beside rollout, and one of the form orders adds whole turns to the moves (turns)",
	Turns:   true,
	Room:    room,
	New:     func(o script.SearchOptions) script.SearchGame[terminal.State, Move] { return newModel(o) },
	Kit:     script.KitOf(config.ParseRules, terminal.New, tmfeatures.Kit),
}

// room is the limit of the orders of a move.
const room = 96

// model is the search.Model of Terminal.
type model struct {
	looked    *terminal.Game // the Vector's game; it may be recording, so seat.Game is a second one of its rules
	seat      seat
	script    rule       // plays on from a leaf; nil: the next attacks are simulated
	opponent  rule       // plays the other seat; nil: any of its moves
	searching sim.Player // the searching seat
	horizon   uint32
	turn      *sim.Turn
	orders    []sim.Order    // scratch
	state     terminal.State // of a rollout
	walled    terminal.State // see threat
	plans     *plans         // of the strategist, moves at the root; nil: there are none
	root      uint32         // turn of the root
	given     [][]sim.Order  // by the numbers of Give
}

// rule gives the orders of a script.
type rule func(c *seat)

func newModel(o script.SearchOptions) *model {
	g := &model{script: rules[o.Rollout], opponent: rules[o.Opponent], horizon: uint32(o.Horizon),
		turn: sim.NewTurn(room), orders: make([]sim.Order, 0, room)}
	if o.Horizon == 0 {
		g.horizon = math.MaxInt32
	}
	if o.Moves == "strategist" {
		g.plans = newPlans()
	}
	return g
}

// rules are the scripts for rollouts and for the opponent.
var rules = map[string]rule{
	"maze": (*seat).maze, "turtle": (*seat).turtle, "starter": (*seat).starter,
	"playout": (*seat).scatter,
}

// SearchFor implements script.Opposed.
func (g *model) SearchFor(p sim.Player) { g.searching = p }

// SearchFrom implements script.Rooted.
func (g *model) SearchFrom(s *terminal.State) { g.root = s.Turn }

// foe returns the script that plays seat p; nil if the seat may play any of its moves.
func (g *model) foe(p sim.Player) rule {
	if p == g.searching {
		return nil
	}
	return g.opponent
}

// Look implements script.SearchGame.
func (g *model) Look(v env.Vector) bool {
	looked, _ := env.Rules[terminal.State](v)
	game, ok := looked.(*terminal.Game)
	if ok && g.looked != game {
		own, err := terminal.New(game.Rules())
		if err != nil {
			panic(err) // the Vector already has a game of these rules
		}
		g.looked, g.seat.Game, g.seat.Rules = game, own, own.Rules()
	}
	return ok
}

// sit sets the seat to the state as player p sees it, without orders.
func (g *model) sit(s *terminal.State, p sim.Player) *seat {
	c := &g.seat
	c.State, c.Player, c.Orders = s, p, g.orders
	c.prepare()
	return c
}

// AppendOrders implements script.SearchGame.
func (g *model) AppendOrders(dst []sim.Order, s *terminal.State, p sim.Player, m Move) []sim.Order {
	return append(dst, g.play(s, p, m)...)
}

// play returns the orders of a move of seat p.
func (g *model) play(s *terminal.State, p sim.Player, m Move) []sim.Order {
	c := g.sit(s, p)
	c.draw(m.variant)
	switch foe := g.foe(p); {
	case foe != nil:
		foe(c)
	case m.defence == defencePlan:
		g.plans.play(c, m)
	case m.defence == defenceGiven:
		c.Orders = append(c.Orders, g.given[m.number()]...)
	default:
		c.play(m)
	}
	return c.Orders
}

// Give implements script.Given.
func (g *model) Give(number int, orders []sim.Order) (Move, bool) {
	if len(orders) > room {
		return Move{}, false
	}
	for len(g.given) <= number {
		g.given = append(g.given, make([]sim.Order, 0, room))
	}
	g.given[number] = append(g.given[number][:0], orders...)
	return Move{defence: defenceGiven, start: uint8(number >> 8), variant: uint8(number)}, true
}

// number returns the number of a move of Give.
func (m Move) number() int { return int(m.start)<<8 | int(m.variant) }

// Step implements search.Model.
func (g *model) Step(s *terminal.State, a, b Move, _ *prng.Rand) (bool, uint64) {
	for p, m := range [2]Move{a, b} {
		g.turn.Set(sim.Player(p), g.play(s, sim.Player(p), m))
	}
	return g.seat.Game.Step(s, g.turn) != sim.Running, 0
}

// Result implements search.Model.
func (g *model) Result(s *terminal.State) float64 {
	return float64(g.seat.Game.Outcome(s, 0).Result)
}

// Moves implements search.Model.
func (g *model) Moves(dst []search.Choice[Move], s *terminal.State, p sim.Player) []search.Choice[Move] {
	if g.foe(p) != nil {
		return append(dst, search.Choice[Move]{Prior: 1}) // play lets the script decide
	}
	c := g.sit(s, p)
	if g.plans != nil && s.Turn == g.root {
		dst = g.plans.moves(dst, c)
		c = g.sit(s, p)
	}
	return c.moves(dst)
}

// Evaluate implements search.Model: the script plays on for both seats, to the
// end or to the horizon; without one the next attacks are simulated.
func (g *model) Evaluate(s *terminal.State, r *prng.Rand) float64 {
	g.state = *s
	if g.script == nil {
		return g.forecast(s)
	}
	for g.state.Turn-s.Turn < g.horizon {
		for p := range sim.Player(2) {
			c := g.sit(&g.state, p)
			c.Random = *r
			if foe := g.foe(p); foe != nil {
				foe(c)
			} else {
				g.script(c)
			}
			*r = c.Random
			g.turn.Set(p, c.Orders)
		}
		if g.seat.Game.Step(&g.state, g.turn) != sim.Running {
			return g.Result(&g.state)
		}
	}
	return g.formula(&g.state)
}

// formula evaluates a state by health, structures, cores and bits.
func (g *model) formula(s *terminal.State) float64 {
	d := g.worth(s, 0) - g.worth(s, 1)
	return d / (20 + max(d, -d))
}

// worth returns the value of a seat in points of health: its health, its cores, the price of
// its structures in proportion to their health, and its bits.
func (g *model) worth(s *terminal.State, p sim.Player) float64 {
	cores := float64(s.Cores[p])
	for k := range terminal.Kind(terminal.Structures) {
		list := &s.Ages[p][k]
		for _, local := range list.Cell[:list.N] {
			c := s.Cells[cells[p][local]]
			whole := g.seat.Rules.Structure(k, c.Upgraded()).Health
			cores += float64(float64(g.seat.Rules.Paid(k, c.Upgraded())) * float64(min(1, c.Health/whole)))
		}
	}
	return float64(s.Health[p]) + float64(coreWorth*cores) + float64(bitWorth*float64(s.Bits[p]))
}

// The values of a core and of a bit, in health.
const (
	coreWorth = 0.2
	bitWorth  = 0.3
)

// threatened is the part of the best attack's harm that counts: the other seat has a turn to
// react. Against a contest bot that saves its bits for one large attack on a corner, 0.6 and 1
// won 3 of 6 games each and 0.3 won none.
const threatened = 0.6

// forecast evaluates a state by the formula and by the harm that each seat's best attack with
// its bits would do at once. So bits are worth the harm of an attack with them, and structures
// the harm that they prevent.
func (g *model) forecast(s *terminal.State) float64 {
	harm := g.threat(s, 0) - g.threat(s, 1)
	d := g.worth(s, 0) - g.worth(s, 1) + float64(threatened*harm)
	return d / (20 + max(d, -d))
}

// threat returns the harm of the best attack of player p, in points of health: all scouts from
// the best start of each edge, or a siege of a corner. The walls of a siege cost nothing here:
// the attacker already has them, or removed them in the turn before.
func (g *model) threat(s *terminal.State, p sim.Player) (most float64) {
	c := g.sit(s, p)
	n := c.affords(terminal.Scout)
	if n == 0 {
		return 0
	}
	g.turn.Set(p^1, nil)
	for _, start := range c.starts(terminal.Scout) {
		if start != noStart {
			g.turn.Set(p, nil)
			most = max(most, g.takes(s, p, edgeCell(int(start), p), n))
		}
	}
	g.walled = *s
	g.walled.Cores[p] = float32(len(c.line.cells)) * c.Rules.Units[terminal.Wall].Cores
	for corner := range 2 {
		cell, ok := c.siegeStart(p, corner)
		if !ok || !c.besiege(&c.line, p, corner) {
			continue
		}
		g.turn.Set(p, nil)
		for _, at := range c.line.cells[:c.line.n] {
			x, y := bitboard.DiamondXY(int(at))
			g.turn.Add(p, terminal.Place(terminal.Wall, x, y))
		}
		most = max(most, g.takes(&g.walled, p, cell, n))
	}
	return most
}

// takes returns the harm of n scouts from a cell, after the orders that player p has given:
// health, and the price of destroyed structures. Harm that ends the game counts more.
func (g *model) takes(s *terminal.State, p sim.Player, cell, n int) float64 {
	const last = 10
	x, y := bitboard.DiamondXY(cell)
	g.turn.Add(p, terminal.Spawn(terminal.Scout, x, y, n))
	e := g.seat.Game.Simulate(&g.state, s, g.turn)
	harm := float64(e.Health[p^1]) + float64(coreWorth*float64(e.Value[p^1]))
	if harm >= float64(s.Health[p^1]) {
		harm += last
	}
	return harm
}
