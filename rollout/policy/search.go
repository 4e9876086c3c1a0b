package policy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/script"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// searchOptions are the options of a search: the defaults of the game, but for the options that the spec sets.
type searchOptions struct {
	search.Options
	script.SearchOptions
	exploration
	time  time.Duration // budget of a turn; 0: Options.Simulations is the budget
	model *loaded       // evaluates leaves together with the rollout, and gives priors; nil: no network
	trust float64       // weight of the network's values; below 0: the default
	head  string        // the network's output with the logits; "": the one that fits

	// Of a network of a sequential form: the number of turns drawn at the root, below 0
	// the default, and the temperature of all of them but the first.
	turns       int
	temperature float64
}

// searchEntry is the search of a game.
type searchEntry struct {
	defaults            searchOptions
	rollouts, opponents []string // the values of these options
	leastHorizon        int      // the least value of optionHorizon
	moves               []string // the values of optionMoves; none: the search has no such option
	make                func(o searchOptions, name string, s env.Spec) (rollout.Policy, error)
}

// searchName is the name of all searches.
const searchName = "mcts"

// defaultTrust is the default of optionTrust.
const defaultTrust = 0.5

// newSearchEntry returns the entry of a game's search.
func newSearchEntry[S, M any](g script.Search[S, M]) entry {
	x := &searchEntry{rollouts: g.Rollout.Values, opponents: g.Opponent.Values, moves: g.Moves.Values}
	x.defaults = searchOptions{Options: g.Options, SearchOptions: g.Defaults(), trust: -1, turns: -1, temperature: turnsTemperature,
		exploration: exploration{full: 1, visits: 1}}
	x.make = func(o searchOptions, name string, s env.Spec) (rollout.Policy, error) {
		if s.Info.MaxOrders < g.Room {
			return nil, fmt.Errorf("%s needs room for %d orders, not %d", searchName, g.Room, s.Info.MaxOrders)
		}
		if o.model == nil {
			return newSearcher(name, o, g.New(o.SearchOptions)), nil
		}
		kit, err := g.Kit(s.Info.Config)
		if err != nil {
			return nil, err
		}
		return newJudged(name, o, g.New(o.SearchOptions), kit, s)
	}
	return entry{Entry: Entry{Name: searchName, Doc: g.Doc, Options: searchDocs(g)}, oneGame: true, search: x}
}

// searchDocs returns the documentation of the options of a game's search.
func searchDocs[S, M any](g script.Search[S, M]) []Option {
	words := func(w script.Words) string {
		return fmt.Sprintf("%s: %s (%s)", strings.Join(w.Values, ", "), w.Doc, w.Default)
	}
	gives := "weighs moves"
	if g.Turns {
		gives = "adds turns to the moves"
	}
	docs := []Option{
		{optionSims, fmt.Sprintf("1 … 1000000: simulations a turn (%d)", g.Options.Simulations)},
		{optionMS, "1 … 600000: milliseconds a turn instead of sims, for contests: the moves depend on the machine"},
		{optionRollout, words(g.Rollout)},
		{optionOpponent, words(g.Opponent)},
		{optionHorizon, fmt.Sprintf("0 … 1000000: %s (%d)", g.Horizon.Doc, g.Horizon.Default)},
		{optionC, fmt.Sprintf("0 … 1000: weight of exploration (%v)", g.Options.C)},
		{optionMemory, fmt.Sprintf("1 … 2047: limit of the tree's memory in MiB; further nodes are evaluated but not stored (%d)", g.Options.Memory>>20)},
		{optionModel, g.Model},
		{optionTrust, fmt.Sprintf("0 … 1: weight of the network's values; the rest is the weight of rollout; 0: the network only %s, with few evaluations (%v)", gives, defaultTrust)},
		{optionHead, headDoc},
		{optionWork, workDoc},
		{optionSHA256, sumDoc},
	}
	if len(g.Moves.Values) > 0 {
		docs = append(docs, Option{optionMoves, words(g.Moves)})
	}
	if g.Turns {
		docs = append(docs,
			Option{optionTurns, fmt.Sprintf("0 … %d: turns that a network of the form orders adds to the own moves at the root: the likeliest one, the others drawn (%d)", mostTurns, defaultTurns)},
			Option{optionTemperature, fmt.Sprintf("above 0, at most 1000: the choices of these turns are drawn in proportion to exp(logit/temperature) (%v)", turnsTemperature)})
	}
	return append(docs, explorationDocs()...)
}

