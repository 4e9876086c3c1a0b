// Package full has the parts that moonfarm-full has in addition to moonfarm: the farm,
// with one file per subcommand, and stores for datasets.
package full

import (
	"maps"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/command"
	"moonfarm/datasets"
	"moonfarm/datasets/cloud"
	"moonfarm/datasets/s3"
)

// Main runs the command line of this process, and ends it with the exit status.
func Main() {
	command.Main(parts())
}

// parts returns the commands and stores that this program has in addition to moonfarm.
func parts() command.Parts {
	stores := datasets.Stores{s3.Scheme: s3.Open}
	maps.Copy(stores, cloud.Stores())
	return command.Parts{Name: command.FullName, Commands: []func(*command.App) *cobra.Command{farming}, Stores: stores}
}
