package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/datasets"
	"moonfarm/env"
)

// converted tells what replay convert wrote. Its JSON keys are documented in
// the help.
type converted struct {
	From  string   `json:"from"`
	Game  string   `json:"game"`
	Files []string `json:"files"`
}

// episodeRange is the value of --episodes: N or N-M.
type episodeRange struct{ first, last *uint64 }

// Set implements the flag's value.
func (r episodeRange) Set(text string) error {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	a, err := strconv.ParseUint(first, 10, 64)
	b, err2 := strconv.ParseUint(last, 10, 64)
	if err != nil || err2 != nil || b < a || b == math.MaxUint64 {
		return fmt.Errorf("expected the number of an episode, such as 12, or a range, such as 0-9")
	}
	*r.first, *r.last = a, b
	return nil
}

// String implements the flag's value.
func (r episodeRange) String() string {
	switch {
	case r.first == nil || *r.last == math.MaxUint64:
		return ""
	case *r.first == *r.last:
		return strconv.FormatUint(*r.first, 10)
	}
	return fmt.Sprintf("%d-%d", *r.first, *r.last)
}

// Type names the value in the help.
func (r episodeRange) Type() string { return "N|N-M" }

func (a *app) replayConvert() *cobra.Command {
	var out string
	var zip bool
	first, last := uint64(0), uint64(math.MaxUint64)
	c := &cobra.Command{
		Use: "convert DATASET|FILE --out DIR", Short: "Make replay files of episodes, or a dataset of a replay file",
		Long: `From the folder of a dataset: writes its episodes, or those that --episodes
says, as replay files of the original engine, one each: DIR/00000012.replay is
episode 12. They hold every frame as the engine writes it, and replay verify
finds them equal. The players have the names of the policies, and the duration
is their thinking time, which is 0 unless the episode has clocks. The winner is
0 if all is equal, thinking times too. An episode that was cut by a limit
becomes a recording that broke off. A file of codecraft holds the state at the
start and the events and changes of every tick, but no names. A file of the same
name is replaced, whole or not at all.

From a replay file: writes the dataset that import makes of it, one episode.

With --json: one object with the keys from, game, files (that were written); of
a replay file what import prints.`,
		Example: `  moonfarm replay convert data/terminal --episodes 0-9 --out replays
  moonfarm replay convert ../shared/replays/terminal/2026-001.replay.gz --out data/one`,
		Args: takes("DATASET|FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return wrongUse("--out is missing: the folder to write, such as --out replays")
			}
			s, err := os.Stat(args[0])
			if err != nil {
				return err
			}
			if s.IsDir() {
				return a.episodesToReplays(c.Context(), args[0], out, first, last, zip)
			}
			if c.Flags().Changed("episodes") || zip {
				return wrongUse("--episodes and --gzip are for datasets; %s is a file", args[0])
			}
			return a.replayToDataset(c.Context(), args[0], out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "`DIR` to write to")
	c.Flags().Var(episodeRange{&first, &last}, "episodes", "which episodes of the dataset, counted from 0 (default: all)")
	c.Flags().BoolVar(&zip, "gzip", false, "compress the files; their names end in .gz, too")
	return c
}

// episodesToReplays writes episodes of a dataset as replay files.
func (a *app) episodesToReplays(ctx context.Context, dir, out string, first, last uint64, zip bool) error {
	d, err := datasets.Open(dir)
	if err != nil {
		return err
	}
	m := d.Manifest()
	t := toolsOf(m.Job.Game)
	if t.write == nil {
		return fmt.Errorf("%s: %s has no replay files to convert to", dir, m.Job.Game)
	}
	if all := m.Totals.Episodes; first >= all || last >= all && last != math.MaxUint64 {
		return wrongUse("--episodes %v: expected numbers from 0 to %d", episodeRange{&first, &last}, all-1)
	}
	last = min(last, m.Totals.Episodes-1)
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	a.resume = fmt.Sprintf("the files finished so far are in %s", out)
	c := converted{From: dir, Game: m.Job.Game}
	meter := a.meter("episodes")
	defer meter.end()
	for e, err := range d.Episodes() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if e.ID < first || e.ID > last {
			continue
		}
		name := filepath.Join(out, fmt.Sprintf("%08d", e.ID)+t.replayExt)
		write := func(w io.Writer) error { return t.write(w, &e.Episode, m.Job.Rules[e.Rules]) }
		if zip {
			name, write = name+".gz", zipped(write)
		}
		if err := writeWhole(name, write); err != nil {
			return fmt.Errorf("episode %d: %w", e.ID, err)
		}
		c.Files = append(c.Files, name)
		meter.show(e.ID-first+1, last-first+1, 0, "")
		if e.ID == last {
			break
		}
	}
	meter.end()
	return a.print(c, func() { a.printf("%s: %s of %s in %s\n", dir, plural(len(c.Files), "replay file"), t.game, out) })
}

// replayToDataset writes a replay file as a dataset.
func (a *app) replayToDataset(ctx context.Context, file, out string) error {
	t, _, in, err := openRecording(ctx, file)
	if err != nil {
		return err
	}
	in.Close()
	if t.read == nil {
		return fmt.Errorf("%s: recordings of %s cannot be made a dataset", file, t.game)
	}
	f := &importFlags{out: out, workers: 1, job: datasets.Job{ShardEpisodes: 1, Reward: env.ResultReward}}
	return a.runImport(ctx, t.game, []string{file}, f)
}

// zipped compresses what write writes.
func zipped(write func(w io.Writer) error) func(w io.Writer) error {
	return func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	}
}

// writeWhole makes a file, whole or not at all.
func writeWhole(name string, write func(w io.Writer) error) error {
	part := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".part")
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		os.Remove(part)
	}
	return err
}
