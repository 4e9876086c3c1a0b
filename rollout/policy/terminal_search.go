package policy

import (
	"fmt"
	"math"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// terminalSearches is the search of Terminal.
var terminalSearches = entry{
	Entry: Entry{Name: "mcts", Doc: "tree search over plans: a defence and an attack for each turn, as in mcts(sims=1000)", Options: []Option{
		{optionSims, "1 … 1000000: simulations a turn (400)"},
		{optionMS, msDoc},
		{optionRollout, "maze, turtle, starter, playout: the script that plays on from a leaf, for both seats (turtle)"},
		{optionOpponent, "search, maze, turtle, starter: what the other seat is taken to play, there and in the tree; search: any of its moves (search)"},
		{optionHorizon, "0 … 1000000: turns that it plays on at most, then a formula judges; 0: to the end (4)"},
		{optionNode, "puct, regret: how moves are picked in the tree; regret draws its move from a mixed strategy (puct)"},
		{optionC, "0 … 1000: weight of exploration (0.4)"},
		{optionMemory, "1 … 2047: MiB of the tree at most; what does not fit is not stored (64)"},
	}},
	search: newTerminalSearch,
	defaults: searchOptions{
		Options: search.Options{Simulations: 400, C: 0.4, Memory: 64 << 20, Width: 16, Depth: 64, Late: true},
		rollout: "turtle", opponent: anyOpponent, horizon: 4,
	},
}

// terminalRoom is the most orders of a move.
const terminalRoom = 96

// terminalSearch is the game as a search sees it.
type terminalSearch struct {
	looked    *terminal.Game // the Vector's; as that may be recording, seat.game is another of its rules
	seat      terminalSeat
	script    terminalRule // that plays on from a leaf
	opponent  terminalRule // that plays the other seat; nil: none
	searching sim.Player   // the seat that the search is for
	horizon   uint32
	turn      *sim.Turn
	orders    []sim.Order    // scratch
	state     terminal.State // of a rollout
}

// terminalRule gives the orders of a script.
type terminalRule func(c *terminalSeat)

func newTerminalSearch(o searchOptions, name string, s env.Spec) (rollout.Policy, error) {
	if s.Info.Name != "terminal" {
		return nil, fmt.Errorf("mcts plays terminal, not %s", s.Info.Name)
	}
	if s.Info.MaxOrders < terminalRoom {
		return nil, fmt.Errorf("mcts needs room for %d orders, not %d", terminalRoom, s.Info.MaxOrders)
	}
	return makeSearcher[terminal.State, terminalMove](name, o.Options, makeTerminalSearch(o)), nil
}

func makeTerminalSearch(o searchOptions) *terminalSearch {
	g := &terminalSearch{script: terminalRollouts[o.rollout], opponent: terminalRollouts[o.opponent], horizon: uint32(o.horizon),
		turn: sim.NewTurn(terminalRoom), orders: make([]sim.Order, 0, terminalRoom)}
	if o.horizon == 0 {
		g.horizon = math.MaxInt32
	}
	return g
}

// terminalRollouts are the scripts that play on from a leaf or as the opponent.
var terminalRollouts = map[string]terminalRule{
	"maze": (*terminalSeat).maze, "turtle": (*terminalSeat).turtle, "starter": (*terminalSeat).starter,
	"playout": (*terminalSeat).scatter,
}

// searchFor implements opposed.
func (g *terminalSearch) searchFor(p sim.Player) { g.searching = p }

// foe is the script that plays seat p, nil if that plays any of its moves.
func (g *terminalSearch) foe(p sim.Player) terminalRule {
	if p == g.searching {
		return nil
	}
	return g.opponent
}

// look implements searchGame.
func (g *terminalSearch) look(v env.Vector) bool {
	rules, _ := env.Rules[terminal.State](v)
	game, ok := rules.(*terminal.Game)
	if ok && g.looked != game {
		own, err := terminal.New(game.Rules())
		if err != nil {
			panic(err) // there is a game of these rules
		}
		g.looked, g.seat.game, g.seat.rules = game, own, own.Rules()
	}
	return ok
}

// sit makes the seat see the state as player p, with no orders given.
func (g *terminalSearch) sit(s *terminal.State, p sim.Player) *terminalSeat {
	c := &g.seat
	c.state, c.player, c.orders = s, p, g.orders
	c.prepare()
	return c
}

// appendOrders implements searchGame.
func (g *terminalSearch) appendOrders(dst []sim.Order, s *terminal.State, p sim.Player, m terminalMove) []sim.Order {
	return append(dst, g.play(s, p, m)...)
}

// play gives the orders of a move of seat p.
func (g *terminalSearch) play(s *terminal.State, p sim.Player, m terminalMove) []sim.Order {
	c := g.sit(s, p)
	c.draw(m.variant)
	if foe := g.foe(p); foe != nil {
		foe(c)
	} else {
		c.play(m)
	}
	return c.orders
}

// Step implements search.Model.
func (g *terminalSearch) Step(s *terminal.State, a, b terminalMove, _ *prng.Rand) (bool, uint64) {
	for p, m := range [2]terminalMove{a, b} {
		g.turn.Set(sim.Player(p), g.play(s, sim.Player(p), m))
	}
	return g.seat.game.Step(s, g.turn) != sim.Running, 0
}

// Result implements search.Model.
func (g *terminalSearch) Result(s *terminal.State) float64 {
	return float64(g.seat.game.Outcome(s, 0).Result)
}

// Moves implements search.Model.
func (g *terminalSearch) Moves(dst []search.Choice[terminalMove], s *terminal.State, p sim.Player) []search.Choice[terminalMove] {
	if g.foe(p) != nil {
		return append(dst, search.Choice[terminalMove]{Prior: 1}) // whatever the script does
	}
	return g.sit(s, p).moves(dst)
}

// Evaluate implements search.Evaluator: the script plays on for both seats, to the
// end or to the horizon.
func (g *terminalSearch) Evaluate(s *terminal.State, _ *[2][]search.Choice[terminalMove], r *prng.Rand) float64 {
	g.state = *s
	for g.state.Turn-s.Turn < g.horizon {
		for p := range sim.Player(2) {
			c := g.sit(&g.state, p)
			c.random = *r
			if foe := g.foe(p); foe != nil {
				foe(c)
			} else {
				g.script(c)
			}
			*r = c.random
			g.turn.Set(p, c.orders)
		}
		if g.seat.game.Step(&g.state, g.turn) != sim.Running {
			return g.Result(&g.state)
		}
	}
	return g.formula(&g.state)
}

// formula judges a state by health, structures, cores and bits.
func (g *terminalSearch) formula(s *terminal.State) float64 {
	d := g.worth(s, 0) - g.worth(s, 1)
	return d / (20 + max(d, -d))
}

// worth is how well a seat stands, in health: its own, its cores and what its
// structures cost, those damaged in part, and its bits.
func (g *terminalSearch) worth(s *terminal.State, p sim.Player) float64 {
	cores := float64(s.Cores[p])
	for k := range terminal.Kind(terminal.Structures) {
		list := &s.Ages[p][k]
		for _, local := range list.Cell[:list.N] {
			c := s.Cells[terminalCells[p][local]]
			whole := g.seat.rules.Structure(k, c.Upgraded()).Health
			cores += float64(float64(g.seat.rules.Paid(k, c.Upgraded())) * float64(min(1, c.Health/whole)))
		}
	}
	return float64(s.Health[p]) + float64(coreWorth*cores) + float64(bitWorth*float64(s.Bits[p]))
}

// What a core and a bit are worth in health.
const (
	coreWorth = 0.2
	bitWorth  = 0.3
)
