// Package full has the parts that moonfarm-full has in addition to moonfarm: the farm,
// with one file per subcommand, and stores for datasets.
package full

import (
	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/command"
	"moonfarm/datasets/cloud"
)

// Main runs the command line of this process, and ends it with the exit status.
func Main() {
	command.Main(parts())
}

// parts returns the commands and stores that this program has in addition to moonfarm.
func parts() command.Parts {
	return command.Parts{Name: command.FullName, Commands: []func(*command.App) *cobra.Command{farming}, Stores: cloud.Stores()}
}