// The names of options of searches.
const (
	optionSims     = "sims"
	optionMS       = "ms"
	optionRollout  = "rollout"
	optionOpponent = "opponent"
	optionHorizon  = "horizon"
	optionC        = "c"
	optionMemory   = "memory"
	optionTrust    = "trust"
	optionMoves    = "moves"
	optionTurns    = "turns"
)

// set stores the value of an option of a search, and rewrites it in canonical form.
func (o *searchOptions) set(e *searchEntry, given *setting) (err error) {
	switch given.name {
	case optionSims:
		return given.number(&o.Simulations, 1, 1_000_000)
	case optionMS:
		var ms int
		err := given.number(&ms, 1, 600_000)
		o.time = time.Duration(ms) * time.Millisecond
		return err
	case optionHorizon:
		return given.number(&o.Horizon, e.leastHorizon, 1_000_000)
	case optionMemory:
		err := given.number(&o.Memory, 1, 1<<11-1) // an int of 32 bits holds the bytes
		o.Memory <<= 20
		return err
	case optionC:
		return given.real(&o.C, 1000)
	case optionTrust:
		return given.real(&o.trust, 1)
	case optionModel:
		if !isNetwork(given.value) {
			return fmt.Errorf("%s=%s, expected the path of a network, FILE%s, or %s", given.name, given.value, modelEnding, builtIn)
		}
		return nil
	case optionTurns:
		return given.number(&o.turns, 0, mostTurns)
	case optionTemperature:
		return given.temperature(&o.temperature)
	case optionHead:
		o.head = given.value
		return nil
	case optionWork, optionSHA256:
		return given.ofFile()
	case optionRollout:
		return given.word(&o.Rollout, e.rollouts)
	case optionOpponent:
		return given.word(&o.Opponent, e.opponents)
	case optionMoves:
		return given.word(&o.Moves, e.moves)
	}
	return o.explore(given)
}

// number reads a whole number.
func (s *setting) number(n *int, least, most int) (err error) {
	if *n, err = strconv.Atoi(s.value); err != nil || *n < least || *n > most {
		return fmt.Errorf("%s=%s, expected a whole number from %d to %d", s.name, s.value, least, most)
	}
	s.value = strconv.Itoa(*n)
	return nil
}

// real reads a number from 0 to a limit.
func (s *setting) real(x *float64, most float64) error {
	read, err := strconv.ParseFloat(s.value, 64)
	if err != nil || !(read >= 0) || read > most {
		return fmt.Errorf("%s=%s, expected a number from 0 to %v", s.name, s.value, most)
	}
	*x = math.Abs(read) // not −0
	s.value = strconv.FormatFloat(*x, 'g', -1, 64)
	return nil
}

// temperature reads a temperature.
func (s *setting) temperature(t *float64) error {
	x, err := strconv.ParseFloat(s.value, 64)
	if err != nil || !(x > 0) || x > 1000 {
		return fmt.Errorf("%s=%s, expected a number above 0, at most 1000", s.name, s.value)
	}
	*t, s.value = x, strconv.FormatFloat(x, 'g', -1, 64)
	return nil
}

// word reads and stores one of several words.
func (s *setting) word(value *string, words []string) error {
	if !slices.Contains(words, s.value) {
		return fmt.Errorf("%s=%s, expected one of: %s", s.name, s.value, strings.Join(words, ", "))
	}
	*value = s.value
	return nil
}

