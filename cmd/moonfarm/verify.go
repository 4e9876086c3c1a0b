package main

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/datasets"
	"moonfarm/env/catalog"
)

// verified tells what verify found. Its JSON keys are documented in the help.
type verified struct {
	Dir string `json:"dir"`
	OK  bool   `json:"ok"`
	*datasets.Report
	Seconds float64 `json:"seconds"`
}

// shardCount is the value of --recompute: a number, or all (−1).
type shardCount struct{ to *int }

// Set implements the flag's value.
func (s shardCount) Set(text string) error {
	if text == "all" {
		*s.to = -1
		return nil
	}
	if (whole[int]{s.to, 0, math.MaxInt}).Set(text) != nil {
		return errors.New("expected a number of shards, 0 or more, or all")
	}
	return nil
}

// String implements the flag's value.
func (s shardCount) String() string {
	if s.to == nil {
		return "0"
	}
	if *s.to < 0 {
		return "all"
	}
	return strconv.Itoa(*s.to)
}

// Type names the value in the help.
func (s shardCount) Type() string { return "K|all" }

func (a *app) verify() *cobra.Command {
	var o datasets.VerifyOptions
	c := &cobra.Command{
		Use: "verify DIR", Short: "Check a dataset, down to playing it again",
		Long: `Checks that a dataset is what its manifest says: all files and no others, their
sha256, schemas, counts and totals, the order of episodes, turns and seats, and
that returns are the sums of the rewards. With --recompute it also plays K
shards, or all, anew and compares every bit.

The exit status is 1 if anything is wrong; each problem is printed.

With --json: one object with the keys dir, ok, shards, episodes, rows, bytes (in
the manifest), recomputed (shards made anew and equal), replayed (true if only
the recorded orders could be played again), problems (a list of texts), seconds.`,
		Example: "  moonfarm verify data/td\n  moonfarm verify data/td --recompute all",
		Args:    takes("DIR"),
		RunE:    func(c *cobra.Command, args []string) error { return a.runVerify(c.Context(), args[0], o) },
	}
	c.Flags().Var(shardCount{&o.Recompute}, "recompute", "play so many shards again, spread over the dataset, and compare them")
	workersFlag(c, &o.Workers)
	return c
}

func (a *app) runVerify(ctx context.Context, dir string, o datasets.VerifyOptions) error {
	d, err := datasets.Open(dir)
	if err != nil {
		return err
	}
	g, err := catalog.Find(d.Manifest().Job.Game)
	if err != nil {
		return err
	}
	a.resume = "nothing was changed"
	m := a.meter("shards")
	o.Progress = func(done, all int) { m.show(uint64(done), uint64(all), 0, "") }
	r, err := datasets.Verify(ctx, dir, makers(g), o)
	passed := m.end()
	if err != nil {
		return err
	}
	v := verified{dir, len(r.Problems) == 0, r, passed.Seconds()}
	if err := a.print(v, func() { a.printVerified(v) }); err != nil || v.OK {
		return err
	}
	return errors.New(dir + " is not what its manifest says: " + plural(len(r.Problems), "problem"))
}

func (a *app) printVerified(v verified) {
	for _, p := range v.Problems {
		a.printf("%s\n", strings.ReplaceAll(p, "\n", " "))
	}
	if !v.OK {
		return
	}
	a.printf("%s: %s, %s, %s, %s: all as the manifest says", v.Dir,
		plural(v.Episodes, "episode"), plural(v.Rows, "row"), plural(v.Shards, "shard"), size(v.Bytes))
	switch {
	case v.Recomputed > 0 && v.Replayed:
		a.printf("; the recorded orders of %s played again: equal to the bit", plural(v.Recomputed, "shard"))
	case v.Recomputed > 0:
		a.printf("; %s played again: equal to the bit", plural(v.Recomputed, "shard"))
	}
	a.printf(" (%.1f s)\n", v.Seconds)
}
