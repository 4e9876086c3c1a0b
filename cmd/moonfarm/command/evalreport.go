package command

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/gamelists"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/report"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/arena/sprt"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/overview"
	"moonfarm/rollout/view/page"
	"moonfarm/sim/texts"
)

// reportForm has the flags for the form of a report.
type reportForm struct{ csv, markdown, html bool }

func (f *reportForm) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.csv, "csv", false, "print the players as comma-separated values")
	c.Flags().BoolVar(&f.markdown, "markdown", false, "print the players as a table of Markdown")
	c.Flags().BoolVar(&f.html, "html", false, "print a page for a browser, with tables and plots")
	console.FlagGroup(c, "Report", "csv", "markdown", "html", "anchor")
}

func (a *app) evalReport() *cobra.Command {
	f := &evalFlags{games: 1}
	c := &cobra.Command{
		Use: "report DIR", Short: "Print the result of a tournament again",
		Long: `Prints the result of the tournament that eval --out DIR plays, from its journal
alone, also during the tournament. The page rollout/arena/README.md explains the
numbers.`,
		Example: "  moonfarm eval report econ-turtle --markdown\n  moonfarm eval report econ-turtle --html > econ-turtle/report.html",
		Args:    console.Takes("DIR"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.runEvalReport(args[0], f) },
	}
	f.addReport(c)
	return c
}

func (a *app) runEvalReport(dir string, f *evalFlags) error {
	a.Meter("report")
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
	r, err := f.reported(j)
	if err != nil {
		return err
	}
	return f.form.print(a, r, j.Games, 0)
}

// reported returns the report of a journal.
func (e *evalFlags) reported(j *arena.Journal) (*arena.Report, error) {
	r, err := e.evaluate(j.Players, j.Games)
	if err != nil {
		return nil, err
	}
	r.Game, r.Rules, r.Seed, r.Schedule = j.Terms.Game, j.Terms.Rules, j.Terms.Seed, j.Terms.Schedule
	s, err := e.journaled(j, r.Seats)
	if err != nil {
		return nil, err
	}
	return r, e.test(r, s, j.Games)
}

// print prints the report of games in the form of the flags.
func (f reportForm) print(a *app, r *arena.Report, games []arena.Played, passed time.Duration) error {
	a.EndMeters()
	forms := 0
	for _, asked := range []bool{f.csv, f.markdown, f.html, a.JSON} {
		if asked {
			forms++
		}
	}
	if forms > 1 {
		return console.WrongUse("--csv, --markdown, --html and --json: expected one of them")
	}
	if !a.JSON && !f.csv { // programs read these: they have the whole names
		var names []string
		for i := range r.Players {
			names = append(names, r.Players[i].Player)
		}
		r.Rename(players.Shown(names))
	}
	switch {
	case f.html:
		return writeResults(a.Out, r, games)
	case f.csv:
		return report.CSV(a.Out, r)
	case f.markdown:
		return report.Markdown(a.Out, report.Standings(r))
	}
	return a.Print(r, func() { a.printReport(r, passed) })
}

// writeResults writes the page of a tournament, with the list of its last games.
func writeResults(out io.Writer, r *arena.Report, games []arena.Played) error {
	var names []string
	for i := range r.Players {
		names = append(names, r.Players[i].Player)
	}
	l := &view.List{Title: fmt.Sprintf("%s: %s, %s", r.Game, texts.Plural(len(names), "player"), texts.Plural(len(games), "game")),
		Entries: gamelists.Entries(games[max(0, len(games)-view.MostListed):], names),
		About:   func() (*overview.Document, error) { return report.Overview(r, games) }}
	data, err := view.NewResponder(l).Everything(mostPage)
	if err == nil {
		_, err = out.Write(page.HTML(data))
	}
	return err
}

func (a *app) printReport(r *arena.Report, passed time.Duration) {
	a.Table(report.Standings(r)...)
	a.Printf("\n")
	a.Table(report.Pairs(r)...)
	if len(r.Stages) > 0 {
		a.Printf("\n")
		a.Table(report.Stages(r)...)
	}
	a.Printf("\n")
	for _, line := range report.Scales(r) {
		a.Printf("%s\n", line)
	}
	for _, note := range report.Notes(r) {
		a.Printf("\n%s\n", note)
	}
	if r.Test != nil {
		a.Text("\n" + report.Test(r.Test, texts.Escaped(r.Players[0].Player), texts.Escaped(r.Players[1].Player)) + "\n")
	}
	took := ""
	if passed > 0 {
		took = fmt.Sprintf(" (%.1f s)", passed.Seconds())
	}
	a.Printf("\n%s %s: %s on %s, seed %d, %s%s\n", r.Game, r.Rules, texts.Plural(r.Games, "game"), texts.Plural(r.Seeds, "seed"), r.Seed, r.Schedule, took)
}