// searching is the part that all policies that search have.
type searching struct {
	name  string
	seats int32
	done  <-chan struct{}        // of the context of Until
	rows  []int32                // of the latest Act; −1: without a result
	found []rollout.SearchResult // the results of these rows
}

// Until implements rollout.Interruptible.
func (s *searching) Until(ctx context.Context) { s.done = ctx.Done() }

// interrupted reports whether the context of Until is done.
func (s *searching) interrupted() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Name returns the spec in canonical form.
func (s *searching) Name() string { return s.name }

// Wants returns the row's seed.
func (s *searching) Wants() env.Want { return env.WantRowSeed }

// begin takes the rows of an Act, with room for results of so many moves and orders each.
func (s *searching) begin(b *env.Batch, rows []int32, moves, orders int) {
	b.Need(env.WantRowSeed, s.name)
	s.rows = append(s.rows[:0], rows...)
	for len(s.found) < len(rows) {
		s.found = append(s.found, rollout.SearchResult{Shares: make([]float32, 0, moves), Orders: make([]sim.Order, 0, orders), Ends: make([]int32, 0, moves)})
	}
}

// SearchResult implements rollout.Searcher.
func (s *searching) SearchResult(row int32) *rollout.SearchResult {
	if i := slices.Index(s.rows, row); i >= 0 {
		return &s.found[i]
	}
	return nil
}

// searcher is a policy that searches each row's state.
type searcher[S, M any] struct {
	searching
	game  script.SearchGame[S, M]
	trees []*search.Tree[S, M] // one for each row that is searched at once
	judge *judge[S, M]         // nil: the game evaluates leaves
	group group[S, M]          // without a judge, of rows that are searched at once
	width int                  // limit of the moves of a row

	networks []rollout.NetworkCounts // with a judge: of the latest Act, by row

	exploration exploration
	weights     []float64 // scratch

	rooted  script.Rooted[S] // the game, if it wants to know the state or the seat of a search
	opposed script.Opposed

	random prng.Rand // of Playouts
}

var (
	_ rollout.Searcher      = (*searcher[int, sim.Order])(nil)
	_ rollout.Interruptible = (*searcher[int, sim.Order])(nil)
)

// newSearch makes the policy of a node that names a search.
func newSearch(e *searchEntry, n node, s env.Spec) (rollout.Policy, error) {
	o := e.defaults
	for _, given := range n.settings {
		if err := o.set(e, &given); err != nil {
			return nil, err
		}
	}
	if o.time > 0 {
		o.Simulations = search.Unlimited
	}
	if o.full < 1 && o.Cheap == 0 {
		o.Cheap = max(1, o.Simulations/6)
	}
	o.model = n.model
	return e.make(o, n.String(), s)
}

// newSearcher returns a policy that searches without a network.
func newSearcher[S, M any](name string, o searchOptions, g script.SearchGame[S, M]) rollout.Policy {
	c := makeSearcher(name, o, g)
	for range c.joinGroup(o) {
		c.addTree(o)
	}
	return c
}

// makeSearcher returns a searcher without trees.
func makeSearcher[S, M any](name string, o searchOptions, g script.SearchGame[S, M]) *searcher[S, M] {
	c := &searcher[S, M]{searching: searching{name: name, seats: 2}, game: g, width: o.Width, exploration: o.exploration}
	c.rooted, _ = g.(script.Rooted[S])
	c.opposed, _ = g.(script.Opposed)
	return c
}

// addTree adds a tree whose searches end when the time budget is spent or the context of Until
// is done.
func (c *searcher[S, M]) addTree(o searchOptions) {
	var begin time.Time
	o.Stop = func(made int) bool {
		switch {
		case o.time == 0:
		case made == 0:
			begin = time.Now()
		case time.Since(begin) >= o.time:
			return true
		}
		return c.interrupted()
	}
	c.trees = append(c.trees, search.New(o.Options, c.game))
}

