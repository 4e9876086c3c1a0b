package policy

import (
	"fmt"
	"math"
	"math/bits"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// towerdefenceSearches is the search of Tower Defence. More simulations than the
// default do not make it stronger: 2000 won 17 of 60 games against 400. The weight of
// exploration that is best falls with them: 800 won 10 of 30 games against 200 with
// 0.4 and 22 of 40 with 0.03, while 200 with 0.03 won 5 of 40 against 0.4.
var towerdefenceSearches = entry{
	Entry: Entry{Name: "mcts", Doc: "tree search: looks ahead with simulations of the game, as in mcts(sims=2000)", Options: []Option{
		{optionSims, "1 … 1000000: simulations a turn (400)"},
		{optionMS, msDoc},
		{optionRollout, "econ, turtle, rush, tesla, playout: the script that plays on from a leaf, for both seats (econ)"},
		{optionOpponent, "search, econ, turtle, rush, tesla: what the other seat is taken to play, there and in the tree; search: any of its moves (search)"},
		{optionHorizon, "0 … 1000000: turns that it plays on at most, then a formula judges; 0: to the end (30)"},
		{optionNode, "puct, regret: how moves are picked in the tree; regret draws its move from a mixed strategy (puct)"},
		{optionC, "0 … 1000: weight of exploration (0.4)"},
		{optionMemory, "1 … 2047: MiB of the tree at most; what does not fit is not stored (64)"},
	}},
	search: newTowerdefenceSearch,
	defaults: searchOptions{
		Options: search.Options{Simulations: 400, C: 0.4, Memory: 64 << 20, Width: 32, Depth: 64, Late: true},
		rollout: "econ", opponent: anyOpponent, horizon: 30,
	},
}

// towerdefenceSearch is the game as a search sees it.
type towerdefenceSearch struct {
	seat      towerdefenceSeat
	script    towerdefenceRule // that plays on from a leaf; nil: Game.Playout
	opponent  towerdefenceRule // that plays the other seat; nil: none
	searching sim.Player       // the seat that the search is for
	horizon   int32
	cheapest  int32              // the least energy for which there is anything to order
	state     towerdefence.State // of a rollout
}

// towerdefenceRule gives the order of a script.
type towerdefenceRule func(c *towerdefenceSeat) sim.Order

func newTowerdefenceSearch(o searchOptions, name string, s env.Spec) (rollout.Policy, error) {
	if s.Info.Name != "towerdefence" {
		return nil, fmt.Errorf("mcts plays towerdefence, not %s", s.Info.Name)
	}
	g := &towerdefenceSearch{horizon: int32(o.horizon), script: towerdefenceRollouts[o.rollout], opponent: towerdefenceRollouts[o.opponent]}
	if g.opponent != nil && g.script == nil {
		g.script = (*towerdefenceSeat).playout
	}
	if o.horizon == 0 {
		g.horizon = math.MaxInt32 >> 1
	}
	return makeSearcher[towerdefence.State, sim.Order](name, o.Options, g), nil
}

// searchFor implements opposed.
func (g *towerdefenceSearch) searchFor(p sim.Player) { g.searching = p }

// towerdefenceRollouts are the scripts that play on from a leaf or as the opponent;
// playout is none.
var towerdefenceRollouts = map[string]towerdefenceRule{
	"econ": (*towerdefenceSeat).econ, "turtle": (*towerdefenceSeat).turtle,
	"rush": (*towerdefenceSeat).rush, "tesla": (*towerdefenceSeat).tesla,
}

// look implements searchGame.
func (g *towerdefenceSearch) look(v env.Vector) bool {
	rules, _ := env.Rules[towerdefence.State](v)
	game, ok := rules.(*towerdefence.Game)
	if ok && g.seat.game != game {
		g.seat.game, g.seat.rules = game, game.Rules()
		r := &g.seat.rules
		g.cheapest = int32(r.CurtainPrice)
		for _, k := range towerdefence.Kinds {
			g.cheapest = min(g.cheapest, int32(r.Buildings[k].Price))
		}
	}
	return ok
}

// appendOrders implements searchGame.
func (g *towerdefenceSearch) appendOrders(dst []sim.Order, _ *towerdefence.State, _ sim.Player, m sim.Order) []sim.Order {
	return append(dst, m)
}

// turn makes the seat see the state as player p.
func (g *towerdefenceSearch) turn(s *towerdefence.State, p sim.Player) *towerdefenceSeat {
	c := &g.seat
	c.state, c.player = s, p
	c.me, c.foe = &s.Half[p], &s.Half[p^1]
	return c
}

// Step implements search.Model.
func (g *towerdefenceSearch) Step(s *towerdefence.State, a, b sim.Order, _ *prng.Rand) (bool, uint64) {
	return g.seat.game.Play(s, a, b) != sim.Running, 0
}

// Result implements search.Model.
func (g *towerdefenceSearch) Result(s *towerdefence.State) float64 {
	return float64(g.seat.game.Outcome(s, 0).Result)
}

// Moves implements search.Model: what econ would do; nothing; an energy building
// where the enemy shoots least; in each row an attack tower, up to two walls, as near
// to the enemy as they are built, and an energy building at the back; a tesla tower;
// the curtain. What stands is never taken away.
func (g *towerdefenceSearch) Moves(dst []search.Choice[sim.Order], s *towerdefence.State, p sim.Player) []search.Choice[sim.Order] {
	c := g.turn(s, p)
	if c.me.Energy < g.cheapest {
		return append(dst, search.Choice[sim.Order]{Move: towerdefence.Nothing, Prior: 1})
	}
	c.random = prng.New(uint64(s.Round)<<1 | uint64(p))
	if g.opponent != nil && p != g.searching {
		return append(dst, search.Choice[sim.Order]{Move: g.opponent(c), Prior: 1})
	}
	dst = append(dst, search.Choice[sim.Order]{Move: c.econ(), Prior: 1}) // which surveys the rows
	if dst[0].Move != towerdefence.Nothing {
		dst = append(dst, search.Choice[sim.Order]{Move: towerdefence.Nothing, Prior: 1})
	}
	first := dst[0].Move
	add := func(o sim.Order, prior float64) {
		if o != towerdefence.Nothing && o != first {
			dst = append(dst, search.Choice[sim.Order]{Move: o, Prior: prior})
		}
	}
	safe := c.placeEnergy()
	add(safe, 1.5)
	for y := range c.rows {
		add(c.foremost(towerdefence.Attack, y, midColumns), 0.75)
		if c.rows[y].walls < 2 {
			add(c.foremost(towerdefence.Defense, y, frontColumns), 0.75)
		}
		if energy := c.foremost(towerdefence.Energy, y, backColumns); energy != safe {
			add(energy, 0.3)
		}
	}
	if c.affords(towerdefence.Tesla) {
		add(c.placeTesla(), 0.75)
	}
	if c.legal.Curtain() {
		add(towerdefence.Curtain, 0.75)
	}
	return dst
}

// foremost is the order to place kind k on the cell of a row and of some columns that
// is nearest to the enemy, or Nothing.
func (c *towerdefenceSeat) foremost(k towerdefence.Kind, y int, columns uint64) sim.Order {
	cell := bits.Len64(columns&(rowMask<<(8*y))&c.legal.Build(k)) - 1
	if cell < 0 {
		return towerdefence.Nothing
	}
	return towerdefence.Build(k, cell%towerdefence.Width, cell/towerdefence.Width)
}

// Evaluate implements search.Evaluator: the script plays on for both seats, to the
// end or to the horizon.
func (g *towerdefenceSearch) Evaluate(s *towerdefence.State, _ *[2][]search.Choice[sim.Order], r *prng.Rand) float64 {
	g.state = *s
	last := s.Round + g.horizon
	game := g.seat.game
	if g.script == nil {
		for g.state.Round < last {
			if game.Play(&g.state, game.Playout(&g.state, 0, r), game.Playout(&g.state, 1, r)) != sim.Running {
				return g.Result(&g.state)
			}
		}
		return g.formula(&g.state)
	}
	g.seat.random = *r
	for g.state.Round < last {
		var orders [2]sim.Order
		for p := range orders {
			if g.state.Half[p].Energy >= g.cheapest {
				rule := g.script
				if g.opponent != nil && sim.Player(p) != g.searching {
					rule = g.opponent
				}
				orders[p] = rule(g.turn(&g.state, sim.Player(p)))
			}
		}
		if game.Play(&g.state, orders[0], orders[1]) != sim.Running {
			return g.Result(&g.state)
		}
	}
	return g.formula(&g.state)
}

// formula judges a state by what both seats have.
func (g *towerdefenceSearch) formula(s *towerdefence.State) float64 {
	d := g.worth(&s.Half[0]) - g.worth(&s.Half[1])
	return d / (50 + max(d, -d))
}

// worth is how well a seat stands: its health, its income, its buildings and its
// energy, weighed as if each would still take and give so much health.
func (g *towerdefenceSearch) worth(h *towerdefence.Half) float64 {
	attack, walls := bits.OnesCount64(h.Standing(towerdefence.Attack)), bits.OnesCount64(h.Standing(towerdefence.Defense))
	whole := h.Health() + 2*int(g.seat.game.Income(h)) + 3*attack + 2*walls + 6*int(h.Teslas)
	return float64(whole) + float64(min(h.Energy, 200))/20
}
