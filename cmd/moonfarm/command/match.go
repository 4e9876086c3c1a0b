package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/viewer"
	"moonfarm/env/catalog"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/filelock"
	"moonfarm/rollout/parallel"
	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// matchFlags are the flags of match.
type matchFlags struct {
	rules        string
	players      []string
	seed         uint64
	games, first int
	concurrency  int
	stop         bool // at the first fault
	files        gameFiles
	limits       limitFlags
	locks        *filelock.Locker
	runner       runnerFlags
	view         viewer.Match
}

func (a *app) match(serve viewer.Pages) *cobra.Command {
	f := &matchFlags{seed: 1, games: 1, first: 1, concurrency: 1, locks: &a.Locks}
	c := &cobra.Command{
		Use: "match GAME", Short: "Let programs of the original contest play, against each other or policies",
		Long: `Plays games between bots of the original contests and built-in policies. Bots
can play ` + strings.Join(players.BotGames(), ", ") + `; all other games
are for policies only. The page rollout/bots/README.md explains the players,
their limits and the differences from the original runners.

--player, once for each seat, names a player:
` + playerDoc + `

From game to game the players move on by one seat; a seed is played until every
player has had every seat. Faults of a bot do not fail the command. They are
reported as they occur (each crash, and the first of each other kind in each
game) with the bot's last lines, and are in the results. If the command is
interrupted, it prints the finished games and how to continue, and its exit
status is 130.

` + limitsDoc,
		Example: `  moonfarm match towerdefence --player bot:mybot --player econ --games 10
  moonfarm match terminal --player bot:python-algo --player maze --save-replay game.replay
  moonfarm match codecraft --player "python3 main.py" --player bot:mybot --player tcp:31001`,
		Args: console.Takes("GAME"),
		RunE: func(c *cobra.Command, args []string) error { return a.runMatch(c, args[0], f) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.players, "player", nil, "`WHO` plays at the next seat")
	flags.Var(console.Whole(&f.seed, 0, math.MaxUint64), "seed", "seed of the first game")
	rulesFlag(c, &f.rules, "rule values, a key=value per line")
	flags.Var(console.Whole(&f.games, 1, maxMatches), "games", "number of games")
	flags.Var(console.Whole(&f.first, 1, maxMatches), "first", "number of the first game, to continue a series")
	concurrencyFlag(c, &f.concurrency)
	f.files.console = a.Console
	flags.Var(a.Output(&f.files.results), "save-results", "`FILE` for the results of a game of codecraft; {game} is its number")
	flags.Var(a.Output(&f.files.replay), "save-replay", "`FILE` for the original's replay of a game, or folder; {game} is its number")
	flags.StringVar(&f.files.logs, "logs", "", "`DIR` for the output of started bots (default: output is dropped)")
	a.LockFlag(c, "the folders of bots")
	flags.BoolVar(&f.stop, "stop-at-first-fault", false, "fail at the first crash, timeout or illegal order")
	f.limits.add(c)
	f.runner.add(c)
	f.view.Add(c, serve)
	console.FlagGroup(c, "Codecraft", "save-results", "debug", "stop-when-crashed")
	return c
}

// playerDoc is the help on the texts that name players.
const playerDoc = `  econ, FILE.onnx, mix(…)  a policy (see policies GAME), a network, a mixture
  bot:DIR, NAME=bot:DIR    the folder of a bot, with a name for tables and files
  "./bot --fast", cmd:…    the command line of a program to start
  tcp:31001                in codecraft, a client that connects to that port`

// maxMatches is the limit of --games.
const maxMatches = 1_000_000

// series is a sequence of games between the same players.
type series struct {
	*players.Runner
	name    string
	seed    uint64
	players []*players.Entrant
	flags   *matchFlags
	stderr  io.Writer
	box     string // what keeps bots from the machine; "": there are none
}

// openSeries makes the series that the flags describe, and opens all ports.
func (m *matchFlags) openSeries(c *cobra.Command, g catalog.Entry) (*series, error) {
	switch {
	case len(m.players) == 0:
		return nil, console.WrongUse("--player is missing: once for each seat, such as --player econ --player random")
	case len(m.players) > sim.MaxPlayers:
		return nil, console.WrongUse("--player: found %d of them, expected 1 to %d", len(m.players), sim.MaxPlayers)
	}
	rules, err := readRules(m.rules, recordings.InfoOf(g.Name).RuleSets)
	if err != nil {
		return nil, err
	}
	s := &series{name: g.Name, seed: m.seed, flags: m}
	limits, err := m.limits.limits(c, g.Name, m.files.logs, m.files.replay, m.files.results)
	if err != nil {
		return nil, err
	}
	config := players.Options{Game: g, Rules: rules, Seats: len(m.players), Limits: limits, Runner: m.runner.RunnerOptions, Locks: m.locks}
	if s.Runner, err = players.Open(config); err != nil {
		return nil, console.WrongUse("--rules: %s%w", messagePrefix(m.rules), err)
	}
	if len(m.players) != s.Seats {
		return nil, console.WrongUse("--player: found %d of them, expected %d by these rules", len(m.players), s.Seats)
	}
	for _, text := range m.players {
		p, err := s.Enter(text)
		if err != nil {
			s.close()
			return nil, viewer.WrongPlayer("player", err)
		}
		s.players = append(s.players, p)
	}
	if err := m.limits.checkCores(m.concurrency, countBots(s.players)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *series) close() { players.Close(s.players...) }

// runMatch plays the games of match and prints their results.
func (a *app) runMatch(c *cobra.Command, game string, f *matchFlags) error {
	g, err := catalog.Find(game)
	if err != nil {
		return console.WrongUse("%w", err)
	}
	if err := errors.Join(f.runner.check(c, game), f.files.check(game, f.games)); err != nil {
		return err
	}
	s, err := f.openSeries(c, g)
	if err != nil {
		return err
	}
	defer s.close()
	s.stderr = a.Stderr
	for _, p := range s.players {
		if at := p.Address(); at != nil {
			a.Tell("%s: waits for clients at %v\n", p.Name, at)
		}
	}
	s.box = a.tellBox(&f.limits, s.players)
	if f.files.logs != "" {
		if err := os.MkdirAll(f.files.logs, 0o777); err != nil {
			return err
		}
	}
	if err := f.view.Open(a.Console, c, s.name, s.seated(f.first-1), f.games); err != nil {
		return err
	}
	defer f.view.Close()
	m := a.Meter("games")
	list, err := s.play(c.Context(), m)
	passed := m.End()
	a.Resume = fmt.Sprintf("%d of %s played to the end", len(list), texts.Plural(f.games, "game"))
	if done := f.unbroken(list); done > 0 && done < f.games {
		a.Resume += fmt.Sprintf("; --first %d --games %d continues", f.first+done, f.games-done)
	}
	if len(list) == 0 {
		return err
	}
	r := s.report(list)
	r.Complete = len(list) == f.games
	err = errors.Join(err, a.Print(r, func() { a.printMatches(r, s.shown(), passed) }))
	if err == nil && f.view.Asked() {
		winner, scores := list[0].standing()
		err = f.view.Wait(c.Context(), a.Console, winner, scores)
	}
	return err
}

// shown returns the names of the players for tables.
func (s *series) shown() []string {
	var names []string
	for _, p := range s.players {
		names = append(names, p.Name)
	}
	return players.Shown(names)
}

// seated returns the names of the players of game n for tables, by seat.
func (s *series) seated(n int) (names []string) {
	all := s.shown()
	for _, k := range players.Seating(len(s.players), n) {
		names = append(names, all[k])
	}
	return names
}

// unbroken returns the number of games before the first one that is not in the list.
func (m *matchFlags) unbroken(list []matchGame) (n int) {
	for n < len(list) && list[n].Number == m.first+n {
		n++
	}
	return n
}

// play plays all games, several at once, and returns the finished games in order: all
// of them, unless there is an error.
func (s *series) play(ctx context.Context, m *console.Meter) ([]matchGame, error) {
	list := make([]matchGame, s.flags.games)
	live := &liveGames{Meter: m, all: s.flags.games, errors: s.stderr}
	ctx, live.stop = context.WithCancelCause(ctx)
	defer live.stop(nil)
	err := parallel.Each(ctx, s.flags.concurrency, list, func(ctx context.Context, n int, _ matchGame) error {
		if err := s.playGame(ctx, s.flags.first-1+n, &list[n], live); err != nil {
			return fmt.Errorf("game %d: %w", s.flags.first+n, err)
		}
		return nil
	})
	list = slices.DeleteFunc(list, func(g matchGame) bool { return g.Number == 0 })
	return list, err
}

// playGame plays one game and writes its files.
func (s *series) playGame(ctx context.Context, n int, into *matchGame, live *liveGames) error {
	sits := players.Seating(len(s.players), n)
	m := &players.Meeting{Seed: players.SeriesSeed(s.seed, len(s.players), n), Copies: s.flags.concurrency > 1}
	for _, k := range sits {
		m.Seats = append(m.Seats, s.players[k])
	}
	names := s.seated(n)
	m.Watch = live.watch(n, names)
	m.Fault = func(fault players.LiveFault) {
		live.fault(fmt.Sprintf("game %d", n+1), names[fault.Seat], &fault)
		s.flags.view.Mark(&fault)
		if s.flags.stop {
			live.stop(fmt.Errorf("--stop-at-first-fault: game %d, seat %d, %s: %s", n+1, fault.Seat+1, names[fault.Seat], fault.Text))
		}
	}
	s.flags.view.Show(ctx, m, !s.flags.runner.undrawn)
	o, err := s.flags.files.play(ctx, s.Runner, s.name, m, gameName{game: n + 1, players: sits})
	if o == nil {
		return err
	}
	*into = s.game(n, m.Seed, sits, o)
	live.done(into)
	return err
}

// liveGames shows the progress of games on a terminal.
type liveGames struct {
	*console.Meter
	errors io.Writer // where faults are reported
	stop   context.CancelCauseFunc
	told   map[string]bool
	mu     sync.Mutex
	all    int
	ended  int
}

// fault reports a fault: every crash, and the first fault of each other kind of a seat
// in a game.
func (l *liveGames) fault(game, name string, f *players.LiveFault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := fmt.Sprint(game, f.Seat, f.Kind)
	if f.Exit == "" && l.told[key] {
		return
	}
	if l.told == nil {
		l.told = map[string]bool{}
	}
	l.told[key] = true
	if text := liveText(game, name, f); l.Visible() {
		l.Leave(text)
	} else {
		fmt.Fprintln(l.errors, text)
	}
}

// liveText formats a fault as it is reported during the games.
func liveText(game, name string, f *players.LiveFault) string {
	when := fmt.Sprintf("turn %d", f.Turn)
	if f.Turn < 0 {
		when = "before the first turn"
	}
	text := fmt.Sprintf("%s, %s, seat %d, %s: %s", game, when, f.Seat+1, name, f.Kind)
	if f.Text != "" {
		text += ": " + f.Text
	}
	text = texts.Escaped(text)
	if len(f.Output) > 0 {
		text += "\n  it printed last:"
	}
	for _, line := range f.Output {
		text += "\n  | " + texts.Escaped(line)
	}
	return text
}

// watch returns a function that shows the progress of a game, or nil if nothing is shown.
func (l *liveGames) watch(n int, names []string) func(turn int, scores []float64) {
	if !l.Visible() {
		return nil
	}
	return func(turn int, scores []float64) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.Due() {
			return
		}
		var words []string
		for i, score := range scores {
			words = append(words, fmt.Sprintf("%s %s", names[i], console.FormatFloat(score)))
		}
		l.Say(fmt.Sprintf("%d of %s; game %d, turn %d: %s", l.ended, texts.Plural(l.all, "game"), n+1, turn, strings.Join(words, ", ")))
	}
}

// done counts a game that has ended and leaves a line about it.
func (l *liveGames) done(g *matchGame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended++
	if l.all == 1 {
		return // the table has it
	}
	if !l.Visible() {
		l.Show(uint64(l.ended), uint64(l.all), 0, "")
		return
	}
	var words []string
	for _, s := range g.Seats {
		words = append(words, fmt.Sprintf("%s %s (%d.)", s.Player, console.FormatFloat(s.Score), s.Place))
	}
	l.Leave(fmt.Sprintf("game %d, %s: %s", g.Number, texts.Plural(g.Turns, "turn"), strings.Join(words, ", ")))
}

// messagePrefix returns the name and a colon, or "" for no name.
func messagePrefix(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}

// runnerFlags are the flags of match that stand for flags of the original's runner of
// codecraft, or for functions of its window.
type runnerFlags struct {
	players.RunnerOptions
	undrawn bool // --debug=false: bots are not asked to draw for --view either
}

// add adds the flags.
func (r *runnerFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&r.Debug, "debug", false, "offer clients the debug interface; --view shows what they draw")
	flags.BoolVar(&r.StopWhenCrashed, "stop-when-crashed", false, "give a game up when all bots have crashed and no policy but empty plays")
}

// check refuses flags that the game does not have.
func (r *runnerFlags) check(c *cobra.Command, game string) error {
	for _, name := range []string{"debug", "stop-when-crashed"} {
		if c.Flags().Changed(name) && !recordings.InfoOf(game).Runner {
			return console.WrongUse("--%s: %s has no such thing", name, game)
		}
	}
	r.undrawn = c.Flags().Changed("debug") && !r.Debug
	return nil
}