// Act searches the state of each row and gives the orders of the best move.
func (c *searcher[S, M]) Act(v env.Vector, b *env.Batch, rows []int32) {
	c.begin(b, rows, c.width, c.width)
	states, ok := env.States[S](v)
	if !ok || !c.game.Look(v) {
		panic(script.WrongGame(c.name, v))
	}
	if c.judge != nil && len(c.networks) < b.Rows {
		c.networks = make([]rollout.NetworkCounts, b.Rows)
	}
	if c.group.game != nil && len(rows) >= c.group.least {
		c.searchGroup(states, b, rows)
		return
	}
	for from := 0; from < len(rows); {
		n := min(len(rows)-from, len(c.trees))
		c.search(states, b, rows[from:][:n])
		if c.interrupted() {
			return
		}
		for i, row := range rows[from:][:n] {
			c.setSeat(states, row)
			c.play(c.trees[i], from+i, &states[row/c.seats], b, row)
		}
		from += n
	}
}

// setSeat tells the game the state and the seat of a search, if it wants to know them.
func (c *searcher[S, M]) setSeat(states []S, row int32) {
	if c.rooted != nil {
		c.rooted.SearchFrom(&states[row/c.seats])
	}
	if c.opposed != nil {
		c.opposed.SearchFor(sim.Player(row % c.seats))
	}
}

// search searches the states of rows, of which there are at most as many as trees.
func (c *searcher[S, M]) search(states []S, b *env.Batch, rows []int32) {
	for i, row := range rows {
		c.setSeat(states, row)
		c.ready(c.trees[i], b, row)
		if c.judge == nil {
			c.trees[i].Search(&states[row/c.seats], b.RowSeed[row])
		} else {
			c.trees[i].Start(&states[row/c.seats], b.RowSeed[row])
		}
	}
	if c.judge == nil {
		return
	}
	clear(c.judge.counts[:])
	for more := true; more; c.judge.run() {
		more = false
		c.judge.clear()
		for i, row := range rows {
			c.setSeat(states, row)
			if leaf := c.judge.next(c.trees[i]); leaf != nil {
				c.judge.add(leaf, i, sim.Player(row%c.seats))
				more = true
			}
		}
	}
	for i, row := range rows {
		c.networks[row] = c.judge.counts[i]
	}
}

// play stores the result of the search of a row, number i of the Act, and gives the orders of the chosen move.
func (c *searcher[S, M]) play(t *search.Tree[S, M], i int, s *S, b *env.Batch, row int32) {
	p, f := sim.Player(row%c.seats), &c.found[i]
	f.Value = t.Value(p)
	f.Shares = t.AppendShares(f.Shares[:0], p)
	f.Orders, f.Ends = f.Orders[:0], f.Ends[:0]
	for _, m := range t.Moves(p) {
		f.Orders = c.game.AppendOrders(f.Orders, s, p, m)
		f.Ends = append(f.Ends, int32(len(f.Orders)))
	}
	room := len(b.Orders) / b.Rows
	chosen := f.OrdersOf(c.choose(t, f.Shares, b, row))
	b.OrderLen[row] = int32(copy(b.Orders[int(row)*room:][:room], chosen))
	if !c.exploration.fully(b.RowSeed[row]) {
		c.rows[i] = -1
	}
}

// Playouts evaluates the state of a row n times, as a search without a network evaluates a
// leaf, and returns the sum of the values for seat 0. It is for benchmarks.
func (c *searcher[S, M]) Playouts(v env.Vector, row int32, n int, seed uint64) (sum float64) {
	states, ok := env.States[S](v)
	if !ok || !c.game.Look(v) {
		panic(script.WrongGame(c.name, v))
	}
	c.random = prng.New(seed)
	for range n {
		sum += c.game.Evaluate(&states[row/c.seats], &c.random)
	}
	return sum
}
