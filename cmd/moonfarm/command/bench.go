package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/bench"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/env/catalog"
	"moonfarm/rollout/network"
	"moonfarm/rollout/recordings"
	"moonfarm/sim/texts"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	time       time.Duration
	what       []string
	recordings string
	workers    int
	against    string
	pairs      int
}

func (a *app) bench() *cobra.Command {
	f := &benchFlags{time: time.Second, pairs: 7}
	c := &cobra.Command{
		Use: "bench [GAME…]", Short: "Measure speed, with checksums of the work",
		Long: `Measures the games given, or all. Every figure is the median over passes of the
same work. Its checksum shows that the work was done, and is the same on every
machine: a change that is not meant to change play keeps it. The last line tells
whether this program was built with a profile, as releases are.

` + figuresDoc() + `

--against compares with another build: both programs measure each figure in
turn, in a process of its own each time. The ratio is the median over the pairs
of this program's speed to the other's, for a second of processor time where
both tell it; the interval has the true median with the probability in the last
column.`,
		Example: `  moonfarm bench
  moonfarm bench towerdefence --what step,playout --recordings '../shared/traces/towerdefence/*.jsonl.gz'
  moonfarm bench codecraft --what playout --against ./moonfarm-before`,
		Args: console.Takes("[GAME…]"),
		RunE: func(c *cobra.Command, args []string) error { return a.runBench(c.Context(), args, f) },
	}
	c.Flags().Var(console.Duration(&f.time), "time", "minimum time for each figure")
	c.Flags().StringSliceVar(&f.what, "what", nil, "`A,B`: only these figures")
	c.Flags().StringVar(&f.recordings, "recordings", "", "`GLOB` of recordings whose orders step plays; else it plays generated ones")
	console.WorkersFlag(c, &f.workers)
	c.Flags().StringVar(&f.against, "against", "", "`PROGRAM` of another build, with which this one takes turns")
	c.Flags().Var(console.Whole(&f.pairs, 1, 1000), "pairs", "pairs of runs with --against")
	c.AddCommand(a.benchNetwork())
	return c
}

// benchNetwork makes the command that measures networks.
func (a *app) benchNetwork() *cobra.Command {
	o, path := bench.NetworkOptions{Time: time.Second, Work: usualWork}, ""
	c := &cobra.Command{
		Use: "network [MODEL…]", Short: "Measure how fast networks run on one core",
		Long: `Evaluates networks in batches: the ONNX files given, FILE.onnx, or untrained
networks made for this purpose, and the networks of the policy net. The first
have 3×3 convolutions of 64 channels on 9 planes: small has 3 convolutions on
8×16 cells, medium has 13 on as many cells, in 6 residual blocks, 28x28 and
80x80 have 4 on boards of that size. The others have the names of their games;
their inputs are random numbers here, not games.

Evaluations per second are by the processor time of one thread (outside of Linux
by the wall clock), as medians of passes. The peak is the highest rate of
multiply-adds of the core, and share is the network's share of it; both are
smaller on a core that shares its units with another busy one. The checksum
covers all outputs, and is the same on every machine.`,
		Example:   "  moonfarm bench network\n  moonfarm bench network nets/mine.onnx --batch 16 --path avx2",
		Args:      console.Takes("[MODEL…]"),
		RunE:      func(c *cobra.Command, args []string) error { return a.runBenchNetwork(c.Context(), args, path, o) },
		ValidArgs: bench.NetworkNames(),
	}
	c.Flags().Var(console.Duration(&o.Time), "time", "minimum time for each figure")
	c.Flags().IntSliceVar(&o.Batches, "batch", bench.Batches, "`N,…`: sizes of batches")
	addWork(c, &o.Work)
	c.Flags().StringVar(&path, "path", "", "`NAME` of the kernels to use (default the fastest of this machine)")
	return c
}

// mostBatch is the limit of --batch.
const mostBatch = 1 << 16

func (a *app) runBenchNetwork(ctx context.Context, models []string, path string, o bench.NetworkOptions) error {
	for _, name := range models {
		if !slices.Contains(bench.NetworkNames(), name) && !strings.EqualFold(filepath.Ext(name), ".onnx") {
			return console.WrongUse("no network %q; there are: %s, and files that end in .onnx", name, strings.Join(bench.NetworkNames(), ", "))
		}
	}
	for _, n := range o.Batches {
		if n < 1 || n > mostBatch {
			return console.WrongUse("--batch %d: expected a size from 1 to %d", n, mostBatch)
		}
	}
	if path != "" {
		restore, err := network.UsePath(path)
		if err != nil {
			return console.WrongUse("--path: %w", err)
		}
		defer restore()
	}
	m := a.Meter("figures")
	o.Progress = m.Say
	all, err := bench.Networks(ctx, models, o)
	m.End()
	if err != nil {
		return err
	}
	return a.Print(all, func() { a.printNetworks(all) })
}

func (a *app) printNetworks(all []bench.NetworkFigure) {
	headings := []string{"model", "batch", "evaluations/s", "GFLOP/s", "peak", "share", "path", "checksum"}
	a.Table(console.Rows(all, headings, func(r bench.NetworkFigure) []string {
		return []string{r.Model, texts.Group(r.Batch), texts.Group(int64(r.Value)), console.FormatFloat(r.GFLOPS), console.FormatFloat(r.Peak),
			fmt.Sprintf("%.0f %%", 100*r.Share), r.Path, r.Checksum}
	})...)
	a.printProfile()
}

