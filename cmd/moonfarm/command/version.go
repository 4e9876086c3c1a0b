package command

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
)

// build describes the build of this program.
type build struct {
	Moonfarm string `json:"moonfarm"`
	Format   int    `json:"format"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	System   string `json:"system"`
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		Long: `Prints the version of moonfarm.`,
		Args: console.Takes(),
		RunE: func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	b := build{Moonfarm: datasets.Version, Format: datasets.Format, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return a.Print(b, func() {
		a.Printf("moonfarm %s, dataset format %d, %s, %s\n", b.Moonfarm, b.Format, b.Go, b.System)
		if b.Commit != "" {
			more := ""
			if b.Modified {
				more = " and changes on top of it"
			}
			a.Printf("commit %s%s\n", b.Commit, more)
		}
	})
}
