package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/gamelists"
	"moonfarm/cmd/moonfarm/internal/pictures"
	"moonfarm/cmd/moonfarm/internal/summary"
	"moonfarm/cmd/moonfarm/internal/viewer"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/curves"
	"moonfarm/rollout/view/overview"
	"moonfarm/rollout/view/page"
	"moonfarm/sim/texts"
)

// viewFlags are the flags of view.
type viewFlags struct {
	gameFlags
	playerFlags
	seed  uint64
	games int
	only  []uint64
	out   string
	at    viewer.Address

	tty         bool
	first, last uint64 // turns of tty
	speed       float64
	seat        string

	hint, save string
	turn       int

	gif   string
	width int
	notes noteFlags

	anchor string   // of the standings of a tournament
	files  []string // recordings to show as one list; nil: WHAT is something else

	console *console.Console // nil: no progress is shown
}

// seatAll is the view of a spectator.
const seatAll = "all"

// mostPage bounds the data of a page without a server.
const mostPage = 512 << 20

func (a *app) view(serve viewer.Pages) *cobra.Command {
	f := &viewFlags{games: 1, seed: 1, last: math.MaxUint64, speed: 4, seat: seatAll, console: a.Console}
	c := &cobra.Command{
		Use: "view WHAT…", Short: "Look at games in a browser",
		Long: `Shows games in a browser: play, pause, step by turn and by moment, the numbers
of the players, their orders, the view of a seat under fog of war. WHAT is one
of these:

  a recording    of an original engine, as replay takes it, with its games;
                 several of them, or a folder or a pattern such as '*.replay'
                 stand for a list of all their games
  a dataset      a folder or a URL, with the figures and plots of inspect --html
  a tournament   the folder of eval --out, with its standings, the scores of all
                 pairs, which lead to their games, and the faults; games between
                 policies are played again
  a run          the folder of moonfarm train or of an example, with its
                 curve.csv: charts of its progress, which follow the run
  GAME           with --players: games of these policies, played now

` + viewHelp(serve != nil) + `

A page loads nothing from elsewhere. The key ? shows all keys.

` + notesHelp + `

` + playHelp + `

With --tty the first game, or that of --episodes, is shown in the terminal with
colours, moment by moment; where there is no terminal, or NO_COLOR is set, the
positions are printed as text. With --gif that game is written as an animation.`,
		Example: "  moonfarm view ../shared/replays/terminal/2026-001.replay.gz\n  moonfarm view data/td --episodes 3,17\n  moonfarm view codecraft --players squads,econ --seed 7 --out game.html",
		Args:    console.Takes("WHAT…"),
		RunE:    func(c *cobra.Command, args []string) error { return a.runView(c, args, f, serve) },
	}
	flags := c.Flags()
	flags.Var(a.Output(&f.out), "out", "`FILE` for a page with all data in it")
	if serve != nil {
		f.at.Add(c, "the page")
	}
	f.playerFlags.add(c, "`A,B`: policies to play GAME now, one for each seat or one for all")
	flags.BoolVar(&f.tty, "tty", false, "show the game in the terminal")
	flags.Var(numberRange(&f.first, &f.last, "a turn"), "turns", "turns to show with --tty or --gif, counted from 0 (default: all)")
	flags.Float64Var(&f.speed, "speed", f.speed, "turns a second with --tty or --gif")
	flags.Var(a.Output(&f.gif), "gif", "`FILE` for an animation of the game as GIF")
	widthFlag(c, &f.width, fmt.Sprintf("width of the GIF in pixels (default: %d)", pictures.GIFWidth))
	flags.Var(console.Choice(&f.seat, seatAll, "A", "B", "C", "D"), "seat", "seat whose view --tty and --gif show, under fog of war")
	seedFlag(c, &f.seed)
	flags.Var(console.Whole(&f.games, 1, view.MostListed), "games", "number of games to play")
	flags.Var(console.Numbers(&f.only), "episodes", "`N,N`: only these games, by their numbers in the list")
	f.addPlay(a, c)
	f.notes.add(c)
	rulesFlag(c, &f.rulesFile, "the rule values, of GAME, or of a recorded game or an old tournament without them")
	f.addMaxTurns(c)
	return c
}