// printProfile prints whether this program was built with a profile.
func (a *app) printProfile() {
	if p := bench.Profile(); p != "" {
		a.Printf("built with the profile %s\n", p)
	} else {
		a.Printf("built without a profile; go build -pgo=cmd/moonfarm/moonfarm.pgo makes games faster\n")
	}
}

// figuresDoc lists the figures that all games have.
func figuresDoc() string {
	var b strings.Builder
	for _, w := range bench.CommonFigures() {
		b.WriteString(console.Wrapped(fmt.Sprintf("  %-16s", w[0]), 18, 80, w[1]))
	}
	return b.String() + "  A game may have more figures, or lack some."
}

func (a *app) runBench(ctx context.Context, games []string, f *benchFlags) error {
	if len(games) == 0 {
		for _, g := range catalog.Games() {
			games = append(games, g.Name)
		}
	}
	figures := map[string][]string{} // of each game
	for _, g := range games {
		names, err := bench.FigureNames(g)
		if err != nil {
			return console.WrongUse("%w", err)
		}
		for _, w := range f.what {
			if !slices.Contains(names, w) {
				return console.WrongUse("--what %s: %s has no such figure; there are: %s", w, g, strings.Join(names, ", "))
			}
		}
		figures[g] = slices.DeleteFunc(names, func(what string) bool { return len(f.what) > 0 && !slices.Contains(f.what, what) })
	}
	recordings, err := recordingsByGame(ctx, f.recordings)
	if err != nil {
		return err
	}
	if f.against != "" {
		return a.runAgainst(ctx, games, figures, f)
	}
	m := a.Meter("figures")
	defer m.End()
	all := []bench.Figure{}
	for _, g := range games {
		r, err := bench.Run(ctx, g, bench.Options{Time: f.time, What: f.what, Recordings: recordings[g], Workers: f.workers, Progress: m.Say})
		if err != nil {
			return err
		}
		all = append(all, r...)
	}
	m.End()
	return a.Print(all, func() { a.printBench(all) })
}

// runAgainst compares this program with another build.
func (a *app) runAgainst(ctx context.Context, games []string, figures map[string][]string, f *benchFlags) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	other, err := exec.LookPath(f.against)
	if err != nil {
		return console.WrongUse("--against: %w", err)
	}
	against := bench.Against{Programs: [2]string{self, other}, Pairs: f.pairs, Time: f.time, Flags: []string{"--workers", strconv.Itoa(f.workers)}}
	if f.recordings != "" {
		against.Flags = append(against.Flags, "--recordings", f.recordings)
	}
	m := a.Meter("figures")
	defer m.End()
	all := []bench.Ratio{}
	for _, g := range games {
		against.Progress = func(pair int, what string) { m.Say(fmt.Sprintf("%s %s, pair %d of %d", g, what, pair+1, f.pairs)) }
		for _, what := range figures[g] {
			r, err := against.Compare(ctx, g, what)
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == console.ExitUsage {
				a.Warn(fmt.Sprintf("%s %s is left out: %v", g, what, err)) // an older build may lack the figure
				continue
			}
			if err != nil {
				return err
			}
			all = append(all, r)
		}
	}
	m.End()
	return a.Print(all, func() { a.printRatios(all) })
}

// printRatios prints a comparison of two programs.
func (a *app) printRatios(all []bench.Ratio) {
	rows := [][]string{{"game", "what", "this", "other", "unit", "ratio", "interval", "sure", "work"}}
	for _, r := range all {
		unit, work := r.Unit, "same"
		if r.PerCPU {
			unit = strings.TrimSuffix(unit, "/s") + "/CPU s"
		}
		if !r.SameWork {
			work = "differs"
		}
		rows = append(rows, []string{r.Game, r.What, texts.Group(int64(r.Value)), texts.Group(int64(r.Other)), unit, fmt.Sprintf("%.3f", r.Ratio),
			fmt.Sprintf("%.3f … %.3f", r.Least, r.Most), fmt.Sprintf("%.1f %%", 100*r.Coverage), work})
	}
	a.Table(rows...)
	a.printProfile()
}

// recordingsByGame finds the recordings of games that match a pattern.
func recordingsByGame(ctx context.Context, pattern string) (map[string][]string, error) {
	if pattern == "" {
		return nil, nil
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, console.WrongUse("--recordings %s: %w", pattern, err)
	}
	found := map[string][]string{}
	for _, file := range files {
		in, err := recordings.Open(ctx, file)
		if err != nil {
			return nil, err
		}
		in.Close()
		if in.Holds == recordings.Games && !in.IsFolder() {
			game := in.Engine.Info().Game
			found[game] = append(found[game], file)
		}
	}
	if len(found) == 0 {
		return nil, console.WrongUse("--recordings %s: no recording matches", pattern)
	}
	return found, nil
}

func (a *app) printBench(all []bench.Figure) {
	rows := [][]string{{"game", "what", "value", "unit", "per CPU s", "ns", "allocs", "cores", "checksum"}}
	for _, r := range all {
		rows = append(rows, []string{r.Game, r.What, texts.Group(int64(r.Value)), r.Unit, texts.Group(int64(r.PerCPU)), fmt.Sprintf("%.1f", r.NsPerOp), console.FormatFloat(r.AllocsPerOp), texts.Group(r.Cores), r.Checksum})
	}
	a.Table(rows...)
	a.printProfile()
}
