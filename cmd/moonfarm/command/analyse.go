package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/gamelists"
	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/analysis"
	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// analyseFlags are the flags of analyse.
type analyseFlags struct {
	policy      string
	episode     uint64
	game        int
	rules       string
	first, last uint64 // turns
	every       int
	worst       int
	workers     int
}

// analysed is the result of analyse. Its JSON keys are documented in JSON.md.
type analysed struct {
	From    string         `json:"from"`
	Game    string         `json:"game"`
	Number  uint64         `json:"number"`
	Name    string         `json:"name"`
	Policy  string         `json:"policy"`
	Length  int            `json:"length"`
	Stopped string         `json:"stopped"`
	Asked   int            `json:"asked"`
	Partial bool           `json:"partial"`
	Seats   []analysedSeat `json:"seats"`
	Turns   []analysedTurn `json:"turns"`

	what  string // "game" or "episode": the meaning of number
	found []analysis.TurnAnalysis
}

// analysedSeat sums up the turns of a seat.
type analysedSeat struct {
	Seat       int     `json:"seat"`
	Player     string  `json:"player"`
	Result     float32 `json:"result"`
	Lost       float64 `json:"lost"`
	BestPlayed int     `json:"best_played"`
	Worst      []int   `json:"worst"`
}

// analysedTurn has the moves of all seats in a turn.
type analysedTurn struct {
	Turn  int            `json:"turn"`
	Seats []analysedMove `json:"seats"`
}

// analysedMove compares the played orders of a seat in a turn with the best ones.
type analysedMove struct {
	Seat   int            `json:"seat"`
	Value  float64        `json:"value"`
	Lost   float64        `json:"lost"`
	Played analysedOrders `json:"played"`
	Best   analysedOrders `json:"best"`
}

// analysedOrders are orders with their value.
type analysedOrders struct {
	Orders []string `json:"orders"`
	Share  *float64 `json:"share"` // nil: not among the moves searched
	Value  float64  `json:"value"`
}

