package policy

import (
	"fmt"
	"time"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/script"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
)

// portfolioName is the name of all portfolio searches.
const portfolioName = "pgs"

// newPortfolioEntry returns the entry of a game's portfolio search.
func newPortfolioEntry[S any](g script.Portfolio[S]) entry {
	x := &searchEntry{leastHorizon: 1}
	x.defaults.Simulations, x.defaults.Horizon = g.Playouts, g.Horizon.Default
	x.make = func(o searchOptions, name string, s env.Spec) (rollout.Policy, error) {
		if s.Info.MaxOrders < g.Room {
			return nil, fmt.Errorf("%s needs room for %d orders, not %d", portfolioName, g.Room, s.Info.MaxOrders)
		}
		return newPortfolio(name, o, int32(s.Info.Players), g.New(o.Horizon), g.Room), nil
	}
	return entry{Entry: Entry{Name: portfolioName, Doc: g.Doc, Options: []Option{
		{optionSims, fmt.Sprintf("1 … 1000000: limit of the playouts of a turn (%d)", g.Playouts)},
		{optionMS, "1 … 600000: milliseconds a turn instead of sims, for contests: the moves depend on the machine"},
		{optionHorizon, fmt.Sprintf("1 … 1000000: %s (%d)", g.Horizon.Doc, g.Horizon.Default)},
	}}, oneGame: true, search: x}
}

// portfolio is a policy that searches each row's state by a script.Planner.
type portfolio[S any] struct {
	searching
	planner script.Planner[S]
	budget  script.Budget
	room    int // limit of the orders of a move
}

var (
	_ rollout.Searcher      = (*portfolio[int])(nil)
	_ rollout.Interruptible = (*portfolio[int])(nil)
)

// newPortfolio returns the policy. Its searches end when the budget is spent or the context of
// Until is done.
func newPortfolio[S any](name string, o searchOptions, seats int32, g script.Planner[S], room int) rollout.Policy {
	c := &portfolio[S]{searching: searching{name: name, seats: seats}, planner: g, room: room}
	c.budget.All = o.Simulations
	if o.Simulations == search.Unlimited {
		c.budget.All = int(o.time.Microseconds())
	}
	var begin time.Time
	c.budget.Spent = func(made int) int {
		switch {
		case c.interrupted():
			return c.budget.All
		case o.time == 0:
			return made
		case made == 0:
			begin = time.Now()
		}
		return int(time.Since(begin).Microseconds())
	}
	return c
}

// Act searches the state of each row and gives the orders of the best move.
func (p *portfolio[S]) Act(v env.Vector, b *env.Batch, rows []int32) {
	p.begin(b, rows, 2, 2*p.room)
	states, ok := env.States[S](v)
	if !ok || !p.planner.Look(v) {
		panic(script.WrongGame(p.name, v))
	}
	room := len(b.Orders) / b.Rows
	for i, row := range rows {
		f := &p.found[i]
		p.planner.Search(f, &states[row/p.seats], sim.Player(row%p.seats), b.RowSeed[row], &p.budget)
		if p.interrupted() {
			return
		}
		b.OrderLen[row] = int32(copy(b.Orders[int(row)*room:][:room], f.OrdersOf(len(f.Ends)-1)))
	}
}
