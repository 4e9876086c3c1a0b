package viewer

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/view"
)

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
