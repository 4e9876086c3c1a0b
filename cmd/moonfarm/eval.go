package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/env"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/report"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/arena/sprt"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	gameFlags
	players    string
	games      int
	seed       uint64
	workers    int
	schedule   string
	sprt       string
	normalised bool
	anchor     string
	out        string
	strict     bool
	form       reportForm
}

func (a *app) eval() *cobra.Command {
	f := &evalFlags{games: 200, schedule: roundRobin}
	c := &cobra.Command{
		Use: "eval GAME --players A,B", Short: "Let players play each other, and rate them",
		Long: `Lets players meet on the same seeds with the seats exchanged, and rates them.
The score is (wins + draws/2) / games; elo is the rating of the Bradley–Terry
model with draws (Davidson), 400 points for odds of ten to one, less the mean of
all or that of --anchor. The intervals have 95 % confidence; they mind that the
games of a seed are not independent. superior is the likelihood that one player
is stronger than another. nash is a player's share of the mixture that no other
beats, alpha-rank its share in the long run where populations follow what wins:
where players beat each other in a circle, these two show it and ratings do not.

Games that repeat, in all orders and the outcome, weigh as one: eval says so.
The result depends on nothing but the players, the game and the seed.

` + scheduleDoc + `

--sprt is a sequential test of the first of two players against the second: it
plays until it can tell whether the first is elo1 points stronger or only elo0,
with the error rates alpha and beta (default 0.05), or until --games.

With --out, DIR/games.jsonl keeps a journal: one line of JSON for every game.
The same command, after it was interrupted or killed, goes on where it was; with
more --games or more players behind the others it extends the tournament. eval
report DIR prints the result again.

A run that is interrupted prints the result of the games before the first one
that is missing; the exit status is 130.

` + reportDoc,
		Example: "  moonfarm eval towerdefence --players random,econ,turtle --games 500\n  moonfarm eval codecraft --players econ,turtle --rules round1-4 --out econ-turtle\n  moonfarm eval terminal --players rush,fort --sprt 0,20",
		Args:    takes("GAME"),
		RunE:    func(c *cobra.Command, args []string) error { return a.runEval(c.Context(), args[0], f) },
	}
	c.Flags().StringVar(&f.players, "players", "", "`A,B`: two policies or more (see policies GAME)")
	c.Flags().StringVar(&f.players, "policies", "", "the same as --players")
	c.Flags().Var(whole(&f.games, 1, math.MaxInt32), "games", "how many, at least: of each lineup, or as --schedule says")
	c.Flags().Var(choice(&f.schedule, schedules...), "schedule", "who meets whom")
	c.Flags().StringVar(&f.sprt, "sprt", "", "`ELO0,ELO1[,ALPHA,BETA]`: a sequential test of two players")
	c.Flags().BoolVar(&f.normalised, "normalised", false, "the points of --sprt are normalised Elo")
	c.Flags().StringVar(&f.out, "out", "", "`DIR` for the journal: created, or gone on with")
	c.Flags().BoolVar(&f.strict, "strict", false, "fail at the first fault of a player")
	seedFlag(c, &f.seed)
	f.addRules(c)
	f.addMaxTurns(c)
	workersFlag(c, &f.workers)
	f.addReport(c)
	c.AddCommand(a.evalReport())
	return c
}

// addReport adds the flags of what is printed.
func (f *evalFlags) addReport(c *cobra.Command) {
	c.Flags().StringVar(&f.anchor, "anchor", "", "`PLAYER` whose rating is 0 (default: the mean of all is)")
	f.form.add(c)
}

// journalName is the file of the games in the folder of a tournament.
const journalName = "games.jsonl"

// evalGames is how many games a worker plays side by side.
const evalGames = 32

// contenders are the players of eval, with names that differ.
func (f *evalFlags) contenders(t *table) ([]arena.Player, error) {
	if f.players == "" {
		return nil, wrongUse("--players is missing: two players or more, such as --players random,random")
	}
	if n := t.spec.Info.Players; n < 2 {
		return nil, wrongUse("--rules %s: a game of %s, expected two or more to compare players", f.rulesFile, plural(n, "player"))
	}
	specs, err := readSpecs("players", f.players)
	if err != nil {
		return nil, err
	}
	var list []arena.Player
	seen := map[string]int{}
	for _, spec := range specs {
		maker, name, err := t.policy("players", spec)
		if err != nil {
			return nil, err
		}
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s #%d", name, seen[name])
		}
		list = append(list, arena.Player{Name: name, New: maker})
	}
	if len(list) < 2 {
		return nil, wrongUse("--players %s: 1 player, expected 2 or more", f.players)
	}
	return list, nil
}

