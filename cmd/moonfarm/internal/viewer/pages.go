// Package viewer shows games: on pages of a browser, also while a game is played, and in a terminal.
package viewer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/human"
)

// Pages begins to serve a page to browsers.
type Pages func(at Address, shown Shown) (Server, error)

// Server serves a page.
type Server interface {
	URL() string // with the secret that visitors need
	Close()
}

// Shown is what a page shows: one of these.
type Shown struct {
	Games  func() (view.Answerer, int, error) // a serve.Source
	Person *human.Session                     // a game with a person
	Live   *view.Live                         // a game that is being played
}

// Address is where a page is served.
type Address struct {
	Listen string   // host:port of this machine
	Hosts  []string // names under which a proxy forwards visitors
}

// Add adds the flags of the page.
func (a *Address) Add(c *cobra.Command, page string) {
	c.Flags().StringVar(&a.Listen, "http", "127.0.0.1:0", "`HOST:PORT` of "+page+"; 0: a free port")
	HostFlag(c, &a.Hosts)
}

// Changed reports whether one of the flags is given.
func (a *Address) Changed(c *cobra.Command) bool {
	return c.Flags().Changed("http") || c.Flags().Changed("http-host")
}

// HostFlag adds the flag for the names of a proxy.
func HostFlag(c *cobra.Command, to *[]string) {
	set := func(text string) error {
		for _, name := range strings.Split(text, ",") {
			if u, err := url.Parse("http://" + name); err != nil || name == "" || u.Hostname() != name || u.Host != name {
				return errors.New("expected names without a port, such as viewer.example")
			}
			*to = append(*to, name)
		}
		return nil
	}
	c.Flags().Var(console.Value{Parse: set, Show: func() string { return strings.Join(*to, ",") }, Kind: "NAMES"}, "http-host",
		"names, with commas, under which a proxy forwards visitors to --http")
}

// Viewed is the result of view. Its JSON keys are documented in JSON.md.
type Viewed struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
	URL   string `json:"url"`
}

// Serve serves a page until ctx is done, and says where it is.
func (p Pages) Serve(ctx context.Context, c *console.Console, what string, at Address, shown Shown) error {
	s, err := p(at, shown)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.Print(Viewed{URL: s.URL()}, func() { c.Printf("%s\n", s.URL()) }) == nil {
		_ = c.Out.Flush() // an error is reported at the end
	}
	c.Tell("%s is shown there; Ctrl-C ends it\n", what)
	<-ctx.Done()
	return nil
}

// Watched is a game list that is opened again when its file changes.
type Watched struct {
	file string
	open func() (view.GameList, error) // opens it again

	mu        sync.Mutex
	responder *view.Responder
	total     uint64 // games
	version   int
	looked    time.Time
	opening   time.Duration // how long it took the last time
	size      int64
	changed   time.Time
}

// Watch returns the game list of a file, which open opens again.
func Watch(file string, games view.GameList, open func() (view.GameList, error)) *Watched {
	w := &Watched{file: file, responder: view.NewResponder(games), total: games.Head().Total, version: 1, open: open}
	w.stamp()
	return w
}

// stamp reports whether the file has changed since the last call.
func (w *Watched) stamp() bool {
	s, err := os.Stat(w.file)
	if w.looked = time.Now(); err != nil || s.IsDir() || s.Size() == w.size && s.ModTime().Equal(w.changed) {
		return false
	}
	w.size, w.changed = s.Size(), s.ModTime()
	return true
}

// lookEvery is the least time between two looks at the file.
const lookEvery = time.Second / 2

// Source is a serve.Source. While a changed file cannot be read, such as one that is being written, it
// shows what was there before. It spends at most a twentieth of the time on opening a file that keeps changing.
func (w *Watched) Source() (view.Answerer, int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.looked) > max(lookEvery, 20*w.opening) && w.stamp() {
		begun := time.Now()
		if games, err := w.open(); err == nil {
			h := games.Head()
			if h.Grows && h.Total >= w.total {
				w.responder = w.responder.Grown(games)
			} else {
				w.responder = view.NewResponder(games)
			}
			w.total = h.Total
			w.version++
		}
		w.opening = time.Since(begun)
	}
	return w.responder, w.version, nil
}

// whileRunning shows in a browser what a command does while it does it, and after it.
type whileRunning struct {
	serve  Pages
	asked  bool
	at     Address
	server Server // nil before open and without --view
}

