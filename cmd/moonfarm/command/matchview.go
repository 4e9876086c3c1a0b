package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/page"
)

// matchView shows the game of match in a browser while it is played.
type matchView struct {
	serve      Pages
	asked      bool
	hold       bool
	http       string
	live       *view.Live // nil without --view
	ended      chan struct{}
	stopServer context.CancelFunc
}

// add adds the flags, if the program serves pages.
func (f *matchView) add(c *cobra.Command, serve Pages) {
	if f.serve = serve; serve == nil {
		return
	}
	c.Flags().BoolVar(&f.asked, "view", false, "show the game in a browser while it is played, and after it until the command is interrupted")
	c.Flags().BoolVar(&f.hold, "view-hold", false, "with --view: wait before each turn until the page lets it through, such as for a debugger; give the bots time by --timeout")
	c.Flags().StringVar(&f.http, "http", "127.0.0.1:0", "`HOST:PORT` of this machine for the page of --view")
}

// open begins to serve the page.
func (f *matchView) open(a *app, c *cobra.Command, s *series) error {
	switch {
	case !f.asked && f.hold:
		return console.WrongUse("--view-hold: it needs --view")
	case !f.asked:
		return nil
	case s.flags.games > 1:
		return console.WrongUse("--view shows one game, --games is %d", s.flags.games)
	}
	var names []string
	for _, k := range players.Seating(len(s.players), s.flags.first-1) {
		names = append(names, s.players[k].Name)
	}
	f.live, f.ended = view.NewLive(s.name, "", names, f.hold), make(chan struct{})
	ctx, stop := context.WithCancel(c.Context())
	f.stopServer = stop
	ready, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(f.ended)
		failed <- f.serve.ServeLive(ctx, f.http, page.HTML(nil), f.live, func(url string) {
			fmt.Fprintf(a.Stderr, "%s shows the game; Ctrl-C ends it\n", url)
			close(ready)
		})
	}()
	select {
	case <-ready:
		return nil
	case err := <-failed:
		return err
	}
}

// show lets a meeting show its states.
func (f *matchView) show(ctx context.Context, m *players.Meeting) {
	if f.live == nil {
		return
	}
	m.Show = func(scene players.Scene) error {
		f.live.Show(scene)
		return f.live.Wait(ctx)
	}
}

// mark marks a fault.
func (f *matchView) mark(fault *players.LiveFault) {
	if f.live != nil {
		f.live.Mark("fault", fault.Seat, strings.TrimSpace(fault.Kind+" "+fault.Text))
	}
}

// wait shows the game after its end, until ctx is done.
func (f *matchView) wait(ctx context.Context, a *app, g *matchGame) error {
	winner, best, scores := -1, 0, []string{}
	for i, seat := range g.Seats {
		if scores = append(scores, scoreText(seat.Score)); seat.Place == 1 {
			winner, best = i, best+1
		}
	}
	if best > 1 {
		winner = -1
	}
	f.live.End(winner, scores)
	if err := a.Out.Flush(); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// close ends the server.
func (f *matchView) close() {
	if f.live != nil {
		f.stopServer()
		<-f.ended
	}
}