func (a *app) runEval(ctx context.Context, game string, f *evalFlags) (err error) {
	t, err := f.open(game)
	if err != nil {
		return err
	}
	players, err := f.contenders(t)
	if err != nil {
		return err
	}
	s, err := f.scheduled(len(players), t.spec.Info.Players)
	if err != nil {
		return err
	}
	c := arena.Tournament{
		Vector: func() (env.Vector, error) { return t.vector(evalGames) }, Players: players,
		Seed: f.seed, Workers: f.workers, Schedule: s,
	}
	j, err := f.journal(t, &c)
	if err != nil {
		return err
	}
	if j != nil {
		defer func() { err = errors.Join(err, j.Close()) }()
	}
	games, passed, err := a.playEval(ctx, &c, j, f)
	a.resume = "no game was played to its end"
	if len(games) == 0 {
		return err
	}
	a.resume = "the result is that of the first " + plural(len(games), "game")
	if j != nil {
		a.resume += "; the same command goes on with it"
	}
	r, failed := f.evaluate(namesOf(c.Players), games)
	if failed != nil {
		return errors.Join(err, failed)
	}
	complete := err == nil
	r.Game, r.Rules, r.Seed, r.Schedule, r.Complete = t.spec.Info.Name, t.spec.Info.Rules, f.seed, f.terms(), &complete
	if err := f.test(r, s, games); err != nil {
		return err
	}
	return errors.Join(err, f.form.print(a, r, passed))
}

