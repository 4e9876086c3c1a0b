package viewer

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/page"
)

// Tournament shows the tournament of eval in a browser while it is played.
type Tournament struct {
	serve Pages
	asked bool
	at    Address
	stop  func() // ends the server; nil before Open and without --view
}

// Add adds the flags, if the program serves pages.
func (t *Tournament) Add(c *cobra.Command, serve Pages) {
	if t.serve = serve; serve == nil {
		return
	}
	c.Flags().BoolVar(&t.asked, "view", false, "show the tournament of --out in a browser while it is played, and after it")
	t.at.Add(c, "the page of --view")
}

// Check fails if the flags need others. out is the folder of the journal, "" for none.
func (t *Tournament) Check(c *cobra.Command, out string) error {
	switch {
	case t.asked && out == "":
		return console.WrongUse("--view: it needs --out DIR, since it shows the games of the journal")
	case t.serve != nil && !t.asked && t.at.Changed(c):
		return console.WrongUse("--http, --http-host: they need --view")
	}
	return nil
}

// Asked reports whether the tournament is to be shown.
func (t *Tournament) Asked() bool { return t.asked }

// Open begins to serve the page of a journal, whose games open lists.
func (t *Tournament) Open(ctx context.Context, a *console.Console, journal string, open func() (view.GameList, error)) error {
	games, err := open()
	if err != nil {
		return err
	}
	w := Watch(journal, games, open)
	t.stop, err = background(ctx, a.Stderr, "the tournament", func(ctx context.Context, ready func(url string)) error {
		return t.serve.Serve(ctx, t.at, page.HTML(nil), w.Source, ready)
	})
	return err
}

// Wait shows the tournament after its end, until ctx is done.
func (t *Tournament) Wait(ctx context.Context, c *console.Console) error {
	if t.stop == nil {
		return nil
	}
	if err := c.Out.Flush(); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// Close ends the server.
func (t *Tournament) Close() {
	if t.stop != nil {
		t.stop()
	}
}

// background serves a page that shows something until stop is called, and says where the page is. It returns once
// the page can be opened.
func background(ctx context.Context, stderr io.Writer, what string, serve func(ctx context.Context, ready func(url string)) error) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	ready, failed, ended := make(chan struct{}), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		failed <- serve(ctx, func(url string) {
			fmt.Fprintf(stderr, "%s shows %s; Ctrl-C ends it\n", url, what)
			close(ready)
		})
	}()
	stop = func() {
		cancel()
		<-ended
	}
	select {
	case <-ready:
		return stop, nil
	case err := <-failed:
		stop()
		return nil, err
	}
}
