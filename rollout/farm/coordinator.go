package farm

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"moonfarm/rollout/farm/internal/tracker"
)

// CoordinatorOptions configure a coordinator.
type CoordinatorOptions struct {
	Version string // of moonfarm: workers of another version are refused
	Open    Open   // opens the shards of a run, for submissions, disputes, and the end
	// Within returns the allowed folder above an output, for workers that have no bound of their
	// own; nil: there is none.
	Within   func(out string) string
	Replicas int           // of the streams in JetStream: 1, or 3 on a cluster; 0 is 1
	Audit    float64       // the share of shards made a second time; 0: no shards
	Trusted  []string      // workers whose first shards are not audited more often: the workers of this process
	Lapse    time.Duration // after which the leases of a silent worker end; 0 is 30 s
	Patience time.Duration // for which an audit waits for another worker; 0 is 30 s
	Server   *Server       // the server whose troubles belong in the status, or nil
	Log      *slog.Logger

	lease time.Duration // 0 is 5 s
	look  time.Duration // between two checks of the streams; 0 is 2 s
}

// Coordinate coordinates whenever no other coordinator does, until ctx is
// done. It fails if the options are wrong; it retries all other errors.
func Coordinate(ctx context.Context, c *Conn, o CoordinatorOptions) error {
	if o.Open == nil || o.Version == "" || o.Replicas < 0 || o.Replicas > 5 {
		return fmt.Errorf("coordinator: expected a version, Open and 1 to 5 replicas")
	}
	o.Lapse, o.Patience = cmp.Or(o.Lapse, 30*time.Second), cmp.Or(o.Patience, 30*time.Second)
	o.lease, o.look = cmp.Or(o.lease, 5*time.Second), cmp.Or(o.look, 2*time.Second)
	o.Replicas = max(o.Replicas, 1)
	log, text := logger(o.Log), ""
	for b := newBackoff(); ctx.Err() == nil; {
		err := attempt(ctx, c, &o, log, func() { b, text = newBackoff(), "" })
		if err == nil {
			continue
		}
		if t := line(err.Error()); t != text && ctx.Err() == nil && !errors.Is(err, errReopened) && !errors.Is(err, errVanished) && o.Server.trouble() == "" {
			text = t
			log.Error("the coordinator restarts", "err", t)
		}
		if b.pause(ctx) && o.Server.trouble() != "" {
			answerTrouble(ctx, c, o.Server)
		}
	}
	return nil
}

// answerTrouble answers all requests with the error of the server's store, until ctx is done.
func answerTrouble(ctx context.Context, c *Conn, s *Server) {
	sub, err := c.nc.Subscribe(clientSubject+">", func(m *nats.Msg) {
		c.reply(m, &answer{Error: cmp.Or(s.trouble(), ending.Error), Retry: s.trouble() == ""})
	})
	if err != nil {
		return // the connection is closed
	}
	defer sub.Unsubscribe()
	for retry := (backoff{200 * time.Millisecond, 200 * time.Millisecond}); s.trouble() != "" && retry.pause(ctx); {
	}
}

// attempt waits for the lease and coordinates until it is lost.
func attempt(ctx context.Context, c *Conn, o *CoordinatorOptions, log *slog.Logger, leading func()) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if o.Server != nil {
		o.Server.endTerm.Store(&stop)
		defer o.Server.endTerm.Store(nil)
	}
	err := campaign(ctx, stop, c, o, log, leading)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// campaign opens the store, takes the lease, and keeps it for one term.
func campaign(ctx context.Context, stop context.CancelCauseFunc, c *Conn, o *CoordinatorOptions, log *slog.Logger, leading func()) error {
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	st, err := openStore(opening, c, o)
	cancel()
	if err == nil && len(st.made) > 0 && len(st.made) < len(allStreams) {
		log.Warn("missing streams are created; their data is lost", "streams", strings.Join(st.made, ", "))
	}
	if denied := c.denied.Load(); err != nil && denied != nil {
		return fmt.Errorf("%w: expected credentials with the role coordinator", *denied)
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	revision, err := takeLease(ctx, st, c.name, o.lease)
	if err != nil {
		return err
	}
	leading()
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		stop(keepLease(ctx, st, c.name, revision, o))
	}()
	err = lead(ctx, c, st, o, log)
	stop(err)
	<-kept
	return err
}

