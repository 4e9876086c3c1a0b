package full

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/command"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/rollout/farm"
	"moonfarm/sim/texts"
)

// farmRunFlags are the flags of farm run.
type farmRunFlags struct {
	specFlags
	logFlags
	store   string
	workers int
	audit   float64
	grace   time.Duration
}

func (a *app) farmRun() *cobra.Command {
	f := &farmRunFlags{}
	c := &cobra.Command{
		Use: "run GAME --out URL", Short: "Serve, submit and work in one process",
		Long: `Makes a dataset in this process, as generate does, with a server, a run and
workers like those on many machines. The output may be a bucket.

Committed shards are kept until the run is done: the same command continues a
run that was stopped or killed.

With --json: one object about the run with ` + runKeys,
		Example: `  moonfarm-full farm run towerdefence --episodes 2000 --seed 1 --out data/td
  moonfarm-full farm run codecraft --policy econ --episodes 100 --out 's3://bucket/craft?region=eu-west-1'`,
		Args: console.Takes("GAME"),
		RunE: func(c *cobra.Command, args []string) error { return a.runFarm(c.Context(), args[0], f) },
	}
	f.specFlags.add(c)
	c.Flags().StringVar(&f.store, "store", "", "`DIR` for the state of the run until it is done (default: one for each run in the user's cache)")
	console.WorkersFlag(c, &f.workers)
	a.LockFlag(c, "folders")
	auditFlag(c, &f.audit)
	a.graceFlag(c, &f.grace)
	f.logFlags.add(c, slog.LevelWarn)
	return c
}

// runFarm serves, submits and works.
func (a *app) runFarm(ctx context.Context, game string, f *farmRunFlags) error {
	spec, run, err := f.specFlags.read(ctx, game, datasets.Options{Workers: f.workers, Alone: true, Locks: &a.Locks})
	if err != nil {
		return err
	}
	defer run.Close() // all results are committed by then
	store := f.store
	if store == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no folder for the state of the run, expected --store DIR: %w", err)
		}
		store = filepath.Join(cache, "moonfarm", "farm", spec.ID())
	}
	a.lingers(f.grace)
	a.Resume = fmt.Sprintf("committed shards are kept in %s; the same command continues", f.out)
	log := a.logger(&f.logFlags)
	s, err := farm.Serve(farm.ServerOptions{Dir: store, Log: log, Locks: &a.Locks})
	if err != nil {
		return err
	}
	defer s.Close()
	end, err := a.farmHere(ctx, s, spec, run, f, log)
	if err != nil {
		return err
	}
	if end.State == farm.Done && f.store == "" {
		s.Close()
		if err := os.RemoveAll(store); err != nil {
			log.Warn("the state of a run that is done stays", "err", err)
		}
	}
	return nil
}

// openOnce returns the already open shards of a spec with a no-op Close, and opens the
// shards of any other spec, which a store may hold.
func (a *app) openOnce(spec *farm.Spec, run *datasets.Run) farm.Open {
	id := spec.ID()
	return func(ctx context.Context, s *farm.Spec, workers int) (farm.Shards, error) {
		if s.ID() != id {
			return a.openShards(ctx, s, workers)
		}
		return kept{run}, nil
	}
}

// kept are shards that are closed elsewhere.
type kept struct{ *datasets.Run }

func (kept) Close() error { return nil }

// farmHere coordinates and works in this process until the run is over.
func (a *app) farmHere(ctx context.Context, s *farm.Server, spec *farm.Spec, run *datasets.Run, f *farmRunFlags, log *slog.Logger) (*farm.RunStatus, error) {
	connect := func(name string) (*farm.Conn, error) {
		return farm.Connect(ctx, farm.ConnectOptions{Server: s, Name: name, Log: log})
	}
	center, err := connect("coordinator")
	if err != nil {
		return nil, err
	}
	defer center.Close()
	// Two workers can audit each other's shards; a single worker has no other.
	names := []string{"here-1", "here-2"}[:min(2, f.workers)]
	audit := f.audit
	if len(names) == 1 {
		audit = 0
	}
	// The coordinator outlives the context, which ends the work: it takes the shards that
	// are then finished or handed back.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	open := a.openOnce(spec, run)
	var serve, work sync.WaitGroup
	defer serve.Wait()
	defer stop()
	failed := make(chan error, len(names)+1)
	serve.Go(func() {
		failed <- farm.Coordinate(serving, center, farm.CoordinatorOptions{
			Version: datasets.Version, Open: open, Audit: audit, Trusted: names, Server: s, Log: log,
		})
	})
	client := farm.NewClient(center)
	r, err := submit(ctx, client, spec, nearby, failed)
	if err != nil {
		return nil, err
	}
	defer command.SaveMemory()()
	working, rest := context.WithCancel(ctx)
	defer work.Wait()
	defer rest()
	for i, name := range names {
		c, err := connect(name)
		if err != nil {
			return nil, err
		}
		slots := (f.workers + i) / len(names)
		work.Go(func() {
			defer c.Close()
			failed <- farm.Work(working, c, farm.WorkerOptions{Version: datasets.Version, Slots: slots, Open: open, Grace: f.grace, Log: log})
		})
	}
	return a.await(ctx, client, r, nearby, failed)
}

// farmSubmitFlags are the flags of farm submit.
type farmSubmitFlags struct {
	specFlags
	connectFlags
	logFlags
	wait bool
}

