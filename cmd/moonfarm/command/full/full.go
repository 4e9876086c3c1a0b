// Package full has the parts that moonfarm-full has in addition to moonfarm: the farm,
// with one file per subcommand, and stores for datasets.
package full

import (
	"context"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/command"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/viewer"
	"moonfarm/datasets"
	"moonfarm/datasets/s3"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/human"
	"moonfarm/rollout/view/serve"
)

// Main runs the command line of this process, and ends it with the exit status.
func Main() {
	program().Main()
}

// program returns moonfarm with the commands of the farm and the stores.
func program() command.Program {
	return command.Program{Name: console.FullProgram, Commands: []func(*console.Console) *cobra.Command{farming}, Stores: datasets.Stores{s3.Scheme: s3.Open}, Pages: pages{}}
}

// pages is viewer.Pages.
type pages struct{}

// Serve implements viewer.Pages.
func (pages) Serve(ctx context.Context, at viewer.Address, page []byte, source func() (view.Answerer, int, error), ready func(url string)) error {
	s, err := serve.Listen(at.Listen, at.Hosts, page, source)
	return until(ctx, s, err, ready)
}

// ServeHuman implements viewer.Pages.
func (pages) ServeHuman(ctx context.Context, at viewer.Address, page []byte, t *human.Session, ready func(url string)) error {
	s, err := serve.ListenHuman(at.Listen, at.Hosts, page, t)
	return until(ctx, s, err, ready)
}

// ServeLive implements viewer.Pages.
func (pages) ServeLive(ctx context.Context, at viewer.Address, page []byte, l *view.Live, ready func(url string)) error {
	s, err := serve.ListenLive(at.Listen, at.Hosts, page, l)
	return until(ctx, s, err, ready)
}

// until serves until ctx is done.
func until(ctx context.Context, s *serve.Server, err error, ready func(url string)) error {
	if err != nil {
		return console.WrongUse("--http %w", err)
	}
	defer s.Close()
	ready(s.URL())
	<-ctx.Done()
	return nil
}
