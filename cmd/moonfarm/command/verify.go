package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/sim/texts"
)

// verified is the result of verify. Its JSON keys are documented in JSON.md.
type verified struct {
	Dir string `json:"dir"`
	OK  bool   `json:"ok"`
	*datasets.Report
	Seconds float64 `json:"seconds"`
}

func (a *app) verify() *cobra.Command {
	var o datasets.VerifyOptions
	c := &cobra.Command{
		Use: "verify DIR", Short: "Check a dataset, down to playing it again",
		Long: `Checks that a dataset is what its manifest says: all files and no others, their
sha256, schemas, counts and totals, the order of episodes, turns and seats, and
that returns are the discounted sums of the rewards. With --recompute it also
plays K shards, or all, again and compares every bit. If this moonfarm does not
have the policies of the dataset, it plays the recorded orders again instead,
and compares everything else. The outcomes of recorded games are compared with
those of the orders; a dataset does not hold the winner that a recording named,
which import has compared.

The exit status is 1 if anything is wrong; each problem is printed.`,
		Example: "  moonfarm verify data/td\n  moonfarm verify data/td --recompute all",
		Args:    console.Takes("DIR"),
		RunE:    func(c *cobra.Command, args []string) error { return a.runVerify(c.Context(), args[0], o) },
	}
	c.Flags().Var(console.WholeOr(&o.Recompute, "a number of shards", "all", "K|all"), "recompute", "number of shards, spread over the dataset, to play again and compare")
	console.WorkersFlag(c, &o.Workers)
	return c
}

func (a *app) runVerify(ctx context.Context, dir string, o datasets.VerifyOptions) error {
	m := a.Meter("shards")
	d, err := datasets.OpenContext(ctx, dir)
	if err != nil {
		return err
	}
	g, err := catalog.Find(d.Manifest().Job.Game)
	if err != nil {
		return err
	}
	a.Resume = "nothing was changed"
	o.Progress = func(done, all int) { m.Show(uint64(done), uint64(all), 0, "") }
	r, err := datasets.Verify(ctx, dir, Makers(g), o)
	passed := m.End()
	if err != nil {
		return err
	}
	v := verified{dir, len(r.Problems) == 0, r, passed.Seconds()}
	if err := a.Print(v, func() { a.printVerified(v) }); err != nil || v.OK {
		return err
	}
	return errors.New(dir + " is not what its manifest says: " + texts.Plural(len(r.Problems), "problem"))
}

func (a *app) printVerified(v verified) {
	for _, p := range v.Problems {
		a.Printf("%s\n", strings.ReplaceAll(p, "\n", " "))
	}
	if !v.OK {
		return
	}
	a.Printf("%s: %s, %s, %s, %s: all as the manifest says", v.Dir,
		texts.Plural(v.Episodes, "episode"), texts.Plural(v.Rows, "row"), texts.Plural(v.Shards, "shard"), console.FormatSize(v.Bytes))
	switch {
	case v.Recomputed > 0 && v.Replayed:
		a.Printf("; the recorded orders of %s played again: equal to the bit", texts.Plural(v.Recomputed, "shard"))
		if v.Lacking != "" {
			a.Printf("; the policy that chose them is not available here: %s", v.Lacking)
		}
	case v.Recomputed > 0:
		a.Printf("; %s played again: equal to the bit", texts.Plural(v.Recomputed, "shard"))
	}
	if v.Recorded > 0 {
		a.Printf("; %s cannot be played again, as their chance is not known: every transition was checked by the rules", texts.Plural(v.Recorded, "recorded episode"))
	}
	a.Printf(" (%.1f s)\n", v.Seconds)
}