func (a *app) farmSubmit() *cobra.Command {
	f := &farmSubmitFlags{}
	c := &cobra.Command{
		Use: "submit GAME --out URL", Short: "Begin a run on a farm",
		Long: `Begins a run and prints its id. A run is identified by the game, the rules, the
policies, the seed, the other settings and the output: submitting the same again
joins the existing run, and continues a run that was cancelled or failed. If the
dataset is complete, there is nothing to do.

This machine, the server and all workers must reach the output under the name
that --out gives: a bucket, or a folder that all machines share.

With --json: one object about the run with ` + runKeys,
		Example: `  moonfarm-full farm submit towerdefence --episodes 1000000 --out s3://bucket/td --connect tls://farm.example:4222 --credentials me.json
  moonfarm-full farm submit codecraft --policy econ --out /mnt/data/craft --wait`,
		Args: console.Takes("GAME"),
		RunE: func(c *cobra.Command, args []string) error { return a.runFarmSubmit(c.Context(), args[0], f) },
	}
	f.specFlags.add(c)
	a.LockFlag(c, "the output")
	c.Flags().BoolVar(&f.wait, "wait", false, "wait until the run is done, and fail if it fails")
	f.connectFlags.add(c, "nats://"+defaultServer)
	f.logFlags.add(c, slog.LevelWarn)
	return c
}

func (a *app) runFarmSubmit(ctx context.Context, game string, f *farmSubmitFlags) error {
	spec, run, err := f.specFlags.read(ctx, game, datasets.Options{Workers: 1, Locks: &a.Locks})
	if err != nil {
		return err
	}
	log := a.logger(&f.logFlags)
	c, closing, err := f.client(ctx, log)
	if err != nil {
		return errors.Join(err, run.Discard())
	}
	defer closing()
	if f.wait {
		a.Resume = fmt.Sprintf("run %s goes on; the same command waits for it, farm cancel ends it", spec.ID())
	}
	r, err := submit(ctx, c, spec, away, nil)
	if err != nil && ctx.Err() == nil && !farm.Unanswered(err) {
		err = errors.Join(err, run.Discard())
	} else {
		err = errors.Join(err, run.Close())
	}
	if err == nil && r.State == farm.Done && !f.wait {
		log.Warn("the dataset is complete: there is nothing to do", "run", r.ID, "out", r.Out)
	}
	if err == nil && f.wait {
		_, err = a.await(ctx, c, r, away, nil)
	}
	if err != nil || f.wait {
		return err
	}
	return a.Print(r, func() { a.Printf("%s\n", r.ID) })
}

// Times between two looks at a run, in this process or in another one.
const (
	nearby = 50 * time.Millisecond
	away   = 500 * time.Millisecond
)

// submit submits a run. It waits for a coordinator that has not started yet, or for an
// error from failed.
func submit(ctx context.Context, c *farm.Client, spec *farm.Spec, every time.Duration, failed <-chan error) (*farm.RunStatus, error) {
	for begin := time.Now(); ; {
		r, err := c.Submit(ctx, spec)
		if err == nil || time.Since(begin) > reach || !errors.Is(err, farm.ErrNobody) {
			return r, err
		}
		if err := sleep(ctx, every, failed); err != nil {
			return nil, err
		}
	}
}

// await waits for the end of a run and prints it.
func (a *app) await(ctx context.Context, c *farm.Client, r *farm.RunStatus, every time.Duration, failed <-chan error) (*farm.RunStatus, error) {
	found := r.Made
	m := a.Meter("episodes")
	for r.State == farm.Running || r.State == farm.Finishing {
		if err := sleep(ctx, every, failed); err != nil {
			m.End()
			return nil, err
		}
		next, err := look(ctx, c, r.ID)
		if err == nil {
			r = next
			m.Show(r.Played, r.Episodes, r.Rows, "rows")
		}
	}
	passed := m.End()
	if err := ended(r); err != nil {
		return r, err
	}
	return r, a.Print(r, func() { a.printEnd(r, found, passed) })
}

// sleep waits for the next look. It fails if ctx is done or failed receives.
func sleep(ctx context.Context, every time.Duration, failed <-chan error) error {
	select {
	case <-time.After(every):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case err := <-failed:
		if err == nil {
			err = errors.New("the farm ended before the run did")
		}
		return err
	}
}

// look finds a run in the status of a farm.
func look(ctx context.Context, c *farm.Client, run string) (*farm.RunStatus, error) {
	s, err := c.Status(ctx)
	if err != nil {
		return nil, err
	}
	return find(s, run)
}

// ended returns the error of a run that failed or was cancelled.
func ended(r *farm.RunStatus) error {
	switch {
	case r.State == farm.Failed:
		return fmt.Errorf("run %s failed: %s; moonfarm-full farm retry continues it", r.ID, r.Text)
	case r.State == farm.Cancelled:
		return fmt.Errorf("run %s was cancelled; moonfarm-full farm retry continues it", r.ID)
	}
	return nil
}

// printEnd prints the line that generate prints about a dataset.
func (a *app) printEnd(r *farm.RunStatus, found int, passed time.Duration) {
	d := datasets.Size{Episodes: r.Episodes, Rows: r.Rows, Bytes: r.Bytes, Shards: r.Shards, Made: r.Shards - found, Found: found}
	speed := ""
	if d.Made > 0 && passed > 0 {
		rows := float64(d.Rows) * float64(d.Made) / float64(d.Shards) / passed.Seconds()
		speed = fmt.Sprintf("; %.1f s, %s rows/s", passed.Seconds(), texts.Group(uint64(rows)))
	}
	command.PrintSize(a.Console, r.Out, d, speed)
	a.Printf("\n")
}
