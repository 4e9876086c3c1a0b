package command

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/cmd/moonfarm/internal/gamedoc"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/report"
	"moonfarm/rollout/arena/report/page"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/bots/players"
)

// reportDoc is the help on reports.
const reportDoc = `With --csv or --markdown: the table of players in that form.

With --html: one page for a browser that needs no other files, with ratings,
scores of all pairs, ratings over the games, lengths of games, faults,
repetitions and a sequential test, as tables and plots, and the last 500 games.
The same journal makes the same page. In the folder of the journal its links to
replays work.

With --json: one object with the keys game, rules, seed, schedule, seats, seeds
(different ones), games, distinct (games that are no repetitions), clock_decided
(games that the shorter time of thinking decided; absent: 0), complete (false:
interrupted; absent for a journal), anchor, draw_parameter, players (each with
player, games, wins, draws, losses, score, score_low, score_high, elo, low,
high, error (standard error): null if the games do not determine it; seeds
(effective number), group (no games connect players of different groups),
bounded (false: the player won or lost all games, so that they do not bound the
rating), score_at_seat_0, mean_place, nash, alpha_rank, faults (by kind),
seconds), pairs (each with a, b, games, distinct, repeats (true: the same on all
seeds), mean_turns, and, from a's side, wins, draws, losses, score, score_low,
score_high; from these games alone elo, elo_low, elo_high, superior; from the
fit to all games fit_elo, fit_elo_low, fit_elo_high, fit_superior; null if the
games do not determine it), for ladders and sandboxes in each of players glicko
(rating, deviation, volatility), with --bootstrap there also bootstrap (low,
high, error), for contests stages (each with stage, seats, games, standings:
each with player, games, points: in the Sandbox the rating), and, with --sprt,
sprt (elo0, elo1, alpha, beta, counts of results in half points, llr, lower,
upper, decision, estimates).`

// reportForm has the flags for the form of a report.
type reportForm struct{ csv, markdown, html bool }

func (f *reportForm) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.csv, "csv", false, "print the players as comma-separated values")
	c.Flags().BoolVar(&f.markdown, "markdown", false, "print the players as a table of Markdown")
	c.Flags().BoolVar(&f.html, "html", false, "print a page for a browser, with tables and plots")
}

