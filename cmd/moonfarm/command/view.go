package command

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/pictures"
	"moonfarm/env/catalog"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/curves"
	"moonfarm/rollout/view/page"
	"moonfarm/rollout/view/table"
	"moonfarm/sim/texts"
)

// viewFlags are the flags of view.
type viewFlags struct {
	gameFlags
	players string
	player  []string
	seed    uint64
	games   int
	only    []uint64
	out     string
	http    string

	tty         bool
	first, last uint64 // turns of tty
	speed       float64
	seat        string

	hint, save string
	turn       int

	gif   string
	width int
}

// Pages serves pages to browsers.
type Pages interface {
	// Serve shows games until ctx is done, at an address host:port of this machine. It calls ready with the
	// URL. source is a serve.Source.
	Serve(ctx context.Context, address string, page []byte, source func() (view.Answerer, int, error), ready func(url string)) error
	// ServeTable is Serve for a game with a person.
	ServeTable(ctx context.Context, address string, page []byte, t *table.Table, ready func(url string)) error
	// ServePage serves a page that is made anew for each visitor.
	ServePage(ctx context.Context, address string, page func() ([]byte, error), ready func(url string)) error
	// ServeLive is Serve for a game that is being played.
	ServeLive(ctx context.Context, address string, page []byte, l *view.Live, ready func(url string)) error
}

// mostPage bounds the data of a page without a server.
const mostPage = 512 << 20

func (a *app) view(serve Pages) *cobra.Command {
	f := &viewFlags{games: 1, seed: 1, last: math.MaxUint64, speed: 4, seat: seatAll}
	c := &cobra.Command{
		Use: "view WHAT", Short: "Look at games in a browser",
		Long: `Shows games in a browser: play, pause, step by turn and by moment, the numbers of
the players, their orders, the view of a seat under fog of war. WHAT is one of
these:

  a recording    of an original engine, as replay takes it, with one game or many
  a dataset      a folder or a URL
  a tournament   the folder of eval --out; games between policies are played again
  a run          the folder of an example that learns, with its curve.json or
                 curve.csv: charts of its progress, which follow the run
  GAME           with --players: games of these policies, played now

` + viewHelp(serve != nil) + `

A page loads nothing from elsewhere. The key ? shows all keys.

` + playHelp + `

With --tty the first game, or that of --episodes, is shown in the terminal with
colours, moment by moment; where there is no terminal, or NO_COLOR is set, the
positions are printed as text. With --gif that game is written as an animation.

With --json: one object with the keys file and bytes of the page or animation,
"" and 0 if the page is served, and url, "" if it is not.`,
		Example: "  moonfarm view ../shared/replays/terminal/2026-001.replay.gz\n  moonfarm view data/td --episodes 3,17\n  moonfarm view codecraft --players squads,econ --seed 7 --out game.html",
		Args:    console.Takes("WHAT"),
		RunE:    func(c *cobra.Command, args []string) error { return a.runView(c, args[0], f, serve) },
	}
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "", "`FILE` for a page with all data in it")
	if serve != nil {
		flags.StringVar(&f.http, "http", "127.0.0.1:0", "`HOST:PORT` of this machine to serve the page at; port 0 is any free one")
	}
	flags.StringVar(&f.players, "players", "", "`A,B`: policies to play GAME now, one for each seat or one for all")
	flags.StringArrayVar(&f.player, "player", nil, "`WHO` plays as well; may have commas, and be given several times")
	flags.BoolVar(&f.tty, "tty", false, "show the game in the terminal")
	flags.Var(numberRange(&f.first, &f.last, "a turn"), "turns", "turns to show with --tty or --gif, counted from 0 (default: all)")
	flags.Float64Var(&f.speed, "speed", f.speed, "turns a second with --tty or --gif")
	flags.StringVar(&f.gif, "gif", "", "`FILE` for an animation of the game as GIF")
	widthFlag(c, &f.width, fmt.Sprintf("width of the GIF in pixels (default: %d)", pictures.GIFWidth))
	flags.Var(console.Choice(&f.seat, seatAll, "A", "B", "C", "D"), "seat", "seat whose view --tty and --gif show, under fog of war")
	seedFlag(c, &f.seed)
	flags.Var(console.Whole(&f.games, 1, view.MostListed), "games", "number of games to play")
	flags.Var(numbersFlag{&f.only}, "episodes", "`N,N`: only these games, by their numbers in the list")
	f.addPlay(c)
	rulesFlag(c, &f.rulesFile, "the rule values, of GAME or of a recorded game without them")
	f.addMaxTurns(c)
	return c
}

