package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/viewer"
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/filelock"
	"moonfarm/rollout/recordings"
	"moonfarm/sim/texts"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	gameFlags
	playerFlags
	games  int
	limits limitFlags
	locks  *filelock.Locker
	// concurrency is the number of games of bots at once; 0: by the number of cores
	concurrency int
	seed        uint64
	workers     int
	schedule    string
	sprt        string
	normalised  bool
	anchor      string
	out         string
	strict      bool
	form        reportForm
	view        viewer.Tournament
}

func (a *app) eval(serve viewer.Pages) *cobra.Command {
	f := &evalFlags{games: 200, schedule: schedule.NameRoundRobin}
	c := &cobra.Command{
		Use: "eval GAME --players A,B", Short: "Let players play each other, and rate them",
		Long: `Lets players meet on the same seeds with the seats exchanged, and rates them.
The page rollout/arena/README.md explains the schedules, the statistics and the
journal, rollout/bots/README.md the players and their limits.

--players takes them with commas between them, --player one whose text may have
commas:
` + playerDoc + `

In the schedule round-robin all lineups of different players meet, in gauntlet
those with the first player; in swiss players with equal points meet, in sandbox
players with near ratings; contest is the whole CodeCraft contest. --sprt tests
one by one whether the first of two players is elo1 points stronger than the
second or only elo0, with the error rates alpha and beta (default 0.05).

With --out, DIR has a journal, and the replays and logs of games of bots. The
same command continues it; more --games, or more players after the others,
extend it. Interrupted, it ends with 130. ` + limitsDoc,
		Example: "  moonfarm eval towerdefence --players random,econ,turtle --games 500\n  moonfarm eval towerdefence --players bot:mybot,econ,turtle --games 20 --out mybot\n  moonfarm eval terminal --players maze,turtle --sprt 0,20",
		Args:    console.Takes("GAME"),
		RunE:    func(c *cobra.Command, args []string) error { return a.runEval(c, args[0], f) },
	}
	f.addFlags(c)
	f.view.Add(c, serve)
	f.locks = &a.Locks
	a.LockFlag(c, "the journal and the folders of bots")
	c.AddCommand(a.evalReport())
	return c
}

// addFlags adds the flags of eval.
func (e *evalFlags) addFlags(c *cobra.Command) {
	e.playerFlags.add(c, "`A,B`: players, with commas between them")
	c.Flags().StringVar(&e.players, "policies", "", "the same as --players")
	c.Flags().Var(console.Whole(&e.games, 1, math.MaxInt32), "games", "least number of games, of a lineup or a player")
	c.Flags().Var(console.Choice(&e.schedule, schedule.Names()...), "schedule", "lineups")
	c.Flags().StringVar(&e.sprt, "sprt", "", "`ELO0,ELO1[,ALPHA,BETA]`: a test of two players")
	c.Flags().BoolVar(&e.normalised, "normalised", false, "the points of --sprt are normalised Elo")
	c.Flags().StringVar(&e.out, "out", "", "`DIR` for the journal: created or continued")
	c.Flags().BoolVar(&e.strict, "strict", false, "fail at the first crash, timeout, game with 100 illegal orders of a player, or NaN or infinite output of a network")
	seedFlag(c, &e.seed)
	e.addRules(c)
	e.addMaxTurns(c)
	console.WorkersFlag(c, &e.workers)
	concurrencyFlag(c, &e.concurrency)
	concurrent := c.Flags().Lookup("concurrency")
	concurrent.Usage = "number of games at once if a bot plays; --workers has no effect then"
	concurrent.DefValue = "" // said in words
	e.limits.add(c)
	e.addReport(c)
	console.FlagGroup(c, "Games and rules", "games", "schedule", "sprt", "normalised", "seed", "rules", "max-turns")
}