func (a *app) analyse() *cobra.Command {
	f := &analyseFlags{game: 1, last: math.MaxUint64, every: 1, worst: 5}
	c := &cobra.Command{
		Use: "analyse RECORDING|DATASET", Short: "Search the turns of a game for the losses of its players",
		Long: `Searches every turn of a recorded game, or of an episode of a dataset, with a
policy that searches. It prints the value over time, the loss of each player in
each turn, and, for the worst turns, the played and the best orders. RECORDING
is a recording as import takes it, DATASET a folder or a URL.

A value is the result that a player can expect: 1 for a win, -1 for a loss. The
policy searches for each player by itself, as it would in that game. The best
orders belong to the move with the largest share of the search.

The loss of a player in a turn is the value of the position after its best
orders, less the value of the position after its own orders. For both positions
the other players give their orders of the game, and both are searched alike, so
that the effects of the others' orders, and errors that the search makes
everywhere, cancel. (The change of the value from turn to turn
would contain the effects of the others' orders.) Both values are estimates that
get better with more simulations. A loss below 0 means that a player did better
with its own orders, against the orders of the others, than with the best ones.
A "-" means that the best orders were played and nothing was lost. Each turn
takes about two searches for each player.

The result depends only on the game, the turns and the policy, unless the policy
has a budget of time (ms=…). A run that is interrupted, also in the middle of a
search, prints the finished turns and the --turns that continue it; the exit
status is 130.`,
		Example: `  moonfarm analyse ../shared/traces/towerdefence/recorded_normal_towers.jsonl.gz --every 5
  moonfarm analyse data/td --episode 12 --policy 'mcts(sims=2000)' --turns 10-40
  moonfarm analyse game.jsonl --game 3 --worst 10 --json`,
		Args: console.Takes("RECORDING|DATASET"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.runAnalyse(c, args[0], f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.policy, "policy", "", "`SPEC` of the policy that searches, such as 'mcts(sims=2000)' (default: the game's first search)")
	flags.Var(console.Whole(&f.episode, 0, math.MaxUint64), "episode", "episode of a dataset, counted from 0")
	flags.Var(console.Whole(&f.game, 1, math.MaxInt), "game", "game of a recording, counted from 1")
	flags.Var(numberRange(&f.first, &f.last, "a turn"), "turns", "turns to search, counted from 0 (default: all)")
	flags.Var(console.Whole(&f.every, 1, math.MaxInt32), "every", "search only the first of these turns and every `N`th after it")
	flags.Var(console.Whole(&f.worst, 0, math.MaxInt32), "worst", "number of turns to list of each player: those in which it lost most")
	flags.StringVar(&f.rules, "rules", "", "`FILE` with the rule values of the recorded game, or the name of a rule set, if recordings do not contain them (rollout/recordings/README.md)")
	console.WorkersFlag(c, &f.workers)
	return c
}

func (a *app) runAnalyse(c *cobra.Command, from string, f *analyseFlags) error {
	m := a.Meter("positions")
	x, err := f.read(c, from)
	if err != nil {
		return err
	}
	e := &x.episode
	if e.Turns == 0 {
		return fmt.Errorf("%s: the game has no turns", from)
	}
	if f.last == math.MaxUint64 {
		f.last = uint64(e.Turns) - 1
	}
	if f.first > f.last || f.last >= uint64(e.Turns) {
		return console.WrongUse("--turns %v: expected numbers from 0 to %d", numberRange(&f.first, &f.last, "a turn"), e.Turns-1)
	}
	o := analysis.Options{
		Game: x.vector, Policy: x.policy, First: int(f.first), Last: int(f.last), Every: f.every, Workers: f.workers,
		Progress: func(done, all int) { m.Show(uint64(done), uint64(all), 0, "") },
	}
	found, err := analysis.Run(c.Context(), e, o)
	m.End()
	if err != nil && !errors.Is(err, console.ErrInterrupted) {
		return fmt.Errorf("%s: %w", from, err)
	}
	d := x.sum(found, f)
	d.From, d.Asked = from, (o.Last-o.First)/o.Every+1
	if d.Partial = len(found) < d.Asked; err != nil {
		a.Resume = fmt.Sprintf("%d of %s are searched", len(found), texts.Plural(d.Asked, "turn"))
		if n := unbroken(found, &o); n > 0 && n < d.Asked {
			a.Resume += fmt.Sprintf("; --turns %d-%d continues", o.First+n*o.Every, o.Last)
		}
		if len(found) == 0 {
			return err
		}
	}
	return errors.Join(err, a.Print(d, func() { a.printAnalysed(d) }))
}

// unbroken returns the number of results before the first missing turn.
func unbroken(found []analysis.TurnAnalysis, o *analysis.Options) (n int) {
	for n < len(found) && found[n].Turn == o.First+n*o.Every {
		n++
	}
	return n
}

// analysedGame is a game to search.
type analysedGame struct {
	game       string
	what       string // "game" of a recording, or "episode" of a dataset
	number     uint64
	name       string
	episode    rollout.Episode
	vector     func() (env.Vector, error)
	policy     rollout.Maker
	policyName string
}

// read reads the game, and makes the policy that searches it.
func (a *analyseFlags) read(c *cobra.Command, from string) (*analysedGame, error) {
	isDataset, err := holdsDataset(from)
	if err != nil {
		return nil, err
	}
	if isDataset {
		for _, name := range []string{"game", "rules"} {
			if c.Flags().Changed(name) {
				return nil, console.WrongUse("--%s is for recordings; %s is a dataset", name, from)
			}
		}
		return a.readDataset(c.Context(), from)
	}
	if c.Flags().Changed("episode") {
		return nil, console.WrongUse("--episode is for datasets; %s is a recording", from)
	}
	return a.readRecording(c.Context(), from)
}

// begin finds the policy for a game.
func (a *analyseFlags) begin(g catalog.Entry) (x *analysedGame, err error) {
	x = &analysedGame{game: g.Name}
	x.policy, x.policyName, err = searcher(g, a.policy)
	return x, err
}

func (a *analyseFlags) readDataset(ctx context.Context, dir string) (*analysedGame, error) {
	d, err := datasets.OpenContext(ctx, dir)
	if err != nil {
		return nil, err
	}
	job := d.Manifest().Job
	g, err := catalog.Find(job.Game)
	if err != nil {
		return nil, err
	}
	x, err := a.begin(g)
	if err != nil {
		return nil, err
	}
	if all := d.Manifest().Totals.Episodes; a.episode >= all {
		return nil, console.WrongUse("--episode %d: expected 0 to %d", a.episode, all-1)
	}
	for e, err := range d.EpisodesFrom(a.episode) {
		if err != nil {
			return nil, err
		}
		x.what, x.number, x.name, x.episode = "episode", e.ID, strings.Clone(e.Source), gamelists.Kept(&e.Episode)
		rules := job.Rules[e.Rules]
		x.vector = func() (env.Vector, error) { return g.New(rules, env.Settings{N: 1, MaxTurns: job.MaxTurns}) }
		return x, nil
	}
	return nil, fmt.Errorf("%s: episode %d is not there", dir, a.episode)
}

func (a *analyseFlags) readRecording(ctx context.Context, file string) (*analysedGame, error) {
	l, err := gamelists.Recording(ctx, file, func(game string) (string, error) { return rulesOfRecordings(a.rules, game) })
	if err != nil {
		return nil, asFlagError(err)
	}
	i := slices.IndexFunc(l.Games, func(g *gamelists.Game) bool { return g.Entry.ID == uint64(a.game-1) })
	if i < 0 && l.Why != nil {
		return nil, l.Why
	}
	if i < 0 {
		return nil, console.WrongUse("--game %d: expected 1 to %d, the recording has no more games", a.game, len(l.Games))
	}
	g := l.Games[i]
	x, err := a.begin(g.Of)
	if err == nil {
		x.what, x.number, x.name, x.episode = "game", uint64(a.game), g.Entry.Name, *g.Episode
		x.vector = func() (env.Vector, error) { return g.Of.New(g.Rules, env.Settings{N: 1}) }
	}
	return x, err
}

// searcher parses the spec of a policy that searches a game and returns its maker and
// its canonical name. "" stands for the first such policy of the game.
func searcher(g catalog.Entry, spec string) (rollout.Maker, string, error) {
	known, err := searchers(g)
	if err != nil {
		return nil, "", err
	}
	if len(known) == 0 {
		return nil, "", console.WrongUse("no policy of %s searches; games with one that does: %s", g.Name, strings.Join(searched(), ", "))
	}
	flags := gameFlags{reward: env.ResultReward}
	t, err := flags.open(g.Name)
	if err != nil {
		return nil, "", err
	}
	maker, name, err := t.policy("policy", cmp.Or(spec, known[0]))
	if err == nil && !searches(maker, t.spec) {
		err = console.WrongUse("--policy %s: it does not search; policies of %s that do: %s", spec, g.Name, strings.Join(known, ", "))
	}
	return maker, name, err
}

// sum makes the result of the turns found.
func (a *analysedGame) sum(found []analysis.TurnAnalysis, f *analyseFlags) *analysed {
	e := &a.episode
	d := &analysed{Game: a.game, Number: a.number, Name: a.name, Policy: a.policyName, Length: e.Turns, Stopped: e.Stopped,
		Turns: []analysedTurn{}, what: a.what, found: found}
	for p := range e.Players {
		s := analysedSeat{Seat: p, Player: e.Policies[p], Result: e.Outcome[p].Result, Worst: analysis.Worst(found, sim.Player(p), f.worst)}
		for _, t := range found {
			s.Lost += t.Seats[p].Loss
			if t.Seats[p].BestPlayed() {
				s.BestPlayed++
			}
		}
		d.Seats = append(d.Seats, s)
	}
	for _, t := range found {
		turn := analysedTurn{Turn: t.Turn}
		for p := range t.Seats {
			s := &t.Seats[p]
			turn.Seats = append(turn.Seats, analysedMove{p, s.Value, s.Loss, a.orders(&s.Played), a.orders(&s.Best)})
		}
		d.Turns = append(d.Turns, turn)
	}
	return d
}

// orders returns orders as texts, with their share and value.
func (a *analysedGame) orders(c *analysis.Choice) analysedOrders {
	o := analysedOrders{Orders: recordings.OrderTexts(a.game, c.Orders), Value: c.Value}
	if c.Share >= 0 {
		o.Share = &c.Share
	}
	return o
}

// printAnalysed prints the result as text.
func (a *app) printAnalysed(d *analysed) {
	a.Printf("%s: %s %d", d.From, d.what, d.Number)
	if d.Name != "" {
		a.Printf(" (%s)", d.Name)
	}
	a.Printf(" of %s, %s; searched by %s\n", d.Game, texts.Plural(d.Length, "turn"), d.Policy)
	if d.Stopped != "" {
		a.Printf("the game stops there: %s\n", d.Stopped)
	}
	if d.Partial {
		a.Printf("partial: %d of %s are searched\n", len(d.Turns), texts.Plural(d.Asked, "turn"))
	}
	rows := [][]string{{"turn"}}
	for _, s := range d.Seats {
		rows[0] = append(rows[0], seatName(s.Seat)+" value", "lost")
	}
	for i, t := range d.Turns {
		row := []string{fmt.Sprint(t.Turn)}
		for p, s := range t.Seats {
			row = append(row, signed(s.Value), lostText(&d.found[i].Seats[p]))
		}
		rows = append(rows, row)
	}
	a.Printf("\n")
	a.Table(rows...)
	for _, s := range d.Seats {
		a.Printf("\n%s %s: result %+g, best orders in %d of %s, lost %.3f in all\n", seatName(s.Seat), s.Player, s.Result,
			s.BestPlayed, texts.Plural(len(d.Turns), "turn"), s.Lost)
		a.printWorst(d, s)
	}
}

// printWorst lists the turns in which a seat lost most.
func (a *app) printWorst(d *analysed, s analysedSeat) {
	if len(s.Worst) == 0 {
		return
	}
	rows := [][]string{{"turn", "lost", "played", "share", "value", "best", "share", "value"}}
	for _, turn := range s.Worst {
		i, _ := d.find(turn)
		m := d.Turns[i].Seats[s.Seat]
		rows = append(rows, []string{fmt.Sprint(turn), fmt.Sprintf("%.3f", m.Lost),
			m.Played.text(), m.Played.shareText(), signed(m.Played.Value), m.Best.text(), m.Best.shareText(), signed(m.Best.Value)})
	}
	a.Table(rows...)
}

// seatName returns the letter of a seat.
func seatName(seat int) string { return string(rune('A' + seat)) }

// signed formats a value with its sign.
func signed(value float64) string {
	text := fmt.Sprintf("%+.3f", value)
	if strings.Trim(text, "+-0.") == "" {
		return "0.000"
	}
	return text
}

// lostText formats the loss of a seat in a turn.
func lostText(s *analysis.Assessment) string {
	if s.BestPlayed() {
		return "-"
	}
	return strings.TrimPrefix(signed(s.Loss), "+")
}

// maxOrdersText is the number of characters for the orders in a cell of a table.
const maxOrdersText = 40

// text formats the orders for a table. It counts the orders for which there is no room.
func (a *analysedOrders) text() string {
	if len(a.Orders) == 0 {
		return "nothing"
	}
	text := a.Orders[0]
	for i, next := range a.Orders[1:] {
		if len(text)+len(next) > maxOrdersText {
			return fmt.Sprintf("%s and %d more", text, len(a.Orders)-i-1)
		}
		text += ", " + next
	}
	return text
}

func (a *analysedOrders) shareText() string {
	if a.Share == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *a.Share)
}