// viewHelp says where the page is.
func viewHelp(serves bool) string {
	if serves {
		return `The page is served at an address of this machine, which is printed, until the
command is interrupted. The page follows a recording that changes. With --out
the command writes one file instead, with all data in it, that a browser opens
without a server.`
	}
	return `The command writes one file, with all data in it, that a browser opens: --out, or
view.html. ` + console.FullProgram + ` view serves the page instead: large datasets and
tournaments open at once there, and the page follows a recording that changes.`
}

// numbersFlag is a flag of numbers with commas between them.
type numbersFlag struct{ to *[]uint64 }

// String implements pflag.Value.
func (f numbersFlag) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*f.to), " ", ","), "[]")
}

// Type implements pflag.Value.
func (numbersFlag) Type() string { return "N,N" }

// Set implements pflag.Value.
func (f numbersFlag) Set(text string) error {
	for _, one := range strings.Split(text, ",") {
		var n uint64
		if err := console.Whole(&n, 0, uint64(math.MaxUint64)).Set(one); err != nil {
			return err
		}
		*f.to = append(*f.to, n)
	}
	return nil
}

// specs returns the players.
func (f *viewFlags) specs() ([]string, error) {
	if f.players == "" {
		return f.player, nil
	}
	list, err := readSpecs("players", f.players)
	return append(list, f.player...), err
}

func (a *app) runView(c *cobra.Command, what string, f *viewFlags, serve Pages) error {
	specs, err := f.specs()
	if err != nil {
		return err
	}
	if f.gif != "" && (f.tty || f.out != "" || c.Flags().Changed("http") || slices.Contains(specs, human)) {
		return console.WrongUse("--gif: without --tty, --out, --http and human")
	}
	if slices.Contains(specs, human) {
		return a.viewPlay(c, what, specs, f, serve)
	}
	for _, name := range []string{"hint", "save", "turn"} {
		if c.Flags().Changed(name) {
			return console.WrongUse("--%s is for a game with a player named human", name)
		}
	}
	if curves.Holds(what) {
		return a.viewCurves(c, what, f, serve)
	}
	shelf, err := f.open(c, what)
	if err != nil {
		return err
	}
	if f.gif != "" {
		return a.viewGIF(c, f, shelf)
	}
	if f.tty {
		if f.out != "" || c.Flags().Changed("http") {
			return console.WrongUse("--tty: without --out and --http")
		}
		return a.viewText(c.Context(), f, shelf)
	}
	if serve == nil || f.out != "" {
		if c.Flags().Changed("http") {
			return console.WrongUse("--http and --out: expected one of them")
		}
		return a.writePage(f, shelf)
	}
	w := &watched{file: what, desk: view.NewDesk(shelf), version: 1, open: func() (view.Shelf, error) { return f.open(c, what) }}
	w.stamp()
	return serve.Serve(c.Context(), f.http, page.HTML(nil), w.source, a.ready(what))
}

// viewed is the result of view. Its JSON keys are documented in the help.
type viewed struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
	URL   string `json:"url"`
}

// ready returns a function that says where the page is.
func (a *app) ready(what string) func(url string) {
	return func(url string) {
		if a.Print(viewed{URL: url}, func() { a.Printf("%s\n", url) }) == nil {
			_ = a.Out.Flush() // an error is reported at the end
		}
		fmt.Fprintf(a.Stderr, "%s is shown there; Ctrl-C ends it\n", what)
	}
}

// watched is a shelf that is opened again when its file changes.
type watched struct {
	file string
	open func() (view.Shelf, error)

	mu      sync.Mutex
	desk    *view.Desk
	version int
	looked  time.Time
	size    int64
	changed time.Time
}

// stamp reports whether the file has changed since the last call.
func (w *watched) stamp() bool {
	s, err := os.Stat(w.file)
	if w.looked = time.Now(); err != nil || s.IsDir() || s.Size() == w.size && s.ModTime().Equal(w.changed) {
		return false
	}
	w.size, w.changed = s.Size(), s.ModTime()
	return true
}

// source is a serve.Source. While a changed file cannot be read, such as one that is being written, it
// shows what was there before.
func (w *watched) source() (view.Answerer, int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.looked) > time.Second/2 && w.stamp() {
		if shelf, err := w.open(); err == nil {
			w.desk = view.NewDesk(shelf)
			w.version++
		}
	}
	return w.desk, w.version, nil
}