// addReport adds the flags of the report.
func (e *evalFlags) addReport(c *cobra.Command) {
	c.Flags().StringVar(&e.anchor, "anchor", "", "`PLAYER` whose rating is 0 (default: the mean of all ratings is 0)")
	e.form.add(c)
}

// evalGames is the number of games that a worker plays side by side.
const evalGames = 32

// evalStage is the game of a stage of a tournament.
type evalStage struct {
	*gameSetup
	bots *players.Runner // the same game for bots
}

// evalStages are the stages of a tournament: several for a contest, else one.
type evalStages []evalStage

// at returns a stage by its number in the schedule.
func (e evalStages) at(stage int) evalStage { return e[min(stage, len(e)-1)] }

// stages opens the game for each stage.
func (e *evalFlags) stages(cmd *cobra.Command, game string) (all evalStages, err error) {
	rules := []string{e.rulesFile}
	if sets := recordings.InfoOf(game).Contest; e.schedule == schedule.NameContest && e.sprt == "" && e.rulesFile == "" && sets != nil {
		rules = sets
	}
	limits, err := e.limits.limits(cmd, game, e.out)
	if err != nil {
		return nil, err
	}
	for _, name := range rules {
		flags := e.gameFlags
		flags.rulesFile = name
		s := evalStage{}
		if s.gameSetup, err = flags.open(game); err != nil {
			return nil, err
		}
		s.bots, err = players.Open(players.Options{Game: s.game, Rules: s.rules, Limits: limits, Locks: e.locks})
		if err != nil {
			return nil, console.WrongUse("--rules: %s%w", messagePrefix(name), err)
		}
		all = append(all, s)
	}
	return all, nil
}

// contenders returns the players of eval, with different names.
func (e *evalFlags) contenders(stages evalStages) (list []*players.Entrant, err error) {
	specs, err := e.specs()
	switch seats := stages[0].bots.Seats; {
	case err != nil:
		return nil, err
	case len(specs) == 0:
		return nil, console.WrongUse("--players is missing: two players or more, such as --players random,random")
	case seats < 2:
		return nil, console.WrongUse("--rules %s: a game of %s, expected two or more to compare players", e.rulesFile, texts.Plural(seats, "player"))
	}
	seen := map[string]int{}
	for _, text := range specs {
		p, err := stages.enter(text)
		if err != nil {
			players.Close(list...)
			return nil, viewer.WrongPlayer("players", err)
		}
		if seen[p.Name]++; seen[p.Name] > 1 {
			p.Name = fmt.Sprintf("%s #%d", p.Name, seen[p.Name])
		}
		list = append(list, p)
	}
	switch bots := slices.ContainsFunc(list, (*players.Entrant).Bot); {
	case len(list) < 2:
		err = console.WrongUse("--players %s: 1 player, expected 2 or more", list[0].Name)
	case bots && e.maxTurns > 0:
		err = console.WrongUse("--max-turns: only the rules end games of bots")
	}
	if err != nil {
		players.Close(list...)
	}
	return list, err
}

