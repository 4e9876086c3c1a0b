// Package full has what the command moonfarm-full has beside those of moonfarm: the farm,
// a file per subcommand, and stores for datasets.
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

// parts are what this program has beside moonfarm.
func parts() command.Parts {
	stores := datasets.Stores{s3.Scheme: s3.Open}
	maps.Copy(stores, cloud.Stores())
	return command.Parts{Name: command.FullName, Commands: []func(*command.App) *cobra.Command{farming}, Stores: stores}
}
