package full

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/farm"
	"moonfarm/sim/texts"
)

// runKeys documents the JSON of a run.
const runKeys = `the keys
id, name, build (version and sums of the job), out, state (running, finishing,
done, cancelled, failed), text (why it failed, or what it waits for), joined
(true if the run existed before), created, ended, shards, made (number of
finished shards), held (by workers now), episodes, played (in finished shards),
rows, bytes, shard_rate, row_rate (per second, over half a minute), left
(seconds, 0 if unknown), audits (with due, passed, failed, waived), again
(shards given to a second worker because they took long), remade (shards that
were taken back).`

// farmStatusFlags are the flags of farm status.
type farmStatusFlags struct {
	connectFlags
	logFlags
	watch bool
}

func (a *app) farmStatus() *cobra.Command {
	f := &farmStatusFlags{}
	c := &cobra.Command{
		Use: "status [RUN]", Short: "Print the state of a farm",
		Long: `Prints runs, workers, failures and the audit log, or one run, whose id may be
shortened. With --watch it prints them again each second, or the run until it
has ended, and then fails if the run failed or was cancelled.

With --json: one object with the keys version, now, since (when this coordinator
took over), trouble (why nothing can be recorded now, if so), runs, workers
(with name, version, host, slots, beat (when it was last heard of), alive, held,
shards, rows, shard_rate, row_rate, audits, lapsed (claims that it neither
finished nor gave back), trouble, quarantined (why its work is refused)),
failures (with first, last, count, run, worker, text), audits (with time, run,
shard, worker, sum, right, row (the first that differs), returned (shards to
make again)). With RUN: one object about the run. A run has ` + runKeys,
		Example: `  moonfarm-full farm status
  moonfarm-full farm status 0123abcd --watch
  moonfarm-full farm status --json --connect tls://farm.example:4222 --credentials me.json`,
		Args: console.Takes("[RUN]"),
		RunE: func(c *cobra.Command, args []string) error { return a.runFarmStatus(c.Context(), args, f) },
	}
	c.Flags().BoolVar(&f.watch, "watch", false, "print again each second")
	f.connectFlags.add(c, "nats://"+defaultServer)
	f.logFlags.add(c, slog.LevelWarn)
	return c
}

func (a *app) runFarmStatus(ctx context.Context, args []string, f *farmStatusFlags) error {
	if a.JSON && f.watch && len(args) == 0 {
		return console.WrongUse("--watch and --json: expected a RUN, whose end is printed; farm serve --http has /status.json")
	}
	c, closing, err := f.client(ctx, a.logger(&f.logFlags))
	if err != nil {
		return err
	}
	defer closing()
	for {
		s, err := c.Status(ctx)
		if err != nil {
			return err
		}
		var run *farm.RunStatus
		if len(args) == 1 {
			if run, err = find(s, args[0]); err != nil {
				return err
			}
		}
		over := !f.watch || run != nil && run.State != farm.Running && run.State != farm.Finishing
		if over || !a.JSON {
			if err := a.printStatus(s, run, f.watch); err != nil {
				return err
			}
		}
		if over && f.watch {
			return ended(run)
		}
		if over {
			return nil
		}
		if err := sleep(ctx, time.Second, nil); err != nil {
			return err
		}
	}
}

// find finds a run by its id or the beginning of its id.
func find(s *farm.Status, id string) (*farm.RunStatus, error) {
	var found []*farm.RunStatus
	var known []string
	for i := range s.Runs {
		r := &s.Runs[i]
		if known = append(known, short(r.ID)); id != "" && strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("%d runs have ids that begin with %s: expected more of the id", len(found), id)
	case len(known) == 0:
		return nil, fmt.Errorf("no run %s: the farm has no runs", id)
	}
	known = known[:min(len(known), 20)]
	return nil, console.Unknown(fmt.Errorf("no run %s; there are: %s", id, strings.Join(known, ", ")), id, known)
}

func short(id string) string { return id[:min(len(id), 8)] }

// printStatus prints a status, or one of its runs.
func (a *app) printStatus(s *farm.Status, run *farm.RunStatus, again bool) error {
	if again && !a.JSON && console.IsTerminal(os.Stdout) {
		a.Printf("\x1b[H\x1b[2J")
	}
	var err error
	if run != nil {
		err = a.Print(run, func() { a.printRuns([]farm.RunStatus{*run}) })
	} else {
		err = a.Print(s, func() { a.printFarm(s) })
	}
	if e := a.Out.Flush(); err == nil && e != nil {
		err = fmt.Errorf("writing the output: %w", e)
	}
	return err
}