// enter makes the player that a text names. A policy must be able to play all stages.
func (e evalStages) enter(text string) (p *players.Entrant, err error) {
	for i := range e {
		if p != nil && p.Bot() {
			break // a bot enters once, as it may have a port, and plays by any rules
		}
		if p, err = e[len(e)-1-i].bots.Enter(text); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// runEval plays the tournament, prints its result, and shows it if --view asks for that.
func (a *app) runEval(cmd *cobra.Command, game string, f *evalFlags) error {
	if err := f.view.Check(cmd, f.out); err != nil {
		return err
	}
	defer f.view.Close()
	if err := a.evalGame(cmd, game, f); err != nil {
		return err
	}
	return f.view.Wait(cmd.Context(), a.Console)
}

// evalGame plays the tournament and prints its result.
func (a *app) evalGame(cmd *cobra.Command, game string, f *evalFlags) (err error) {
	stages, err := f.stages(cmd, game)
	if err != nil {
		return err
	}
	list, err := f.contenders(stages)
	if err != nil {
		return err
	}
	defer players.Close(list...)
	box := a.tellBox(&f.limits, list)
	plan := f.plan(stages, len(list))
	s, err := f.scheduled(plan)
	if err != nil {
		return err
	}
	c := arena.Tournament{
		Vector: func(stage int) (env.Vector, error) { return stages.at(stage).vector(evalGames) },
		Seed:   f.seed, Workers: f.workers,
	}
	for _, p := range list {
		c.Players = append(c.Players, arena.Entrant{Name: p.Name, New: p.Policy})
	}
	j, err := f.journal(stages, s, &c)
	if err != nil {
		return err
	}
	if j != nil {
		defer func() { err = errors.Join(err, j.Close()) }()
		plan.Joined = j.Joined
	}
	if c.Schedule, err = f.scheduled(plan); err == nil {
		err = a.show(f, j)
	}
	if err != nil {
		return err
	}
	if err := a.addBots(cmd, f, stages, list, box, &c); err != nil {
		return err
	}
	games, passed, err := a.playEval(cmd.Context(), &c, j, f)
	a.Resume = "no game was played to its end"
	if len(games) == 0 {
		return err
	}
	a.Resume = "the result covers the first " + texts.Plural(len(games), "game")
	if j != nil {
		a.Resume += "; the same command continues"
	}
	a.Meter("report")
	r, failed := f.evaluate(namesOf(c.Players), games)
	if failed != nil {
		return errors.Join(err, failed)
	}
	r.Game, r.Rules, r.Seed, r.Schedule, r.Complete = stages[0].spec.Info.Name, stages[0].spec.Info.Rules, f.seed, f.terms(s), new(err == nil)
	if err := f.test(r, s, games); err != nil {
		return err
	}
	return errors.Join(err, f.form.print(a, r, games, passed))
}

func namesOf(players []arena.Entrant) (names []string) {
	for _, p := range players {
		names = append(names, p.Name)
	}
	return names
}

// addBots makes the tournament play games of bots, if bots are among its players. If there is a journal, the files of
// the games are in its folder.
func (a *app) addBots(cmd *cobra.Command, f *evalFlags, stages evalStages, list []*players.Entrant, box string, c *arena.Tournament) error {
	if countBots(list) == 0 {
		return nil
	}
	cores, seats := runtime.GOMAXPROCS(0), 0
	if f.limits.Cores != nil {
		cores = cap(f.limits.Cores)
	}
	for _, s := range stages {
		seats = max(seats, s.bots.Seats)
	}
	bots := min(seats, countBots(list))
	if !cmd.Flags().Changed("concurrency") {
		f.concurrency = 0
	}
	warning := ""
	if c.Workers, warning = concurrency(cores, bots, f.concurrency); warning != "" {
		a.Tell("moonfarm: %s\n", warning)
	}
	if err := f.limits.checkCores(c.Workers, bots); err != nil {
		return err
	}
	for _, p := range list {
		if at := p.Address(); at != nil {
			a.Tell("%s: waits for clients at %v\n", p.Name, at)
		}
	}
	files := evalFiles{f.out, stages}
	if err := files.make(); err != nil {
		return err
	}
	byName := map[string]*players.Entrant{}
	for _, p := range list {
		byName[p.Name] = p
	}
	shown := players.Shown(namesOf(c.Players))
	var mu sync.Mutex
	told := map[string]bool{}
	c.Match = func(ctx context.Context, game *schedule.Fixture) (arena.Played, error) {
		m := &players.Meeting{Seed: rollout.GameSeed(f.seed, uint64(game.Seed)), Copies: true}
		for _, k := range game.Players {
			m.Seats = append(m.Seats, byName[c.Players[k].Name])
		}
		m.Fault = func(fault players.LiveFault) { // reports the first fault of each kind of a player
			mu.Lock()
			defer mu.Unlock()
			name := shown[game.Players[fault.Seat]]
			if key := name + "\x00" + fault.Kind; !told[key] {
				told[key] = true
				fmt.Fprintln(a.Stderr, liveText(fmt.Sprintf("game %d", game.Number), name, &fault))
			}
		}
		p, err := files.play(ctx, m, game)
		p.Box = box
		return p, err
	}
	return nil
}

// concurrency returns the number of games with the given number of bots each that are
// played at once. By default, with asked 0, every bot has a core. The warning is for more
// bots than cores.
func concurrency(cores, bots, asked int) (games int, warning string) {
	if asked == 0 {
		return max(1, cores/bots), ""
	}
	if asked*bots > max(cores, bots) {
		warning = fmt.Sprintf("--concurrency %d: up to %d bots at once on %s share their time, and may answer late", asked, asked*bots, texts.Plural(cores, "core"))
	}
	return asked, warning
}

func countBots(list []*players.Entrant) (n int) {
	for _, p := range list {
		if p.Bot() {
			n++
		}
	}
	return n
}

// flushEvery is the longest time before finished games are written to the journal.
const flushEvery = 200 * time.Millisecond

// playEval plays the tournament.
func (a *app) playEval(ctx context.Context, c *arena.Tournament, j *arena.Journal, f *evalFlags) ([]arena.Played, time.Duration, error) {
	m := a.Meter("games")
	var mu sync.Mutex
	told, flushed, shown := slices.Clone(c.Known), time.Now(), players.Shown(namesOf(c.Players))
	show := progress(m, c)
	c.Done = func(p *arena.Played) error {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, *p)
		show(told)
		if j != nil {
			if err := j.Add(p); err != nil {
				return err
			}
			if now := time.Now(); now.Sub(flushed) > flushEvery {
				flushed = now
				return j.Flush()
			}
		}
		if i := firstSevere(p.Faults); f.strict && i >= 0 {
			fault := p.Faults[i]
			return fmt.Errorf("--strict: %s, turn %d: %s: %s", shown[p.Players[fault.Seat]], fault.Turn, fault.Kind, fault.Text)
		}
		return nil
	}
	games, err := c.Play(ctx)
	return games, m.End(), err
}

// progress returns a function that shows how many games are played, and of how many if that is known: for a sequential
// test it is an estimate.
func progress(m *console.Meter, c *arena.Tournament) func(played []arena.Played) {
	all := 0
	switch s := c.Schedule.(type) {
	case schedule.RoundRobin:
		if left, err := s.Next(arena.Placings(c.Known)); err == nil { // an error is one of Play
			all = len(c.Known) + len(left)
		}
	case schedule.Duel:
		return func(played []arena.Played) {
			m.ShowAbout(uint64(len(played)), func() uint64 {
				t, err := s.State(arena.Placings(played))
				if err != nil || t.Left() < 0 {
					return 0
				}
				return uint64(max(float64(len(played)), min(float64(2*s.Most), float64(len(played))+2*t.Left())))
			})
		}
	}
	return func(played []arena.Played) { m.Show(uint64(len(played)), uint64(all), 0, "") }
}

// maxIllegal is the number of illegal orders of a bot in one game at which --strict
// ends the command.
const maxIllegal = 100

// firstSevere returns the index of the first fault of a game at which --strict ends the
// command, or −1. Illegal orders of several kinds count together.
func firstSevere(list []arena.Fault) int {
	illegal := map[int]int{} // by seat
	return slices.IndexFunc(list, func(f arena.Fault) bool {
		if f.Kind == players.FaultIllegal {
			illegal[f.Seat] += f.Times
			return illegal[f.Seat] >= maxIllegal
		}
		return f.Kind == players.FaultCrash || f.Kind == players.FaultTimeout || f.Kind == arena.FaultNotFinite
	})
}
