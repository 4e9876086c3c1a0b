package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/sim/texts"
)

// merged tells what merge did. Its JSON keys are documented in JSON.md.
type merged struct {
	Dir   string   `json:"dir"`
	Game  string   `json:"game"`
	Parts []string `json:"parts"`
	datasets.Size
	Seconds float64 `json:"seconds"`
}

func (a *app) merge() *cobra.Command {
	var out string
	var o datasets.Options
	c := &cobra.Command{
		Use: "merge DIR… --out DIR", Short: "Put parts of a dataset together",
		Long: `Puts together the parts that generate --part made. The dataset is the same, byte
for byte, as that of generate without --part. Files are linked if the parts are
on the same disk, else copied, and compared with their sums; the parts stay as
they are. Each DIR may be a URL. If merge is stopped, the same command continues
it.

The parts must be of one run and have every shard. A shard that two parts have
is taken once; if its bytes differ, merge names both parts and fails.`,
		Example: `  moonfarm generate towerdefence --episodes 2000 --part 0/2 --out parts/0
  moonfarm generate towerdefence --episodes 2000 --part 1/2 --out parts/1
  moonfarm merge parts/0 parts/1 --out data/td`,
		Args: console.Takes("DIR…"),
		RunE: func(c *cobra.Command, args []string) error { return a.runMerge(c.Context(), args, out, o) },
	}
	c.Flags().StringVar(&out, "out", "", "`DIR` of the dataset: new, empty, or from an earlier run of the same command")
	console.WorkersFlag(c, &o.Workers)
	a.LockFlag(c, "the folder")
	return c
}

func (a *app) runMerge(ctx context.Context, parts []string, out string, o datasets.Options) error {
	if out == "" {
		return console.WrongUse("--out is missing: the folder to write, such as --out data/td")
	}
	a.Resume = fmt.Sprintf("finished shards are kept in %s; the same command continues", out)
	m := a.Meter("episodes")
	o.Locks = &a.Locks
	o.Progress = func(p datasets.Progress) { m.Show(p.Episodes, p.AllEpisodes, p.Rows, "rows") }
	r, err := datasets.Merge(ctx, out, parts, func(game string) (datasets.Makers, error) {
		g, err := catalog.Find(game)
		return Makers(g), err
	}, o)
	passed := m.End()
	if err != nil {
		return err
	}
	if err := a.warnNetworks(r.Manifest, false); err != nil {
		return err
	}
	g := merged{out, r.Manifest.Job.Game, parts, r.Size(), passed.Seconds()}
	a.warnRepeats(g.Size, r.Manifest.Job.Opening)
	return a.Print(g, func() {
		PrintSize(a.Console, g.Dir, g.Size, fmt.Sprintf("; of %s", texts.Plural(len(parts), "part")))
		a.Printf("\n")
	})
}
