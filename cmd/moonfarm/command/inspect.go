package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/gamelists"
	"moonfarm/cmd/moonfarm/internal/summary"
	"moonfarm/datasets"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/overview"
	"moonfarm/rollout/view/page"
)

func (a *app) inspect() *cobra.Command {
	var o datasets.InspectOptions
	var html string
	c := &cobra.Command{
		Use: "inspect DIR", Short: "Sum up a dataset",
		Long: `Prints how a dataset was made, its columns and counts, how the episodes ended,
the number of different games among them, the share of each seat's orders that
the action column encodes, and statistics of every plane and scalar. DIR may be
a URL, such as s3://bucket/data/td, here and wherever a dataset is read: files
are then read as streams.

With --html FILE: a page for a browser instead, one file with the same figures,
plots, the frequencies of actions and orders, and a few games to play back. It
samples a large dataset, and says how. The same dataset makes the same page.
view DIR shows all of it, with all games.`,
		Example: "  moonfarm inspect data/td\n  moonfarm inspect data/td --html report.html\n  moonfarm inspect data/td --shards 2 --json",
		Args:    console.Takes("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			if html != "" {
				return a.runInspectPage(c.Context(), args[0], html, o)
			}
			return a.runInspect(c.Context(), args[0], o)
		},
	}
	c.Flags().Var(console.Whole(&o.Shards, 0, math.MaxInt), "shards", "number of shards to read, spread over the dataset; 0: all")
	c.Flags().BoolVar(&o.Sums, "sums", false, "also sum the values of every step column, for readers in other languages to compare")
	c.Flags().Var(a.Output(&html), "html", "`FILE` for a page about the dataset")
	console.WorkersFlag(c, &o.Workers)
	return c
}

func (a *app) runInspect(ctx context.Context, dir string, options datasets.InspectOptions) error {
	a.Resume = "nothing was changed"
	m := a.Meter("shards")
	options.Progress = func(done, all int) { m.Show(uint64(done), uint64(all), 0, "") }
	o, err := datasets.Inspect(ctx, dir, options)
	m.End()
	if err != nil {
		return err
	}
	return a.Print(o, func() {
		for _, line := range append(summary.Head(dir, o), "", summary.Ends(o)) {
			a.Printf("%s\n", line)
		}
		tables := append([][][]string{summary.Outcomes(o), summary.Networks(o)}, summary.Columns(o)...)
		for _, rows := range append(tables, summary.Labels(o)) {
			if len(rows) > 1 {
				a.Table(rows...)
				a.Printf("\n")
			}
		}
		a.Printf("%s\n", summary.Read(o))
		a.Table(summary.Statistics(o)...)
	})
}

// runInspectPage writes the page of a dataset.
func (a *app) runInspectPage(ctx context.Context, dir, file string, o datasets.InspectOptions) error {
	a.Resume = "nothing was changed"
	if o.Sums {
		return console.WrongUse("--sums and --html: expected one of them")
	}
	if _, err := datasets.OpenContext(ctx, dir); err != nil {
		return err
	}
	if inFolder(dir, file) {
		return console.WrongUse("--html %s: expected a file outside of the dataset, whose manifest lists all of its files", file)
	}
	if err := a.CheckFile("html", file); err != nil {
		return err
	}
	m := a.Meter("page")
	text, err := inspectPage(ctx, dir, o.Shards)
	m.End()
	if err != nil {
		return err
	}
	bytes, err := a.WriteFile("html", file, func(w io.Writer) error { _, err := w.Write(text); return err })
	if err != nil {
		return err
	}
	full := console.FullName(file)
	return a.Print(map[string]any{"file": full, "bytes": bytes}, func() {
		a.Printf("%s: %.1f MB; open it in a browser\n", full, float64(bytes)/1e6)
	})
}

// Bounds of the games on the page of a dataset.
const (
	mostExamples    = 3
	mostExampleData = 16 << 20 // bytes of their films
)

// inspectPage returns the page of a dataset: its overview, and as many of its games as are small enough. If they cannot
// be shown, the page says why.
func inspectPage(ctx context.Context, dir string, shards int) ([]byte, error) {
	o, about, err := summary.Inspect(ctx, dir, shards)
	if err != nil {
		return nil, err
	}
	m := o.Manifest
	list := gamelists.DatasetOptions{Title: m.Title(), About: func() (*overview.Document, error) { return about, nil }}
	for n := uint64(mostExamples); n > 0; n-- {
		list.Only = nil
		for i := range n {
			list.Only = append(list.Only, m.Totals.Episodes*i/n)
		}
		list.Only = slices.Compact(list.Only)
		var data map[string][]byte
		games, err := gamelists.Dataset(ctx, dir, list)
		if err == nil {
			data, err = view.NewResponder(games).Everything(mostExampleData)
		}
		if err == nil {
			return page.HTML(data), nil
		}
		if !errors.Is(err, view.ErrMany) {
			first := &about.Sections[0]
			first.Text = append([]string{fmt.Sprintf("The games cannot be shown: %v.", err)}, first.Text...)
			break
		}
	}
	data, err := view.NewResponder(&view.List{Title: list.Title, About: list.About}).Everything(mostPage)
	return page.HTML(data), err
}

// inFolder reports whether a file lies in a folder or below it.
func inFolder(dir, file string) bool {
	from, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	to, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return false
	}
	in, err := filepath.Rel(from, to)
	return err == nil && filepath.IsLocal(in)
}