// viewHelp says where the page is.
func viewHelp(serves bool) string {
	if serves {
		return `The page is served at an address of this machine, which is printed, until the
command is interrupted. The address has a secret that visitors need: a browser
opens it, and a program sends the header Authorization: Bearer SECRET. The page
follows a recording that changes, and a tournament that is played. With --out
the command writes one file instead, with all data in it, that a browser opens
without a server.`
	}
	return `The command writes one file, with all data in it, that a browser opens: --out,
or view.html. ` + console.FullProgram + ` view serves the page instead: large datasets and
tournaments open at once there, and the page follows a recording that changes.`
}

func (a *app) runView(c *cobra.Command, args []string, f *viewFlags, serve viewer.Pages) error {
	specs, err := f.specs()
	if err != nil {
		return err
	}
	what, err := f.find(c.Context(), args, len(specs) > 0, serve == nil || f.out != "")
	if err != nil {
		return err
	}
	if f.gif != "" && (f.tty || f.out != "" || f.at.Changed(c) || slices.Contains(specs, viewer.Human)) {
		return console.WrongUse("--gif: without --tty, --out, --http and human")
	}
	if err := errors.Join(a.CheckFile("out", f.out), a.CheckFile("gif", f.gif), a.CheckFile("save", f.save)); err != nil {
		return err
	}
	if err := f.notes.check(f.gif == "" && !f.tty && curves.File(what) == "", slices.Contains(specs, viewer.Human)); err != nil {
		return err
	}
	if slices.Contains(specs, viewer.Human) {
		return a.viewPlay(c, what, specs, f, serve)
	}
	for _, name := range []string{"hint", "save", "turn"} {
		if c.Flags().Changed(name) {
			return console.WrongUse("--%s is for a game with a player named human", name)
		}
	}
	games, err := f.openNoted(c, what)
	if err != nil {
		return err
	}
	if f.gif != "" {
		return a.viewGIF(c, f, games)
	}
	if f.tty {
		if f.out != "" || f.at.Changed(c) {
			return console.WrongUse("--tty: without --out and --http")
		}
		return a.viewText(c.Context(), f, games)
	}
	if serve == nil || f.out != "" {
		if f.at.Changed(c) {
			return console.WrongUse("--http and --out: expected one of them")
		}
		return a.writePage(f, games)
	}
	file := what
	switch {
	case isTournament(what):
		file = filepath.Join(what, journalName)
	case curves.File(what) != "":
		file = curves.File(what)
	}
	f.console = nil
	w := viewer.Watch(file, games, func() (view.GameList, error) { return f.openNoted(c, what) })
	return serve.Serve(c.Context(), a.Console, what, f.at, viewer.Shown{Games: w.Source})
}

// find sets v.files if the arguments are many recordings, and returns what the arguments stand for. played says that games
// are played now, and whole that all games are written into one page, unless --tty or --gif asks for the first.
func (v *viewFlags) find(ctx context.Context, args []string, played, whole bool) (what string, err error) {
	what, first := args[0], v.tty || v.gif != ""
	if !played && !isTournament(what) && curves.File(what) == "" {
		if v.files, err = recordingFiles(ctx, args); err != nil {
			return "", err
		}
	}
	switch n := len(v.files); {
	case n == 0 && len(args) > 1:
		return "", console.WrongUse("expected one WHAT, or several recordings, found %d: %q", len(args), args)
	case n == 0:
		return what, nil
	case first && len(v.only) == 0:
		v.files = v.files[:1]
	case whole && !first && n > view.MostListed && len(v.only) == 0: // each has a game at least
		return "", manyGames(fmt.Errorf("%d recordings, a page holds at most %d games: %w", n, view.MostListed, view.ErrMany))
	}
	return "the list of " + texts.Plural(len(v.files), "recording"), nil
}

// writePage writes the page with all data in it.
func (a *app) writePage(f *viewFlags, games view.GameList) error {
	m := a.Meter("games")
	r := view.NewResponder(games)
	r.Progress = func(done, all int) { m.Show(uint64(done), uint64(all), 0, "") }
	data, err := r.Everything(mostPage)
	m.End()
	if err != nil {
		return manyGames(err)
	}
	h := games.Head()
	shown := texts.Plural(int(h.Total), "game")
	if h.Total == 0 { // a run
		shown = h.Title
	}
	return a.savePage(f, page.HTML(data), shown)
}