// add adds the flags, if the program serves pages.
func (w *whileRunning) add(c *cobra.Command, serve Pages, usage string) {
	if w.serve = serve; serve != nil {
		c.Flags().BoolVar(&w.asked, "view", false, usage)
		w.at.Add(c, "the page of --view")
	}
}

// unasked returns an error if flags of the page are given without --view.
func (w *whileRunning) unasked(c *cobra.Command) error {
	if w.serve != nil && !w.asked && w.at.Changed(c) {
		return console.WrongUse("--http, --http-host: they need --view")
	}
	return nil
}

// Asked reports whether there is something to be shown.
func (w *whileRunning) Asked() bool { return w.asked }

// open begins to serve a page, until Close is called, and says where it is.
func (w *whileRunning) open(stderr io.Writer, what string, shown Shown) (err error) {
	if w.server, err = w.serve(w.at, shown); err == nil {
		fmt.Fprintf(stderr, "%s shows %s; Ctrl-C ends it\n", w.server.URL(), what)
	}
	return err
}

// Wait goes on showing after the end, until ctx is done.
func (w *whileRunning) Wait(ctx context.Context, c *console.Console) error {
	if w.server == nil {
		return nil
	}
	if err := c.Out.Flush(); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// Close ends the server.
func (w *whileRunning) Close() {
	if w.server != nil {
		w.server.Close()
	}
}

// Tournament shows the tournament of eval in a browser while it is played.
type Tournament struct{ whileRunning }

// Add adds the flags, if the program serves pages.
func (t *Tournament) Add(c *cobra.Command, serve Pages) {
	t.add(c, serve, "show the tournament of --out in a browser while it is played, and after it")
}

// Check fails if the flags need others. out is the folder of the journal, "" for none.
func (t *Tournament) Check(c *cobra.Command, out string) error {
	if t.asked && out == "" {
		return console.WrongUse("--view: it needs --out DIR, since it shows the games of the journal")
	}
	return t.unasked(c)
}

// Open begins to serve the page of a journal, whose games open lists.
func (t *Tournament) Open(a *console.Console, journal string, open func() (view.GameList, error)) error {
	games, err := open()
	if err != nil {
		return err
	}
	return t.open(a.Stderr, "the tournament", Shown{Games: Watch(journal, games, open).Source})
}

// Match shows the game of match in a browser while it is played.
type Match struct {
	whileRunning
	hold bool
	live *view.Live // nil without --view
}

// Add adds the flags, if the program serves pages.
func (f *Match) Add(c *cobra.Command, serve Pages) {
	f.add(c, serve, "show the game in a browser while it is played, and after it; implies --debug")
	if serve != nil {
		c.Flags().BoolVar(&f.hold, "view-hold", false, "with --view: wait before each turn until the page lets it through")
	}
}

// Open begins to serve the page of a game of players, by seat, if the flags ask for it. games is the number of games
// of the match.
func (f *Match) Open(a *console.Console, c *cobra.Command, game string, names []string, games int) error {
	switch {
	case !f.asked && f.hold:
		return console.WrongUse("--view-hold: it needs --view")
	case !f.asked:
		return f.unasked(c)
	case games > 1:
		return console.WrongUse("--view shows one game, --games is %d", games)
	}
	live := view.NewLive(game, "", names, f.hold)
	err := f.open(a.Stderr, "the game", Shown{Live: live})
	if err == nil {
		f.live = live
	}
	return err
}

// Show lets a meeting show its states, what its bots print, and what they draw if they are to draw.
func (f *Match) Show(ctx context.Context, m *players.Meeting, draw bool) {
	if f.live == nil {
		return
	}
	if draw {
		m.Drawn = f.live.Draw
	}
	m.Log = f.live.Log
	m.Show = func(scene players.Scene) error {
		f.live.Show(scene)
		return f.live.Wait(ctx)
	}
}

// Mark marks a fault.
func (f *Match) Mark(fault *players.LiveFault) {
	if f.live != nil {
		f.live.Mark("fault", fault.Seat, strings.TrimSpace(fault.Kind+" "+fault.Text))
	}
}

// Wait shows the game after its end, until ctx is done. winner is a seat, or −1.
func (f *Match) Wait(ctx context.Context, c *console.Console, winner int, scores []string) error {
	f.live.End(winner, scores)
	return f.whileRunning.Wait(ctx, c)
}