// journal opens the journal of --out and lets the players enter; nil if there is
// to be none.
func (f *evalFlags) journal(t *table, c *arena.Tournament) (*arena.Journal, error) {
	if f.out == "" {
		return nil, nil
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	sum := sha256.Sum256([]byte(t.rules))
	j, err := arena.OpenJournal(filepath.Join(f.out, journalName), arena.Terms{
		Game: t.spec.Info.Name, Rules: t.spec.Info.Rules, RulesSum: hex.EncodeToString(sum[:]),
		Seed: f.seed, MaxTurns: f.maxTurns, Schedule: f.terms(),
	})
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	order, err := j.Enter(namesOf(c.Players))
	if err != nil {
		j.Close()
		return nil, wrongUse("--out %s: %w", f.out, err)
	}
	players := make([]arena.Player, len(order))
	for i, k := range order {
		players[i] = c.Players[k]
	}
	c.Players, c.Known = players, j.Games
	return j, nil
}

func namesOf(players []arena.Player) (names []string) {
	for _, p := range players {
		names = append(names, p.Name)
	}
	return names
}

// flushEvery is how long games of a journal may wait for being written.
const flushEvery = 200 * time.Millisecond

// playEval plays the tournament.
func (a *app) playEval(ctx context.Context, c *arena.Tournament, j *arena.Journal, f *evalFlags) ([]arena.Played, time.Duration, error) {
	m := a.meter("games")
	var mu sync.Mutex
	told, flushed := uint64(len(c.Known)), time.Now()
	c.Done = func(p *arena.Played) error {
		mu.Lock()
		defer mu.Unlock()
		told++
		m.show(told, 0, 0, "")
		if j != nil {
			if err := j.Add(p); err != nil {
				return err
			}
			if now := time.Now(); now.Sub(flushed) > flushEvery {
				flushed = now
				return j.Flush()
			}
		}
		if f.strict && len(p.Faults) > 0 {
			fault := p.Faults[0]
			return fmt.Errorf("--strict: %s, turn %d: %s: %s", c.Players[p.Players[fault.Seat]].Name, fault.Turn, fault.Kind, fault.Text)
		}
		return nil
	}
	games, err := c.Play(ctx)
	return games, m.end(), err
}

// evaluate makes the report of games.
func (f *evalFlags) evaluate(names []string, games []arena.Played) (*arena.Report, error) {
	anchor := -1
	for i, n := range names {
		if n == f.anchor {
			anchor = i
		}
	}
	if f.anchor != "" && anchor < 0 {
		return nil, wrongUse("--anchor %s: no such player", f.anchor)
	}
	return arena.Evaluate(names, games, anchor)
}

// test adds the state of a sequential test to the report.
func (f *evalFlags) test(r *arena.Report, s schedule.Schedule, games []arena.Played) (err error) {
	d, ok := s.(schedule.Duel)
	if !ok {
		return nil
	}
	r.Test, err = d.State(arena.Results(games))
	return err
}

// Names of schedules, as --schedule takes them.
const (
	roundRobin = "round-robin"
	gauntlet   = "gauntlet"
	swiss      = "swiss"
	ladder     = "ladder"
	sandbox    = "sandbox"
)

// schedules are what --schedule takes.
var schedules = []string{roundRobin, gauntlet, swiss, ladder, sandbox}

// scheduleDoc tells what the schedules are.
const scheduleDoc = `Schedules are functions of the players, the seed and the games so far:
  round-robin  all lineups of different players, on the same seeds, everybody on
               every seat; --games is for each lineup
  gauntlet     the same, but the first player sits at every table
  swiss        players with as many points meet, and nobody meets another twice
               if that can be; --games is for each player; for games of two
  ladder       the first player meets those whose rating (Glicko-2) is near its
               own; --games is for the first player
  sandbox      rounds of tables of players with near ratings, as the CodeCraft
               contest had them; --games is for each player`

// Constants of schedules.
const (
	swissSeeds   = 2   // that a pair plays in a round: four games
	ladderTables = 2   // lineups of a round
	ladderSeeds  = 4   // that each of them plays
	nearby       = 100 // points of rating
	duelAhead    = 64  // seeds that are played at once
)

// scheduled makes the schedule for so many players at tables of so many seats.
func (f *evalFlags) scheduled(players, seats int) (schedule.Schedule, error) {
	if f.sprt != "" {
		return f.duel(players, seats)
	}
	seeds := (f.games-1)/seats + 1
	switch f.schedule {
	case gauntlet:
		return schedule.Gauntlet{Players: players, Seats: seats, Seeds: seeds}, nil
	case swiss:
		if seats != 2 {
			return nil, wrongUse("--schedule swiss: this game has %d seats, expected 2", seats)
		}
		return schedule.Swiss{Players: players, Rounds: (f.games-1)/(2*swissSeeds) + 1, Seeds: swissSeeds, Seed: f.seed}, nil
	case ladder:
		if players < seats {
			return nil, wrongUse("--schedule ladder: %s at tables of %d", plural(players, "player"), seats)
		}
		pool := make([]int, players-1)
		for i := range pool {
			pool[i] = i + 1
		}
		return schedule.Ladder{Pool: pool, Rounds: (f.games-1)/(ladderTables*ladderSeeds*seats) + 1, Tables: ladderTables,
			Seats: seats, Seeds: ladderSeeds, Spread: nearby, Rate: arena.Glicko(players)}, nil
	case sandbox:
		if players < seats {
			return nil, wrongUse("--schedule sandbox: %s at tables of %d", plural(players, "player"), seats)
		}
		rounds := (f.games*players-1)/(players/seats*seats) + 1
		return schedule.Sandbox{Players: players, Seats: seats, Rounds: rounds, Spread: nearby, Seed: f.seed, Rate: arena.Glicko(players)}, nil
	}
	return schedule.RoundRobin{Players: players, Seats: seats, Seeds: seeds}, nil
}

// duel makes the schedule of a sequential test.
func (f *evalFlags) duel(players, seats int) (schedule.Schedule, error) {
	t, err := sprt.Parse(f.sprt)
	if err != nil {
		return nil, wrongUse("--sprt: %w", err)
	}
	if players != 2 || seats != 2 {
		return nil, wrongUse("--sprt: %s at %d seats, expected 2 at a game of 2", plural(players, "player"), seats)
	}
	if f.normalised {
		t.Model = sprt.Normalised
		if err := t.Check(); err != nil {
			return nil, wrongUse("--sprt: %w", err)
		}
	}
	return schedule.Duel{A: 0, B: 1, Test: t, Most: (f.games-1)/2 + 1, Ahead: duelAhead}, nil
}

// terms says what the schedule depends on besides the players, so that a journal
// is not gone on with by another.
func (f *evalFlags) terms() string {
	switch {
	case f.sprt != "" && f.normalised:
		return sprtTerms + f.sprt + normalisedTerms
	case f.sprt != "":
		return sprtTerms + f.sprt
	}
	return f.schedule
}

// What the terms of a sequential test begin and end with.
const (
	sprtTerms       = "sprt "
	normalisedTerms = " normalised"
)

// reportDoc is the help on reports.
const reportDoc = `With --csv or --markdown: the table of players in that form.

With --json: one object with the keys game, rules, seed, schedule, seats, seeds
(different ones), games, distinct (games that are no repetitions), complete
(false: interrupted; absent of a journal), anchor, draw_parameter, players (each
with player, games, wins, draws, losses, score, score_low, score_high, elo, low,
high, error (standard error), seeds (effective number), group (players with
another one are connected by no games), bounded (false: won or lost everything,
an end of the interval is the prior's), score_at_seat_0, mean_place, nash,
alpha_rank, faults (by kind), seconds), pairs (each with a, b, games, distinct,
repeats (true: the same on all seeds), mean_turns, and, from a's side, wins,
draws, losses, score, score_low, score_high, elo, elo_low, elo_high, superior)
and, with --sprt, sprt (elo0, elo1, alpha, beta, counts of results in half
points, llr, lower, upper, decision, estimates).`

// reportForm is the form in which a report is printed.
type reportForm struct{ csv, markdown bool }

func (f *reportForm) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.csv, "csv", false, "print the players as comma-separated values")
	c.Flags().BoolVar(&f.markdown, "markdown", false, "print the players as a table of Markdown")
}