func (a *app) evalReport() *cobra.Command {
	f := &evalFlags{games: 1}
	c := &cobra.Command{
		Use: "report DIR", Short: "Print the result of a tournament again",
		Long: `Prints the result of the tournament that eval --out DIR plays, from its journal
alone, also during the tournament.

` + reportDoc,
		Example: "  moonfarm eval report econ-turtle --markdown\n  moonfarm eval report econ-turtle --html > econ-turtle/report.html",
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
	if j.Terms.GameTurns == 0 {
		if err := j.CheckTurns(defaultTurns(&j.Terms)); err != nil {
			return err
		}
	}
	r, err := f.evaluate(j.Players, j.Games)
	if err != nil {
		return err
	}
	r.Game, r.Rules, r.Seed, r.Schedule = j.Terms.Game, j.Terms.Rules, j.Terms.Seed, j.Terms.Schedule
	s, err := f.journaled(j, r.Seats)
	if err != nil {
		return err
	}
	if err := f.test(r, s, j.Games); err != nil {
		return err
	}
	return f.form.print(a, r, j.Games, 0)
}

// print prints the report of games in the form of the flags.
func (f reportForm) print(a *app, r *arena.Report, games []arena.Played, passed time.Duration) error {
	forms := 0
	for _, asked := range []bool{f.csv, f.markdown, f.html, a.json} {
		if asked {
			forms++
		}
	}
	switch {
	case forms > 1:
		return cli.WrongUse("--csv, --markdown, --html and --json: expected one of them")
	case f.html:
		return page.Write(a.out, r, games)
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
	if len(r.Stages) > 0 {
		a.printf("\n")
		a.table(report.Stages(r)...)
	}
	a.printf("\n%s\n", strings.Join(report.Scales(r), "\n"))
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
	a.printf("\n%s %s: %s on %s, seed %d, %s%s\n", r.Game, r.Rules, cli.Plural(r.Games, "game"), cli.Plural(r.Seeds, "seed"), r.Seed, r.Schedule, took)
}

// evaluate makes the report of the games.
func (f *evalFlags) evaluate(names []string, games []arena.Played) (*arena.Report, error) {
	anchor := -1
	for i, n := range names {
		if n == f.anchor {
			anchor = i
		}
	}
	if f.anchor != "" && anchor < 0 {
		return nil, cli.WrongUse("--anchor %s: no such player", f.anchor)
	}
	return arena.Evaluate(names, games, anchor)
}

// journaled returns the schedule of a journal with the fields that test needs.
func (f *evalFlags) journaled(j *arena.Journal, seats int) (schedule.Schedule, error) {
	terms := j.Terms.Schedule
	if test, ok := strings.CutPrefix(terms, sprtTerms); ok {
		f.sprt, f.normalised = strings.CutSuffix(test, normalisedTerms)
		f.games = len(j.Games)
		return f.duel(len(j.Players), seats)
	}
	if contest, ok := schedule.ParseChampionship(terms, j.Terms.Seed); ok {
		return contest, nil
	}
	switch terms {
	case schedule.NameLadder:
		return schedule.Ladder{}, nil
	case schedule.NameSandbox:
		return schedule.Sandbox{}, nil
	}
	return schedule.RoundRobin{}, nil
}

// test adds the results of the schedule to the report: the state of a sequential test,
// the stages of a contest, or the ratings that chose the lineups.
func (f *evalFlags) test(r *arena.Report, s schedule.Schedule, games []arena.Played) (err error) {
	switch s := s.(type) {
	case schedule.Duel:
		r.Test, err = s.State(arena.Placings(games))
	case schedule.Championship:
		err = r.AddStages(s, games)
	case schedule.Ladder, schedule.Sandbox:
		r.AddGlicko(games)
	}
	if f.bootstrap == 1 {
		return cli.WrongUse("--bootstrap 1: expected 2 or more, or 0 for no bootstrap")
	}
	if err == nil && f.bootstrap > 0 {
		err = r.AddBootstrap(games, f.bootstrap)
	}
	return err
}

// scheduleDoc is the help on schedules.
const scheduleDoc = `Schedules are functions of the players, the seed and the games so far:
  round-robin  all lineups of different players, on the same seeds, in every
               order of the seats; --games is for each lineup
  gauntlet     the same, but the first player is in every lineup
  swiss        players with equal points meet, no two players meet twice if
               that is possible; --games is for each player; for games of two
  ladder       the first player meets players with a rating (Glicko-2) near its
               own; --games is for the first player
  sandbox      rounds of tables of players with near ratings (Glicko-2), as in
               the CodeCraft contest; --games is for each player
  contest      the whole CodeCraft contest: the Sandbox with its rating, from
               1200 on, then two rounds and finals in two parts each, with
               points by place; the shares of players that go on from each
               stage, and from the Sandbox, are those of the contest; each stage
               has its own rules, unless --rules gives others; --games is for
               each player in the Sandbox and in each part, and for each two
               players in each part of the finals; more games or players do not
               extend it
In schedules with rounds a player that is added joins in the next round.`

// matchReport has the results of games. Its JSON keys are documented in the help.
type matchReport struct {
	Game     string        `json:"game"`
	Rules    string        `json:"rules"`
	Seed     uint64        `json:"seed"`
	Complete bool          `json:"complete"` // all games that were asked for
	Players  []matchPlayer `json:"players"`
	Games    []matchGame   `json:"games"`
}

type matchPlayer struct {
	Player  string  `json:"player"`
	Games   int     `json:"games"`
	Wins    int     `json:"wins"`
	Place   float64 `json:"place"`
	Score   float64 `json:"score"`
	Crashes int     `json:"crashes"`
}

type matchGame struct {
	Number  int         `json:"number"`
	Seed    uint64      `json:"seed"`
	Turns   int         `json:"turns"`
	Cut     bool        `json:"cut"`
	Clock   bool        `json:"clock_decided"` // the shorter time of thinking decided
	Seconds float64     `json:"seconds"`
	Seats   []matchSeat `json:"seats"`
}

type matchSeat struct {
	Player  string  `json:"player"`
	Score   float64 `json:"score"`
	Place   int     `json:"place"`
	Crashed bool    `json:"crashed"`
	Comment *string `json:"comment"`
	// After a crash: the turn, nil before the first one; how a bot that was started here
	// ended by itself; its last lines of output.
	Turn    *int          `json:"crash_turn"`
	Exit    string        `json:"exit"`
	Output  []string      `json:"output"`
	Seconds float64       `json:"seconds"`
	Faults  []arena.Fault `json:"faults"`
	player  int
}

// game makes the result of game n.
func (s *series) game(n int, seed uint64, sits []int, o *players.Outcome) matchGame {
	g := matchGame{Number: n + 1, Seed: seed, Turns: o.Turns, Cut: o.Cut, Clock: o.Clock, Seconds: o.Time.Seconds()}
	for i, k := range sits {
		own := &o.Seats[i]
		seat := matchSeat{Player: s.players[k].Name, Score: own.Score, Place: own.Place, Output: []string{},
			Seconds: own.Used.Seconds(), Faults: append([]arena.Fault{}, own.Faults...), player: k}
		if c := own.Crash; c != nil {
			seat.Crashed, seat.Comment, seat.Exit, seat.Output = true, &own.Comment, c.Exit, append(seat.Output, c.Output...)
			if c.Turn >= 0 {
				seat.Turn = &c.Turn
			}
		}
		g.Seats = append(g.Seats, seat)
	}
	return g
}

// report sums up the games.
func (s *series) report(list []matchGame) *matchReport {
	r := &matchReport{Game: s.name, Rules: s.Info, Seed: s.seed, Games: list}
	for _, p := range s.players {
		r.Players = append(r.Players, matchPlayer{Player: p.Name, Games: len(list)})
	}
	for _, g := range list {
		for _, seat := range g.Seats {
			p := &r.Players[seat.player]
			p.Place += float64(seat.Place) / float64(len(list))
			p.Score += seat.Score / float64(len(list))
			if seat.Place == 1 {
				p.Wins++
			}
			if seat.Crashed {
				p.Crashes++
			}
		}
	}
	return r
}

// faultLines prints the crashes and faults of a game. The last lines of a player are
// printed once: told has the players whose lines were printed.
func (a *app) faultLines(g *matchGame, prefix string, told map[int]bool) {
	for i, seat := range g.Seats {
		if seat.Crashed {
			a.printf("%sseat %d, %s: %s\n", prefix, i+1, seat.Player, *seat.Comment)
			if !told[seat.player] && len(seat.Output) > 0 {
				told[seat.player] = true
				a.printf("  it printed last:\n  | %s\n", strings.Join(seat.Output, "\n  | "))
			}
		}
		for _, f := range seat.Faults {
			if seat.Crashed && strings.HasSuffix(*seat.Comment, f.Text) {
				continue
			}
			a.printf("%sseat %d, %s: %d %s", prefix, i+1, seat.Player, f.Times, f.Kind)
			if f.Turn >= 0 {
				a.printf(", the first in turn %d", f.Turn)
			}
			if f.Text != "" {
				a.printf(": %s", f.Text)
			}
			a.printf("\n")
		}
	}
}

func (a *app) printMatches(r *matchReport, passed time.Duration) {
	told := map[int]bool{}
	if len(r.Games) == 1 && r.Complete { // the only one
		g := &r.Games[0]
		rows := [][]string{{"seat", "player", "score", "place", "time of answers"}}
		for i, seat := range g.Seats {
			rows = append(rows, []string{
				cli.Group(i + 1), seat.Player, scoreText(seat.Score), cli.Group(seat.Place), fmt.Sprintf("%.3f s", seat.Seconds),
			})
		}
		a.table(rows...)
		a.faultLines(g, "", told)
		if g.Clock {
			a.printf("the clock decided: %s\n", clockDoc)
		}
		a.printf("%s", scoreDoc(r.Game))
		a.printf("\n%s %s: %s, seed %d (%.1f s)\n", r.Game, r.Rules, cli.Plural(g.Turns, "turn"), g.Seed, passed.Seconds())
		return
	}
	rows := [][]string{{"player", "games", "first", "mean place", "mean score", "crashes"}}
	for _, p := range r.Players {
		rows = append(rows, []string{
			p.Player, cli.Group(p.Games), cli.Group(p.Wins), fmt.Sprintf("%.2f", p.Place), cli.Group(int64(math.Round(p.Score))), cli.Group(p.Crashes),
		})
	}
	a.table(rows...)
	for i := range r.Games {
		a.faultLines(&r.Games[i], fmt.Sprintf("game %d, ", r.Games[i].Number), told)
		if r.Games[i].Clock {
			a.printf("game %d: the clock decided: %s\n", r.Games[i].Number, clockDoc)
		}
	}
	a.printf("%s", scoreDoc(r.Game))
	a.printf("\n%s %s: %s, seed %d (%.1f s)\n", r.Game, r.Rules, cli.Plural(len(r.Games), "game"), r.Seed, passed.Seconds())
}

// clockDoc explains how the clock decides a game.
const clockDoc = "both had the same health at the end, and who had thought for less time won"

// scoreDoc returns a line that explains the score of a game, or "".
func scoreDoc(game string) string {
	if text := gamedoc.Of(game).Score; text != "" {
		return "\nscore: " + text + "\n"
	}
	return ""
}

// scoreText formats a score, whole numbers with commas.
func scoreText(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return cli.Group(int64(x))
	}
	return decimal(x)
}