// lead builds a coordinator from its parts and coordinates until ctx is done.
func lead(ctx context.Context, conn *Conn, st *store, o *CoordinatorOptions, log *slog.Logger) error {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &term{o: o, conn: conn, st: st, log: log, ctx: ctx, state: newState(o, time.Now())}
	commits := &committer{term: t, sampler: tracker.Sampler{Secret: []byte(rand.Text()), Rate: o.Audit}}
	audits := &auditor{term: t, commits: commits}
	all := &runs{term: t, commits: commits}
	commits.finish, commits.disputed = all.finish, audits.decide
	keep := &upkeep{term: t, audits: audits}
	in := &requests{term: t, assigner: &assigner{t, all.fail}, committer: commits, runs: all, busy: make(chan struct{}, maxBusy)}
	defer in.close()
	defer cancel(nil)
	var err error
	if t.events, err = newEventLog(ctx, st, log); err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	if o.Server != nil {
		if text := o.Server.last.Load(); text != nil && !t.events.has(*text) {
			t.events.add(&Failure{Text: *text}, nil) // could not be stored while the trouble lasted
		}
		t.wg.Go(keep.listen)
	}
	if err := keep.load(); err != nil {
		return err
	}
	if err := all.load(); err != nil {
		return err
	}
	t.do(func(s *state) { log.Info("coordinating", "runs", len(s.runs), "workers", len(s.workers)) })
	stop, err := in.serve()
	if err != nil {
		return err
	}
	defer stop()
	t.wg.Go(func() { keep.keepStreams(cancel) })
	keep.ticks()
	keep.save(context.WithoutCancel(ctx), maxWorkers)
	if cause := context.Cause(ctx); errors.Is(cause, errVanished) {
		return cause
	}
	return nil
}

// takeLease waits until this coordinator has the lease, and returns its revision.
func takeLease(ctx context.Context, st *store, name string, ttl time.Duration) (uint64, error) {
	host, _ := os.Hostname()
	for {
		ask, cancel := context.WithTimeout(ctx, ttl)
		revision, ok, err := write(ask, st.lease, leaseKey, fmt.Sprintf("%s on %s", name, host), 0)
		cancel()
		if ok || err != nil {
			return revision, err
		}
		pause := backoff{ttl / 5, ttl / 5}
		if !pause.pause(ctx) {
			return 0, ctx.Err()
		}
	}
}

// keepLease renews the lease. It returns when ctx is done, after giving the lease back, or when it
// could not renew the lease in time. While nothing can be written to the only server, no other
// coordinator can take the lease.
func keepLease(ctx context.Context, st *store, name string, revision uint64, o *CoordinatorOptions) error {
	ttl := o.lease
	for kept := time.Now(); ; {
		select {
		case <-time.After(ttl / 5):
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), ttl)
			defer cancel()
			_ = st.lease.Delete(end, leaseKey, jetstream.LastRevision(revision)) // if this fails, the lease lapses
			return nil
		}
		ask, cancel := context.WithTimeout(ctx, ttl/3)
		next, ok, err := write(ask, st.lease, leaseKey, name, revision)
		cancel()
		if ok {
			revision, kept = next, time.Now()
		} else if err != nil && o.Server.alone() && o.Server.trouble() != "" {
			kept = time.Now()
		} else if (err == nil || time.Since(kept) > ttl*3/5) && ctx.Err() == nil {
			return fmt.Errorf("the lease is lost: %w", errors.Join(err, errors.New("another coordinator may have it")))
		}
	}
}