func (a *app) evalReport() *cobra.Command {
	f := &evalFlags{games: 1}
	c := &cobra.Command{
		Use: "report DIR", Short: "Print the result of a tournament again",
		Long: `Prints the result of the tournament in DIR, that of eval --out DIR, from its
journal alone, also while it is being played.

` + reportDoc,
		Example: "  moonfarm eval report econ-turtle --markdown",
		Args:    takes("DIR"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.runEvalReport(args[0], f) },
	}
	f.addReport(c)
	return c
}

func (a *app) runEvalReport(dir string, f *evalFlags) error {
	j, err := arena.ReadJournal(filepath.Join(dir, journalName))
	if err != nil {
		return err
	}
	if len(j.Games) == 0 {
		return fmt.Errorf("%s: the journal has no games yet", dir)
	}
	r, err := f.evaluate(j.Players, j.Games)
	if err != nil {
		return err
	}
	r.Game, r.Rules, r.Seed, r.Schedule = j.Terms.Game, j.Terms.Rules, j.Terms.Seed, j.Terms.Schedule
	if test, ok := strings.CutPrefix(j.Terms.Schedule, sprtTerms); ok {
		f.sprt, f.normalised = strings.CutSuffix(test, normalisedTerms)
		f.games = len(j.Games)
		s, err := f.duel(len(j.Players), r.Seats)
		if err != nil {
			return err
		}
		if err := f.test(r, s, j.Games); err != nil {
			return err
		}
	}
	return f.form.print(a, r, 0)
}

// print prints a report.
func (f reportForm) print(a *app, r *arena.Report, passed time.Duration) error {
	switch {
	case f.csv && f.markdown || a.json && (f.csv || f.markdown):
		return wrongUse("--csv, --markdown and --json: expected one of them")
	case f.csv:
		return report.CSV(a.out, r)
	case f.markdown:
		return report.Markdown(a.out, report.Standings(r))
	}
	return a.print(r, func() { a.printReport(r, passed) })
}

func (a *app) printReport(r *arena.Report, passed time.Duration) {
	a.table(report.Standings(r)...)
	a.printf("\n")
	a.table(report.Pairs(r)...)
	for _, note := range report.Notes(r) {
		a.printf("\n%s\n", note)
	}
	if r.Test != nil {
		a.printf("\n%s\n", report.Test(r.Test, r.Players[0].Player, r.Players[1].Player))
	}
	took := ""
	if passed > 0 {
		took = fmt.Sprintf(" (%.1f s)", passed.Seconds())
	}
	a.printf("\n%s %s: %s on %s, seed %d, %s%s\n", r.Game, r.Rules, plural(r.Games, "game"), plural(r.Seeds, "seed"), r.Seed, r.Schedule, took)
}