// evaluate makes the report of the games.
func (e *evalFlags) evaluate(names []string, games []arena.Played) (*arena.Report, error) {
	anchor := slices.Index(names, e.anchor)
	if anchor < 0 {
		anchor = slices.Index(players.Shown(names), e.anchor)
	}
	if e.anchor != "" && anchor < 0 {
		return nil, console.WrongUse("--anchor %s: no such player", e.anchor)
	}
	return arena.Evaluate(names, games, anchor)
}

// journaled returns the schedule of a journal with the fields that test needs.
func (e *evalFlags) journaled(j *arena.Journal, seats int) (schedule.Schedule, error) {
	terms := j.Terms.Schedule
	if test, ok := strings.CutPrefix(terms, sprtTerms); ok {
		e.sprt, e.normalised = strings.CutSuffix(test, normalisedTerms)
		e.games = len(j.Games)
		return e.duel(len(j.Players), seats)
	}
	if contest, ok := schedule.ParseChampionship(terms, j.Terms.Seed); ok {
		return contest, nil
	}
	return schedule.RoundRobin{}, nil
}

// test adds the results of the schedule to the report: the state of a sequential test, or the
// stages of a contest.
func (e *evalFlags) test(r *arena.Report, s schedule.Schedule, games []arena.Played) (err error) {
	switch s := s.(type) {
	case schedule.Duel:
		r.Test, err = s.State(arena.Placings(games))
	case schedule.Championship:
		err = r.AddStages(s, games)
	}
	return err
}

// show begins to show the tournament in a browser, if --view asks for it. The journal has its first lines.
func (a *app) show(f *evalFlags, j *arena.Journal) error {
	if !f.view.Asked() {
		return nil
	}
	if err := j.Flush(); err != nil {
		return err
	}
	flags := &viewFlags{anchor: f.anchor}
	if j.Terms.RulesTexts == nil {
		flags.rulesFile = f.rulesFile
	}
	return f.view.Open(a.Console, filepath.Join(f.out, journalName), func() (view.GameList, error) {
		return flags.keep(flags.tournament(f.out))
	})
}

// duelAhead is the number of seeds that a sequential test plays at once.
const duelAhead = 64

// plan returns the input of the schedule for a number of players.
func (e *evalFlags) plan(stages evalStages, players int) schedule.Plan {
	p := schedule.Plan{Players: players, Seats: stages[0].bots.Seats, Games: e.games, Seed: e.seed}
	for i := range p.Contest {
		p.Contest[i] = stages.at(i).bots.Seats
	}
	return p
}

// scheduled makes the schedule.
func (e *evalFlags) scheduled(p schedule.Plan) (schedule.Schedule, error) {
	if e.sprt != "" {
		return e.duel(p.Players, p.Seats)
	}
	s, err := schedule.Named(e.schedule, p)
	if err != nil {
		err = console.WrongUse("--schedule %w", err)
	}
	return s, err
}

// duel makes the schedule of a sequential test.
func (e *evalFlags) duel(players, seats int) (schedule.Schedule, error) {
	t, err := sprt.Parse(e.sprt)
	if err != nil {
		return nil, console.WrongUse("--sprt: %w", err)
	}
	if players != 2 || seats != 2 {
		return nil, console.WrongUse("--sprt: %s at %d seats, expected 2 at a game of 2", texts.Plural(players, "player"), seats)
	}
	if e.normalised {
		t.Model = sprt.Normalised
		if err := t.Check(); err != nil {
			return nil, console.WrongUse("--sprt: %w", err)
		}
	}
	return schedule.Duel{A: 0, B: 1, Test: t, Most: (e.games-1)/2 + 1, Ahead: duelAhead}, nil
}

// terms describes everything that the schedule depends on, except the players, so that
// no other schedule continues a journal.
func (e *evalFlags) terms(s schedule.Schedule) string {
	if contest, ok := s.(schedule.Championship); ok {
		return contest.String()
	}
	switch {
	case e.sprt != "" && e.normalised:
		return sprtTerms + e.sprt + normalisedTerms
	case e.sprt != "":
		return sprtTerms + e.sprt
	case e.schedule == schedule.NameSandbox:
		return e.schedule + " by contest ratings" // earlier ones were drawn by other ratings
	}
	return e.schedule
}

// The beginning and the end of the terms of a sequential test.
const (
	sprtTerms       = "sprt "
	normalisedTerms = " normalised"
)
