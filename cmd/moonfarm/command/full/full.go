// Package full has the parts that moonfarm-full has in addition to moonfarm: the farm,
// with one file per subcommand, and stores for datasets.
package full

import (
	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/command"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/viewer"
	"moonfarm/datasets"
	"moonfarm/datasets/s3"
	"moonfarm/rollout/view/serve"
)

// Main runs the command line of this process, and ends it with the exit status.
func Main() {
	program().Main()
}

// program returns moonfarm with the commands of the farm and the stores.
func program() command.Program {
	return command.Program{Name: console.FullProgram, Commands: []func(*console.Console) *cobra.Command{farming}, Stores: datasets.Stores{s3.Scheme: s3.Open}, Pages: serveShown}
}

// serveShown is viewer.Pages.
func serveShown(at viewer.Address, shown viewer.Shown) (s viewer.Server, err error) {
	switch {
	case shown.Person != nil:
		s, err = serve.ListenHuman(at.Listen, at.Hosts, shown.Person)
	case shown.Live != nil:
		s, err = serve.ListenLive(at.Listen, at.Hosts, shown.Live)
	default:
		s, err = serve.Listen(at.Listen, at.Hosts, shown.Games)
	}
	if err != nil {
		return nil, console.WrongUse("--http %w", err)
	}
	return s, nil
}