// viewCurves shows the progress of a run that learns.
func (a *app) viewCurves(c *cobra.Command, dir string, f *viewFlags, serve Pages) error {
	if serve == nil || f.out != "" {
		r, err := curves.Read(dir)
		if err != nil {
			return err
		}
		text, err := curves.Page(r, 0)
		if err != nil {
			return err
		}
		return a.savePage(f, text, dir)
	}
	if _, err := curves.Read(dir); err != nil {
		return err
	}
	return serve.ServePage(c.Context(), f.http, func() ([]byte, error) {
		r, err := curves.Read(dir)
		if err != nil {
			return nil, err
		}
		return curves.Page(r, refreshSeconds)
	}, a.ready(dir))
}

// refreshSeconds is the time between two looks at a run.
const refreshSeconds = 5

// writePage writes the page with all data in it.
func (a *app) writePage(f *viewFlags, shelf view.Shelf) error {
	data, err := view.NewDesk(shelf).Everything(mostPage)
	if err != nil {
		return err
	}
	return a.savePage(f, page.HTML(data), texts.Plural(int(shelf.Head().Total), "game"))
}

// savePage writes a page with all its data.
func (a *app) savePage(f *viewFlags, text []byte, what string) error {
	name := f.out
	if name == "" {
		name = "view.html"
	}
	if err := writeWhole(name, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	full, err := filepath.Abs(name)
	if err != nil {
		full = name
	}
	return a.Print(viewed{File: full, Bytes: len(text)}, func() {
		a.Printf("%s: %s, %.1f MB; open it in a browser\n", full, what, float64(len(text))/1e6)
	})
}

// viewGIF writes the first game as an animation.
func (a *app) viewGIF(c *cobra.Command, f *viewFlags, shelf view.Shelf) error {
	film, entry, err := firstFilm(shelf)
	if err != nil {
		return err
	}
	if err := f.writeGIF(c.Context(), film, entry); err != nil {
		return err
	}
	full, err := filepath.Abs(f.gif)
	if err != nil {
		full = f.gif
	}
	s, err := os.Stat(f.gif)
	if err != nil {
		return err
	}
	return a.Print(viewed{File: full, Bytes: int(s.Size())}, func() { a.Printf("%s: %.1f MB\n", full, float64(s.Size())/1e6) })
}

// open finds out what WHAT is.
func (f *viewFlags) open(c *cobra.Command, what string) (view.Shelf, error) {
	ctx := c.Context()
	_, err := catalog.Find(what)
	played := f.players != "" || len(f.player) > 0
	if s, statErr := os.Stat(what); err == nil && (statErr != nil || !s.IsDir() || played) {
		if !played {
			return nil, console.WrongUse("--players is missing: policies to play %s, such as --players random,random", what)
		}
		return f.keep(f.play(ctx, what))
	}
	for _, name := range []string{"players", "player", "seed", "games", "max-turns"} {
		if c.Flags().Changed(name) {
			return nil, console.WrongUse("--%s is for games to play, such as: view terminal --players maze,planner; %s is no game", name, what)
		}
	}
	if _, err := os.Stat(filepath.Join(what, journalName)); err == nil {
		return f.keep(f.tournament(what))
	}
	isDataset, err := holdsDataset(what)
	switch {
	case err != nil:
		return nil, err
	case isDataset && f.rulesFile != "":
		return nil, console.WrongUse("--rules is for recordings and games to play; %s is a dataset, which has its own", what)
	case isDataset:
		return f.dataset(ctx, what)
	}
	l, err := f.recording(ctx, what)
	if err == nil {
		l.live = f.out == ""
	}
	return f.keep(l, err)
}

// keep leaves only the games of --episodes.
func (f *viewFlags) keep(l *gameList, err error) (view.Shelf, error) {
	if err != nil {
		return nil, err
	}
	if len(f.only) > 0 {
		for _, n := range f.only {
			if !slices.ContainsFunc(l.games, func(g *listedGame) bool { return g.id == n }) {
				return nil, console.WrongUse("--episodes %d: %s has no such game, it has %s", n, l.title, texts.Plural(len(l.games), "game"))
			}
		}
		l.games = slices.DeleteFunc(l.games, func(g *listedGame) bool { return !slices.Contains(f.only, g.id) })
	}
	return l.shelf(), nil
}
