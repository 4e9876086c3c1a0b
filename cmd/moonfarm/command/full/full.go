// Package full has the parts that moonfarm-full has in addition to moonfarm: the farm,
// with one file per subcommand, and stores for datasets.
package full

import (
	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/command"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets/cloud"
)

// Main runs the command line of this process, and ends it with the exit status.
func Main() {
	program().Main()
}

// program returns moonfarm with the commands of the farm and the stores.
func program() command.Program {
	return command.Program{Name: console.FullProgram, Commands: []func(*console.Console) *cobra.Command{farming}, Stores: cloud.Stores()}
}
