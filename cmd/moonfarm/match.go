package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/env/catalog"
	"moonfarm/rollout/bots"
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
connect by TCP, and built-in policies. GAME is codecraft.

--player, once for each seat, says who plays:

  econ             a policy (see policies GAME), or a mixture of some
  empty            nobody: no orders
  tcp:31001        a client that connects to that port of this machine, with any
                   token ("tcp:" alone: to a free port, which is told)
  "./bot --fast"   a client to be started: any word with a slash, or a line
                   with blanks. {host}, {port} and {token} in it are filled in;
                   if it has none of them, they are added at its end. There is
                   no shell; quotes keep blanks. It is killed after the game,
                   with all that it has started

or --config gives seats, rules and seed as the config file of the original.

In every game the players sit one seat further; a map is played until all have
sat everywhere. The first has the seed of --seed itself. A client that breaks
the protocol or takes too long crashes: its entities go on as they were told,
the game too, and the results say why. That is no failure of the command.

With --json: one object with the keys game, rules (version), seed, players (each
with player, games, wins: first places, shared ones too; place: the mean; score:
the mean; crashes) and games (each with number, seed, ticks, seconds, seats:
each with player, score, place, crashed, comment, seconds: what it took for its
answers).`,
		Example: `  moonfarm match codecraft --player econ --player quickstart --games 10
  moonfarm match codecraft --player "python3 main.py" --player tcp:31001
  moonfarm match codecraft --config config.json --save-results results.json`,
		Args: takes("GAME"),
		RunE: func(c *cobra.Command, args []string) error { return a.runMatch(c, args[0], f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.config, "config", "", "config `FILE` of the original: seed, game and players")
	flags.StringArrayVar(&f.players, "player", nil, "`WHO` plays at the next seat")
	flags.Var(whole[uint64]{&f.seed, 0, math.MaxUint64}, "seed", "seed of the first game")
	flags.StringVar(&f.rules, "rules", "", "`FILE` with the game's own rule values, or the name of a preset: finals, round2 or round1; its number of players is that of --player")
	flags.Var(whole[int]{&f.games, 1, maxMatches}, "games", "how many games")
	flags.Var(whole[int]{&f.parallel, 1, maxWorkers}, "parallel", "how many games at once")
	flags.StringVar(&f.results, "save-results", "", "`FILE` for the results of a game, as the original writes them; {game} is its number")
	flags.StringVar(&f.replay, "save-replay", "", "`FILE` for the replay of a game, as the original writes it; {game} is its number")
	flags.StringVar(&f.logs, "logs", "", "`DIR` for all that started clients print: one file for each and game (default: it is dropped)")
	flags.Var(seconds{&f.answer}, "timeout", "for each answer of a client; 0: no limit (default 10, of a config what it says)")
	flags.Var(seconds{&f.accept}, "accept-timeout", "until a client has connected; 0: no limit (default 60 for those that are started, else none)")
	flags.Var(seconds{&f.game}, "game-timeout", "for all answers of a client in a game (default: no limit)")
	flags.Bool("batch-mode", true, "as the original has it: no window. There never is one")
	return c
}

// maxMatches bounds --games.
const maxMatches = 1_000_000

// seconds is the value of a flag that takes a time.
type seconds struct{ to *time.Duration }

// Set implements the flag's value.
func (s seconds) Set(text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= 1e6) {
		return fmt.Errorf("expected seconds, from 0 to 1000000")
	}
	*s.to = time.Duration(n * float64(time.Second))
	if n > 0 && *s.to == 0 {
		*s.to = 1
	}
	return nil
}

// String implements the flag's value.
func (s seconds) String() string {
	if s.to == nil || *s.to == 0 {
		return ""
	}
	return decimal(s.to.Seconds())
}

// Type names the value in the help.
func (s seconds) Type() string { return "SECONDS" }

// runMatch plays.
func (a *app) runMatch(c *cobra.Command, game string, f *matchFlags) error {
	if _, err := catalog.Find(game); err != nil {
		return usageError{err}
	}
	if game != "codecraft" {
		return wrongUse("match: no clients of %s can play; of codecraft they can", game)
	}
	if err := f.checkFiles(); err != nil {
		return err
	}
	s, err := newSeries(c, f)
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
	if err != nil {
		return err
	}
	r := s.report(list)
	return a.print(r, func() { a.printMatches(r, passed) })
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
	}
	if f.results != "" && filepath.Clean(f.results) == filepath.Clean(f.replay) {
		return wrongUse("--save-results and --save-replay: the same file %s", f.results)
	}
	return nil
}

// matchReport tells how games went. Its JSON keys are documented in the help.
type matchReport struct {
	Game    string        `json:"game"`
	Rules   string        `json:"rules"`
	Seed    uint64        `json:"seed"`
	Players []matchPlayer `json:"players"`
	Games   []matchGame   `json:"games"`
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
	Seconds float64 `json:"seconds"`
	entrant int
}

// play plays all games, some at once, and returns them in order.
func (s *series) play(ctx context.Context, progress func(done int)) ([]matchGame, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	list := make([]matchGame, s.flags.games)
	numbers := make(chan int)
	var workers sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range min(s.flags.parallel, s.flags.games) {
		workers.Go(func() {
			for n := range numbers {
				if err := s.playGame(ctx, n, &list[n]); err != nil {
					cancel(fmt.Errorf("game %d: %w", n+1, err)) // the first cause stays
					continue
				}
				mu.Lock()
				done++
				progress(done)
				mu.Unlock()
			}
		})
	}
feed:
	for n := range s.flags.games {
		select {
		case numbers <- n:
		case <-ctx.Done():
			break feed
		}
	}
	close(numbers)
	workers.Wait()
	return list, context.Cause(ctx)
}

// playGame plays one game, with its files.
func (s *series) playGame(ctx context.Context, n int, into *matchGame) error {
	m, seats, err := s.match(n)
	if err != nil {
		return err
	}
	defer closeLogs(m)
	var r *bots.Result
	play := func(w io.Writer) (err error) {
		m.Replay = w
		r, err = m.Play(ctx)
		return err
	}
	if s.flags.replay != "" {
		err = writeWhole(numbered(s.flags.replay, n), play)
	} else {
		err = play(nil)
	}
	if err != nil {
		return err
	}
	if s.flags.results != "" {
		if err := writeWhole(numbered(s.flags.results, n), func(w io.Writer) error {
			_, err := w.Write(append(r.Append(nil), '\n'))
			return err
		}); err != nil {
			return err
		}
	}
	*into = matchGame{Number: n + 1, Seed: r.Seed, Ticks: r.Ticks, Seconds: r.Time.Seconds()}
	for i, e := range seats {
		seat := matchSeat{
			Player: s.entrants[e].name, Score: r.Results.Results[i], Place: 1,
			Crashed: r.Players[i].Crashed, Comment: r.Players[i].Comment, Seconds: r.Used[i].Seconds(), entrant: e,
		}
		for _, other := range r.Results.Results {
			if other > seat.Score {
				seat.Place++
			}
		}
		into.Seats = append(into.Seats, seat)
	}
	return nil
}

// numbered is the name of a file of game n.
func numbered(name string, n int) string {
	return strings.ReplaceAll(name, gameMark, fmt.Sprintf("%04d", n+1))
}

// logFile is where a started client prints to.
func (s *series) logFile(n, entrant int) (io.Writer, error) {
	if s.flags.logs == "" {
		return nil, nil
	}
	return os.Create(filepath.Join(s.flags.logs, fmt.Sprintf("game-%04d-player-%d.log", n+1, entrant+1)))
}

func closeLogs(m *bots.Match) {
	for i := range m.Seats {
		if f, ok := m.Seats[i].Output.(*os.File); ok {
			f.Close()
		}
	}
}

// report sums games up.
func (s *series) report(list []matchGame) *matchReport {
	r := &matchReport{Game: "codecraft", Rules: s.version, Seed: s.seed, Games: list}
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
	crashes := func(g *matchGame, prefix string) {
		for i, seat := range g.Seats {
			if seat.Crashed {
				a.printf("%sseat %d, %s: %s\n", prefix, i+1, seat.Player, *seat.Comment)
			}
		}
	}
	if len(r.Games) == 1 {
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