func (a *app) printFarm(s *farm.Status) {
	if s.Trouble != "" {
		a.Printf("trouble: %s\n\n", s.Trouble)
	}
	if len(s.Runs) == 0 {
		a.Printf("no runs\n")
	} else {
		a.printRuns(s.Runs)
	}
	a.Printf("\n")
	if len(s.Workers) == 0 {
		a.Printf("no workers\n")
	} else {
		a.printWorkers(s)
	}
	if len(s.Failures) > 0 {
		rows := [][]string{{"failure", "times", "last", "run", "worker"}}
		for _, f := range s.Failures[:min(len(s.Failures), 10)] {
			rows = append(rows, []string{f.Text, fmt.Sprint(f.Count), ago(s, f.Last), short(f.Run), f.Worker})
		}
		a.Printf("\n")
		a.Table(rows...)
	}
	if len(s.Audits) > 0 {
		rows := [][]string{{"wrong worker", "when", "run", "shard", "made again", "first row that differs"}}
		for _, u := range s.Audits[:min(len(s.Audits), 10)] {
			rows = append(rows, []string{u.Worker, ago(s, u.Time), short(u.Run), fmt.Sprint(u.Shard), fmt.Sprint(u.Returned), u.Row})
		}
		a.Printf("\n")
		a.Table(rows...)
	}
}

func (a *app) printRuns(runs []farm.RunStatus) {
	rows := [][]string{{"run", "name", "state", "shards", "in work", "rows", "size", "rows/s", "left", "audits", "output"}}
	for _, r := range runs {
		left := "–"
		if r.Left > 0 && r.State == farm.Running {
			left = console.FormatDuration(time.Duration(r.Left * float64(time.Second)))
		}
		rows = append(rows, []string{
			short(r.ID), r.Name, string(r.State), fmt.Sprintf("%d of %d", r.Made, r.Shards), fmt.Sprint(r.Held),
			texts.Group(r.Rows), console.FormatSize(r.Bytes), texts.Group(uint64(r.RowRate)), left, counts(r.Audits), r.Out,
		})
	}
	a.Table(rows...)
	for _, r := range runs {
		if r.Text != "" {
			a.Printf("%s: %s\n", short(r.ID), r.Text)
		}
	}
}

func (a *app) printWorkers(s *farm.Status) {
	rows := [][]string{{"worker", "state", "version", "host", "heard of", "in work", "shards", "rows/s", "lapsed", "audits"}}
	for _, w := range s.Workers {
		state := "lost"
		switch {
		case w.Quarantined != "":
			state = "quarantined"
		case w.Alive && w.Trouble != "":
			state = "in trouble"
		case w.Alive:
			state = "alive"
		}
		rows = append(rows, []string{
			w.Name, state, w.Version, w.Host, ago(s, w.Beat), fmt.Sprintf("%d of %d", w.Held, w.Slots),
			texts.Group(w.Shards), texts.Group(uint64(w.RowRate)), fmt.Sprint(w.Lapsed), counts(w.Audits),
		})
	}
	a.Table(rows...)
	for _, w := range s.Workers {
		if why := w.Quarantined + w.Trouble; why != "" {
			a.Printf("%s: %s\n", w.Name, why)
		}
	}
}

// ago formats the time since t, by the coordinator's clock.
func ago(s *farm.Status, t time.Time) string {
	return console.FormatDuration(max(0, s.Now.Sub(t))) + " ago"
}

// counts formats the counts of audits.
func counts(c farm.AuditCounts) string {
	var words []string
	for _, n := range []struct {
		n    int
		what string
	}{{c.Passed, "passed"}, {c.Failed, "failed"}, {c.Pending, "due"}, {c.Waived, "waived"}} {
		if n.n > 0 {
			words = append(words, fmt.Sprint(n.n, " ", n.what))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

func (a *app) farmCancel() *cobra.Command {
	return a.farmChange("cancel RUN", "End a run",
		`Ends a run. Committed shards stay: farm retry, or submitting the run again,
continues it. The id of the run may be shortened.`, (*farm.Client).Cancel)
}

func (a *app) farmRetry() *cobra.Command {
	return a.farmChange("retry RUN", "Continue a run",
		`Continues a cancelled or failed run. In a running one it looks again for missing
shards; the shards of a finished one are made again. The id of the run may be
shortened.`, (*farm.Client).Retry)
}

// farmChange makes a command that changes a run.
func (a *app) farmChange(use, does, long string, change func(*farm.Client, context.Context, string) (*farm.RunStatus, error)) *cobra.Command {
	f := &farmStatusFlags{}
	name, _, _ := strings.Cut(use, " ")
	c := &cobra.Command{
		Use: use, Short: does,
		Long:    long + "\n\nWith --json: one object about the run with " + runKeys,
		Example: "  moonfarm-full farm " + name + " 0123abcd",
		Args:    console.Takes("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			client, closing, err := f.client(c.Context(), a.logger(&f.logFlags))
			if err != nil {
				return err
			}
			defer closing()
			r, err := look(c.Context(), client, args[0])
			if err != nil {
				return err
			}
			if r, err = change(client, c.Context(), r.ID); err != nil {
				return err
			}
			return a.Print(r, func() { a.printRuns([]farm.RunStatus{*r}) })
		},
	}
	f.connectFlags.add(c, "nats://"+defaultServer)
	f.logFlags.add(c, slog.LevelWarn)
	return c
}
