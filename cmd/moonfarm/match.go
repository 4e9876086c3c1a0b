package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/env/catalog"
)

// matchFlags are the flags of match.
type matchFlags struct {
	config, rules string
	players       []string
	seed          uint64
	games         int
	parallel      int
	results       string
	replay        string
	logs          string
	answer        time.Duration
	accept        time.Duration
	game          time.Duration
}

func (a *app) match() *cobra.Command {
	f := &matchFlags{seed: 1, games: 1, parallel: 1}
	c := &cobra.Command{
		Use: "match GAME", Short: "Let programs of the original contest play, against each other or policies",
		Long: `Plays games between clients of the original contest, which are programs that
connect by TCP, and built-in policies. GAME is ` + names(withClients()) + `.

--player, once for each seat, says who plays:

  econ             a policy (see policies GAME), or a mixture of some: a text
                   that is the name of one, or such a name with parentheses
  tcp:31001        a client that connects to that port of this machine, with any
                   token ("tcp:" alone: to a free port, which is told)
  "./bot --fast"   any other text is a command line, of a client to be started.
                   {host}, {port} and {token} in it are filled in; if it has
                   none of them, they are added at its end. There is no shell;
                   quotes keep blanks. It is killed after the game, with all
                   that it has started
  cmd:econ         a command line, even if it is named like a policy

or --config gives seats, rules and seed as the config file of the original.

In every game the players sit one seat further; a map is played until all have
sat everywhere. The first has the seed of --seed itself. A client that breaks
the protocol or takes too long crashes: its entities go on as they were told,
the game too, and the results say why. That is no failure of the command. If it
is interrupted, it prints the games that came to their end, and its exit status
is 130.

With --json: one object with the keys game, rules (version), seed, complete
(false: some of the games are missing), players (each with player, games,
wins: first places, shared ones too; place: the mean; score: the mean; crashes)
and games (each with number, seed, ticks, seconds, seats: each with player,
score, place, crashed, comment, crash_tick (null if it never connected), exit
(how a started client that crashed ended by itself: "exit status 1", "signal:
killed", else ""), output (its last lines, if it crashed), seconds: what it took
for its answers).`,
		Example: `  moonfarm match codecraft --player econ --player quickstart --games 10
  moonfarm match codecraft --player "python3 main.py" --player tcp:31001
  moonfarm match codecraft --config config.json --save-results results.json`,
		Args: takes("GAME"),
		RunE: func(c *cobra.Command, args []string) error { return a.runMatch(c, args[0], f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.config, "config", "", "config `FILE` of the original: seed, game and players")
	flags.StringArrayVar(&f.players, "player", nil, "`WHO` plays at the next seat")
	flags.Var(whole(&f.seed, 0, math.MaxUint64), "seed", "seed of the first game")
	flags.StringVar(&f.rules, "rules", "", "`FILE` with the game's own rule values, or the name of a rule set ("+rulesDoc(withClients())+"); one that says no number of players is for those of --player")
	flags.Var(whole(&f.games, 1, maxMatches), "games", "how many games")
	flags.Var(whole(&f.parallel, 1, maxWorkers), "parallel", "how many games at once")
	flags.StringVar(&f.results, "save-results", "", "`FILE` for the results of a game, as the original writes them; {game} is its number")
	flags.StringVar(&f.replay, "save-replay", "", "`FILE` for the replay of a game, as the original writes it; the order of the entities in it tells import the seed; {game} is its number")
	flags.StringVar(&f.logs, "logs", "", "`DIR` for what started clients print: one file for each and game, up to 10 MiB (default: it is dropped)")
	flags.Var(seconds(&f.answer), "timeout", "for each answer of a client; 0: no limit (default 10, of a config what it says)")
	flags.Var(seconds(&f.accept), "accept-timeout", "until a client has connected; 0: no limit (default 60 for those that are started, else none)")
	flags.Var(seconds(&f.game), "game-timeout", "for all answers of a client in a game (default: no limit)")
	flags.Bool("batch-mode", true, "as the original has it: no window. There never is one")
	return c
}

// withClients lists the games whose clients can play.
func withClients() (list []gameTools) {
	for _, t := range tools {
		if t.series != nil {
			list = append(list, t)
		}
	}
	return list
}

// maxMatches bounds --games.
const maxMatches = 1_000_000

// runMatch plays.
func (a *app) runMatch(c *cobra.Command, game string, f *matchFlags) error {
	g, err := catalog.Find(game)
	if err != nil {
		return usageError{err}
	}
	open := toolsOf(game).series
	if open == nil {
		return wrongUse("match: no clients of %s can play; of %s they can", game, names(withClients()))
	}
	if err := f.checkFiles(); err != nil {
		return err
	}
	s, err := open(g, c, f)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.open(); err != nil {
		return err
	}
	for _, e := range s.entrants {
		if e.port != nil {
			fmt.Fprintf(a.stderr, "%s: waits for clients at %v\n", e.name, e.port.Address())
		}
	}
	if f.logs != "" {
		if err := os.MkdirAll(f.logs, 0o777); err != nil {
			return err
		}
	}
	m := a.meter("games")
	list, err := s.play(c.Context(), func(done int) { m.show(uint64(done), uint64(f.games), 0, "") })
	passed := m.end()
	a.resume = fmt.Sprintf("%d of %s played to the end", len(list), plural(f.games, "game"))
	if len(list) == 0 {
		return err
	}
	r := s.report(list)
	r.Complete = len(list) == f.games
	return errors.Join(err, a.print(r, func() { a.printMatches(r, passed) }))
}

// gameMark is what stands for the number of a game in the names of files.
const gameMark = "{game}"

// checkFiles tells what files to be written cannot be, before anybody plays.
func (f *matchFlags) checkFiles() error {
	for _, file := range [][2]string{{"save-results", f.results}, {"save-replay", f.replay}} {
		flag, name := file[0], file[1]
		if name == "" {
			continue
		}
		if f.games > 1 && !strings.Contains(name, gameMark) {
			return wrongUse("--%s %s: with --games %d its name must have %s in it", flag, name, f.games, gameMark)
		}
		first := numbered(name, 0)
		if s, err := os.Stat(filepath.Dir(first)); err != nil || !s.IsDir() {
			return wrongUse("--%s %s: there is no folder %s", flag, name, filepath.Dir(first))
		}
		if s, err := os.Stat(first); err == nil && s.IsDir() {
			return wrongUse("--%s %s: expected the name of a file, found a folder", flag, name)
		}
		part, err := os.CreateTemp(filepath.Dir(first), ".moonfarm-*")
		if err != nil {
			return fmt.Errorf("--%s %s: the folder cannot be written to: %w", flag, name, err)
		}
		part.Close()
		os.Remove(part.Name())
	}
	if f.results != "" && filepath.Clean(f.results) == filepath.Clean(f.replay) {
		return wrongUse("--save-results and --save-replay: the same file %s", f.results)
	}
	return nil
}

// matchReport tells how games went. Its JSON keys are documented in the help.
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
	Ticks   int         `json:"ticks"`
	Seconds float64     `json:"seconds"`
	Seats   []matchSeat `json:"seats"`
}

type matchSeat struct {
	Player  string  `json:"player"`
	Score   int64   `json:"score"`
	Place   int     `json:"place"`
	Crashed bool    `json:"crashed"`
	Comment *string `json:"comment"`
	// Of a crash: the tick, nil before the first; how a client that was started
	// here ended by itself; its last lines of output.
	Tick    *int     `json:"crash_tick"`
	Exit    string   `json:"exit"`
	Output  []string `json:"output"`
	Seconds float64  `json:"seconds"`
	entrant int
}

// report sums games up.
func (s *series) report(list []matchGame) *matchReport {
	r := &matchReport{Game: s.game.Name, Rules: s.version, Seed: s.seed, Games: list}
	for _, e := range s.entrants {
		r.Players = append(r.Players, matchPlayer{Player: e.name, Games: len(list)})
	}
	for _, g := range list {
		for _, seat := range g.Seats {
			p := &r.Players[seat.entrant]
			p.Place += float64(seat.Place) / float64(len(list))
			p.Score += float64(seat.Score) / float64(len(list))
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

func (a *app) printMatches(r *matchReport, passed time.Duration) {
	told := map[int]bool{} // of whom the last lines were shown: once is enough
	crashes := func(g *matchGame, prefix string) {
		for i, seat := range g.Seats {
			if !seat.Crashed {
				continue
			}
			a.printf("%sseat %d, %s: %s\n", prefix, i+1, seat.Player, *seat.Comment)
			if !told[seat.entrant] && len(seat.Output) > 0 {
				told[seat.entrant] = true
				a.printf("  it printed last:\n  | %s\n", strings.Join(seat.Output, "\n  | "))
			}
		}
	}
	if len(r.Games) == 1 && r.Complete { // the only one
		g := &r.Games[0]
		rows := [][]string{{"seat", "player", "score", "place", "time of answers"}}
		for i, seat := range g.Seats {
			rows = append(rows, []string{
				group(i + 1), seat.Player, group(seat.Score), group(seat.Place), fmt.Sprintf("%.3f s", seat.Seconds),
			})
		}
		a.table(rows...)
		crashes(g, "")
		a.printf("\n%s %s: %s, seed %d (%.1f s)\n", r.Game, r.Rules, plural(g.Ticks, "tick"), g.Seed, passed.Seconds())
		return
	}
	rows := [][]string{{"player", "games", "first", "mean place", "mean score", "crashes"}}
	for _, p := range r.Players {
		rows = append(rows, []string{
			p.Player, group(p.Games), group(p.Wins), fmt.Sprintf("%.2f", p.Place), group(int64(math.Round(p.Score))), group(p.Crashes),
		})
	}
	a.table(rows...)
	for i := range r.Games {
		crashes(&r.Games[i], fmt.Sprintf("game %d, ", r.Games[i].Number))
	}
	a.printf("\n%s %s: %s, seed %d (%.1f s)\n", r.Game, r.Rules, plural(len(r.Games), "game"), r.Seed, passed.Seconds())
}
