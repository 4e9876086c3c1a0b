package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/datasets/report"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/texts"
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

With --html FILE: a page for a browser instead, one file with plots, pictures of
some positions and the frequencies of actions and orders. It samples a large
dataset, and says how. The same dataset makes the same page. With --json then:
an object with the keys file and bytes.

With --json: one object with the keys manifest (as in manifest.json, see
datasets/FORMAT.md), shards and rows (read for the statistics), planes and
scalars (one object each, in order), distinct (different games among the
episodes, by their start and all orders), turns (of episodes), reward, return
and choices (legal ones, of rows): each with name, unit, mean, min, max, nonzero
(the share of numbers that are not 0); labels, one object for each seat: seat,
heads (the heads of all rows that belong to orders), rows, and told (the rows in
which orders belong to a head), each with all, said (heads with a choice; rows
without a head that is -1) and share; moves (weighed by searches) and value
(found by searches), with the same keys as reward, over the rows for which a
policy searched, if one did; and with --sums sha256, the sums of the values of
each step column by name.`,
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

func (a *app) runInspect(ctx context.Context, dir string, o datasets.InspectOptions) error {
	a.Resume = "nothing was changed"
	m := a.Meter("shards")
	o.Progress = func(done, all int) { m.Show(uint64(done), uint64(all), 0, "") }
	card, err := datasets.Inspect(ctx, dir, o)
	m.End()
	if err != nil {
		return err
	}
	return a.Print(card, func() {
		a.printManifest(dir, card.Manifest)
		a.printOutcomes(card)
		a.printNetworkCounts(card.Manifest)
		a.printColumns(card.Manifest, card.SHA256)
		a.printLabels(card.Labels)
		a.printStats(card)
	})
}

func (a *app) printManifest(dir string, m *datasets.Manifest) {
	var versions []string
	for _, r := range m.Rules {
		if !slices.Contains(versions, r.Version) {
			versions = append(versions, r.Version)
		}
	}
	t := m.Totals
	a.Printf("%s: %s, rules %s\n", dir, m.Game.Name, strings.Join(versions, ", "))
	by := m.Command
	if by == "" {
		by = "a library" // made without a command line
	}
	a.Printf("made by %s (moonfarm %s, format %d)\n", by, m.Moonfarm, m.Format)
	a.Printf("%s, %s, %s in %s, %s", texts.Plural(t.Episodes, "episode"), texts.Plural(t.Turns, "turn"), texts.Plural(t.Rows, "row"), texts.Plural(t.Shards, "shard"), console.FormatSize(t.Bytes))
	if t.Rows > 0 {
		a.Printf(" (%.1f bytes a row)", float64(t.Bytes)/float64(t.Rows))
	}
	a.Printf("\nobservations %s, codec %s, reward %s\n\n", m.Observation.Form, m.Job.Codec, m.Reward.Name)
}

// printOutcomes prints the shares of the results of each seat.
func (a *app) printOutcomes(c *datasets.Overview) {
	t := c.Manifest.Totals
	a.Printf("%s ended by the rules, %s cut; %s\n", texts.Plural(t.Over, "episode"), texts.Group(t.Cut), texts.Plural(c.Distinct, "different game"))
	rows := [][]string{{"seat", "policy", "episodes", "results"}}
	for _, p := range t.Pairings {
		for _, o := range p.Outcomes() {
			rows = append(rows, []string{string(rune('A' + o.Seat)), cmp.Or(o.Policy, "all others"), texts.Group(o.Episodes), balance(o)})
		}
	}
	a.Table(rows...)
	a.Printf("\n")
}

// printNetworkCounts prints the counts of the seats' networks, if there are networks.
func (a *app) printNetworkCounts(m *datasets.Manifest) {
	rows := [][]string{{"network of", "evaluations", "not finite", "choices", "likeliest one illegal"}}
	for seat, n := range m.Totals.Networks {
		if n.Evaluations == 0 {
			continue
		}
		illegal := texts.Group(n.Illegal)
		if n.Choices > 0 {
			illegal += fmt.Sprintf(" (%.2f %%)", 100*float64(n.Illegal)/float64(n.Choices))
		}
		rows = append(rows, []string{"seat " + string(rune('A'+seat)), texts.Group(n.Evaluations), texts.Group(n.NotFinite), texts.Group(n.Choices), illegal})
	}
	if len(rows) > 1 {
		a.Table(rows...)
		a.Printf("\n")
	}
}

// balance formats the shares of the results, the best first: "+1: 52.3 %, −1: 47.7 %".
func balance(o datasets.Outcome) string {
	var shares []string
	for _, r := range o.Results {
		text := strings.Replace(r.Result, "-", "−", 1)
		if text != "0" && text == r.Result {
			text = "+" + text
		}
		shares = append(shares, fmt.Sprintf("%s: %.1f %%", text, 100*float64(r.Episodes)/float64(o.Episodes)))
	}
	return strings.Join(shares, ", ")
}

func (a *app) printColumns(m *datasets.Manifest, sums map[string]string) {
	for _, t := range []struct {
		name    string
		columns []datasets.Column
	}{{"steps", m.Steps.Columns}, {"episodes", m.Episodes.Columns}, {"finals", m.Finals.Columns}} {
		if len(t.columns) == 0 {
			continue
		}
		rows := [][]string{{t.name, "type", "shape", "what"}}
		if t.name == "steps" && sums != nil {
			rows[0][3] = "sha256"
		}
		for _, c := range t.columns {
			what := c.Doc
			if t.name == "steps" && sums != nil {
				what = sums[c.Name]
			}
			sizes := shape(c.Shape)
			if c.List {
				sizes = "any number"
			}
			rows = append(rows, []string{c.Name, string(c.Type), sizes, what})
		}
		a.Table(rows...)
		a.Printf("\n")
	}
}

// printLabels prints the shares of the orders that the actions encode.
func (a *app) printLabels(labels []datasets.Labels) {
	if len(labels) == 0 {
		return
	}
	rows := [][]string{{"labels", "heads with orders", "with a choice", "rows", "said as a whole", "rows with orders", "said as a whole"}}
	for _, l := range labels {
		row := []string{"seat " + string(rune('A'+l.Seat))}
		for _, s := range []datasets.Share{l.Heads, l.Rows, l.Told} {
			row = append(row, texts.Group(s.All), fmt.Sprintf("%.2f %%", 100*s.Share))
		}
		rows = append(rows, row)
	}
	a.Table(rows...)
	a.Printf("\n")
}

func (a *app) printStats(c *datasets.Overview) {
	a.Printf("statistics of %s in %s\n", texts.Plural(c.Rows, "row"), texts.Plural(c.Shards, "shard"))
	rows := [][]string{{"what", "unit", "mean", "min", "max", "not 0"}}
	add := func(kind string, s datasets.Summary) {
		rows = append(rows, []string{kind + s.Name, s.Unit, console.FormatFloat(s.Mean), console.FormatFloat(s.Min), console.FormatFloat(s.Max), fmt.Sprintf("%.2f %%", 100*s.Nonzero)})
	}
	for _, s := range c.Planes {
		add("plane ", s)
	}
	for _, s := range c.Scalars {
		add("scalar ", s)
	}
	for _, s := range []datasets.Summary{c.Turns, c.Choices, c.Reward, c.Return} {
		add("", s)
	}
	for _, s := range []*datasets.Summary{c.Moves, c.Value} {
		if s != nil {
			add("search ", *s)
		}
	}
	a.Table(rows...)
}

// runInspectPage writes the page of a dataset.
func (a *app) runInspectPage(ctx context.Context, dir, file string, o datasets.InspectOptions) error {
	a.Resume = "nothing was changed"
	if o.Sums {
		return console.WrongUse("--sums and --html: expected one of them")
	}
	d, err := datasets.OpenContext(ctx, dir)
	if err != nil {
		return err
	}
	if inFolder(dir, file) {
		return console.WrongUse("--html %s: expected a file outside of the dataset, whose manifest lists all of its files", file)
	}
	if err := a.CheckFile("html", file); err != nil {
		return err
	}
	game := d.Manifest().Job.Game
	r := report.Options{Workers: o.Workers, Shards: o.Shards, Orders: func(orders []sim.Order) []string { return recordings.OrderTexts(game, orders) }}
	if g, err := catalog.Find(game); err == nil {
		r.Game = func(rules string, c env.Settings, recording []byte) (env.Vector, error) {
			if len(recording) == 0 || g.Recorded == nil {
				return g.New(rules, c)
			}
			v, _, _, err := g.Recorded(rules, c, recording)
			return v, err
		}
	}
	m := a.Meter("page")
	bytes, err := a.WriteFile("html", file, func(w io.Writer) error { return report.Write(ctx, w, d, dir, r) })
	m.End()
	if err != nil {
		return err
	}
	full := console.FullName(file)
	return a.Print(map[string]any{"file": full, "bytes": bytes}, func() {
		a.Printf("%s: %.1f MB; open it in a browser\n", full, float64(bytes)/1e6)
	})
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
