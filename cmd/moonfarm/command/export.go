package command

import (
	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
)

// export refers users of earlier releases to the program that now writes Parquet, .npz
// and Minari's layout. It accepts all flags.
func (a *app) export() *cobra.Command {
	return &cobra.Command{
		Use: "export", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return cli.WrongUse("export: the Python package of env/python exports datasets: python3 -m moonfarm export DATASET --format parquet|npz|minari --out PATH")
		},
	}
}