// manyGames adds to an error of games that are too many for a page what shows them.
func manyGames(err error) error {
	if errors.Is(err, view.ErrMany) {
		return fmt.Errorf("%w by --episodes; %s view serves any number of games", err, console.FullProgram)
	}
	return err
}

// savePage writes a page with all its data.
func (a *app) savePage(f *viewFlags, text []byte, what string) error {
	name := f.out
	if name == "" {
		name = "view.html"
	}
	if _, err := a.WriteFile("out", name, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	full := console.FullName(name)
	return a.Print(viewer.Viewed{File: full, Bytes: len(text)}, func() {
		a.Printf("%s: %s, %.1f MB; open it in a browser\n", full, what, float64(len(text))/1e6)
	})
}

// viewGIF writes the first game as an animation.
func (a *app) viewGIF(c *cobra.Command, f *viewFlags, games view.GameList) error {
	film, entry, part, err := f.firstPart(games)
	if err != nil {
		return err
	}
	m := f.meter("positions")
	defer m.End()
	bytes, err := a.WriteFile("gif", f.gif, func(w io.Writer) error {
		return pictures.WriteGIF(c.Context(), w, film, part, cmp.Or(entry.Name, strings.Join(entry.Players, " – ")), f.width,
			func(done, all int) { m.Show(uint64(done), uint64(all), 0, "") })
	})
	if err != nil {
		return err
	}
	full := console.FullName(f.gif)
	return a.Print(viewer.Viewed{File: full, Bytes: bytes}, func() { a.Printf("%s: %.1f MB\n", full, float64(bytes)/1e6) })
}

// open finds out what WHAT is.
func (v *viewFlags) open(c *cobra.Command, what string) (view.GameList, error) {
	ctx := c.Context()
	if v.files != nil {
		return v.keep(v.recordings(ctx))
	}
	_, err := catalog.Find(what)
	played := v.players != "" || len(v.player) > 0
	if s, statErr := os.Stat(what); err == nil && (statErr != nil || !s.IsDir() || played) {
		if !played {
			return nil, console.WrongUse("--players is missing: policies to play %s, such as --players random,random", what)
		}
		return v.keep(v.play(c, what))
	}
	for _, name := range []string{"players", "player", "seed", "games", "max-turns"} {
		if c.Flags().Changed(name) {
			return nil, console.WrongUse("--%s is for games to play, such as: view terminal --players maze,planner; %s is no game", name, what)
		}
	}
	if isTournament(what) {
		return v.keep(v.tournament(what))
	}
	if file := curves.File(what); file != "" {
		return curves.Read(file, v.out == "")
	}
	isDataset, err := holdsDataset(what)
	switch {
	case err != nil:
		return nil, err
	case isDataset && v.rulesFile != "":
		return nil, console.WrongUse("--rules is for recordings and games to play; %s is a dataset, which has its own", what)
	case isDataset:
		o := gamelists.DatasetOptions{Title: what, Only: v.only}
		if v.only == nil { // else the overview would be of other games
			o.About = sync.OnceValues(func() (*overview.Document, error) {
				_, about, err := summary.Inspect(ctx, what, 0)
				return about, err
			})
		}
		return gamelists.Dataset(ctx, what, o)
	}
	l, err := v.recording(ctx, what)
	if err == nil {
		l.Live = v.out == ""
	}
	return v.keep(l, err)
}

// keep leaves only the games of --episodes.
func (v *viewFlags) keep(l *gamelists.List, err error) (view.GameList, error) {
	if err != nil {
		return nil, err
	}
	for _, n := range v.only {
		if !slices.ContainsFunc(l.Games, func(g *gamelists.Game) bool { return g.Entry.ID == n }) {
			return nil, console.WrongUse("--episodes %d: %s has no such game, it has %s", n, l.Title, texts.Plural(len(l.Games), "game"))
		}
	}
	if len(v.only) > 0 {
		l.Games = slices.DeleteFunc(l.Games, func(g *gamelists.Game) bool { return !slices.Contains(v.only, g.Entry.ID) })
		l.About = nil // it has the other games as well
	}
	return l.GameList(), nil
}

// recording lists the games of a recording.
func (v *viewFlags) recording(ctx context.Context, file string) (*gamelists.List, error) {
	m := v.meter("recording")
	defer m.End()
	l, err := gamelists.Recording(ctx, file, v.rulesOf)
	return l, asFlagError(err)
}

// recordings lists the games of many recordings.
func (v *viewFlags) recordings(ctx context.Context) (*gamelists.List, error) {
	m := v.meter("files")
	defer m.End()
	var left []error
	l, err := gamelists.Recordings(ctx, v.files, v.rulesOf, func(done int) { m.Show(uint64(done), uint64(len(v.files)), 0, "") },
		func(err error) { left = append(left, err) })
	if m.End(); len(left) > 0 && v.console != nil {
		v.console.Warn(fmt.Sprintf("%s left out; the first: %s", texts.Plural(len(left), "recording"), recordings.OneLine(left[0])))
	}
	return l, asFlagError(err)
}

// meter returns a meter, which shows nothing where WHAT is opened again while its page is served.
func (v *viewFlags) meter(what string) *console.Meter {
	if v.console == nil {
		return &console.Meter{}
	}
	return v.console.Meter(what)
}

// rulesOf returns the rules of a game whose recordings have none.
func (v *viewFlags) rulesOf(game string) (string, error) { return rulesOfRecordings(v.rulesFile, game) }

// play plays games of policies.
func (v *viewFlags) play(c *cobra.Command, game string) (*gamelists.List, error) {
	s, err := v.gameFlags.open(game)
	if err != nil {
		return nil, err
	}
	specs, err := v.specs()
	if err != nil {
		return nil, err
	}
	for _, spec := range specs {
		if kind, _ := players.Split(game, spec); kind != players.Policy && kind != players.Command {
			return nil, console.WrongUse("--players: %s is a bot, which plays here against a human; match %s --view shows games between bots", spec, game)
		}
	}
	seats := s.spec.Info.Players
	if len(specs) == 1 {
		specs = slices.Repeat(specs, seats)
	}
	if len(specs) != seats {
		return nil, console.WrongUse("--players: found %d, expected 1 or %d by these rules", len(specs), seats)
	}
	setup := &gamelists.Setup{Game: s.game, Rules: s.rules, Vector: s.vector, MaxTurns: v.maxTurns}
	m := v.meter("games")
	defer m.End()
	return gamelists.Play(c.Context(), setup, specs, v.seed, uint64(v.games), func(games int, turns uint64) {
		m.Show(uint64(games), uint64(v.games), turns, "turns")
	})
}

// viewText shows the first game of a game list in the terminal.
func (a *app) viewText(ctx context.Context, f *viewFlags, games view.GameList) error {
	if a.JSON {
		return console.WrongUse("--json: view prints no JSON with --tty")
	}
	film, _, part, err := f.firstPart(games)
	if err != nil {
		return err
	}
	return viewer.Text(ctx, a.Console, film, part)
}

// firstPart returns the first game of a list, and the part of it that --speed, --turns and --seat name.
func (v *viewFlags) firstPart(games view.GameList) (*view.Film, view.Entry, *view.Part, error) {
	film, entry, err := gamelists.First(games)
	if err != nil {
		return nil, entry, nil, err
	}
	if !(v.speed > 0) || math.IsInf(v.speed, 0) {
		return nil, entry, nil, console.WrongUse("--speed %v: expected a number above 0", v.speed)
	}
	if v.last == math.MaxUint64 {
		v.last = uint64(film.Turns())
	}
	if v.first > v.last || v.last > uint64(film.Turns()) {
		return nil, entry, nil, console.WrongUse("--turns %v: expected numbers from 0 to %d", numberRange(&v.first, &v.last, "a turn"), film.Turns())
	}
	seat := features.Spectator
	if v.seat != seatAll {
		if seat = int(v.seat[0] - 'A'); seat >= film.Seats() {
			return nil, entry, nil, console.WrongUse("--seat %s: the game has seats A to %c", v.seat, 'A'+rune(film.Seats()-1))
		}
	}
	return film, entry, &view.Part{Seat: seat, First: int(v.first), Last: int(v.last), Speed: v.speed}, nil
}
