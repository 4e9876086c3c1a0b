package viewer

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/page"
)

// Match shows the game of match in a browser while it is played.
type Match struct {
	serve Pages
	asked bool
	hold  bool
	at    Address
	live  *view.Live // nil without --view
	stop  func()     // ends the server
}

// Add adds the flags, if the program serves pages.
func (f *Match) Add(c *cobra.Command, serve Pages) {
	if f.serve = serve; serve == nil {
		return
	}
	c.Flags().BoolVar(&f.asked, "view", false, "show the game in a browser while it is played, and after it; implies --debug")
	c.Flags().BoolVar(&f.hold, "view-hold", false, "with --view: wait before each turn until the page lets it through")
	f.at.Add(c, "the page of --view")
}

// Open begins to serve the page of a game of players, by seat, if the flags ask for it. games is the number of games
// of the match.
func (f *Match) Open(a *console.Console, c *cobra.Command, game string, names []string, games int) error {
	switch {
	case !f.asked && f.hold:
		return console.WrongUse("--view-hold: it needs --view")
	case !f.asked && f.at.Changed(c):
		return console.WrongUse("--http, --http-host: they need --view")
	case !f.asked:
		return nil
	case games > 1:
		return console.WrongUse("--view shows one game, --games is %d", games)
	}
	live := view.NewLive(game, "", names, f.hold)
	stop, err := background(c.Context(), a.Stderr, "the game", func(ctx context.Context, ready func(url string)) error {
		return f.serve.ServeLive(ctx, f.at, page.HTML(nil), live, ready)
	})
	if err == nil {
		f.live, f.stop = live, stop
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

// Asked reports whether the game is shown.
func (f *Match) Asked() bool { return f.live != nil }

// Wait shows the game after its end, until ctx is done. winner is a seat, or −1.
func (f *Match) Wait(ctx context.Context, c *console.Console, winner int, scores []string) error {
	f.live.End(winner, scores)
	if err := c.Out.Flush(); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// Close ends the server.
func (f *Match) Close() {
	if f.live != nil {
		f.stop()
	}
}
