package farm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
)

// CoordinatorOptions say how a coordinator works.
type CoordinatorOptions struct {
	Version  string        // of moonfarm: workers of another one are refused
	Open     Open          // for submitting, for audits in doubt, and for the end
	Replicas int           // of what is created in JetStream: 1, or 3 on a cluster; 0 is 1
	Audit    float64       // the share of shards made a second time; 0 is 0.01, less than 0 none
	Trusted  []string      // workers without a higher share at first: those of this process
	Lapse    time.Duration // after which an unheard worker's shards go to others; 0 is 30 s
	Patience time.Duration // for which an audit waits for another worker; 0 is 30 s
	Server   *Server       // whose troubles belong in the status, or nil
	Log      *slog.Logger
	// Small says that few workers come: what is created in JetStream is kept so that
	// it takes less memory and time at some hundred commits a second at most.
	Small bool
	// Changed, if not nil, is called when this coordinator takes over, and when the
	// state of a run has changed. It must return at once.
	Changed func()

	lease time.Duration // 0 is 5 s
	look  time.Duration // between two looks at the streams; 0 is 2 s
}

// coordinator is the one that has the lease. What it holds in memory it can
// read again from the store.
type coordinator struct {
	o       *CoordinatorOptions
	c       *Conn
	st      *store
	log     *slog.Logger
	book    *book
	sampler sampler
	since   time.Time
	expects bool            // workers were there a moment before
	ctx     context.Context // done when the lease is lost
	wg      sync.WaitGroup
	busy    chan struct{} // requests that write, at once
	entry   sync.Mutex    // guards closed
	closed  bool          // no request is taken any more
	judging sync.Mutex    // one arbitration at a time

	steering sync.Mutex // one submit, cancel or retry at a time; before mu

	mu       sync.Mutex // guards what follows, and runs and workers
	runs     map[string]*run
	workers  map[string]*worker
	waiting  []*waiter // oldest first
	reserved int       // waiters for which messages are being fetched
	urgent   bool      // the record of a worker is to be written soon
}

// maxBusy is how many requests are written to the store at once.
const maxBusy = 256

// Coordinate coordinates whenever no other coordinator does, until ctx is
// done. It fails if the options are wrong; all else it tries again.
func Coordinate(ctx context.Context, c *Conn, o CoordinatorOptions) error {
	if o.Open == nil || o.Version == "" || o.Replicas < 0 || o.Replicas > 5 {
		return fmt.Errorf("coordinator: want a version, Open and 1 to 5 replicas")
	}
	for _, d := range []struct {
		at *time.Duration
		or time.Duration
	}{{&o.Lapse, 30 * time.Second}, {&o.Patience, 30 * time.Second}, {&o.lease, 5 * time.Second}, {&o.look, 2 * time.Second}} {
		if *d.at == 0 {
			*d.at = d.or
		}
	}
	o.Replicas = max(o.Replicas, 1)
	if o.Audit == 0 {
		o.Audit = 0.01
	}
	log, text := logger(o.Log), ""
	for b := newBackoff(); ctx.Err() == nil; {
		err := attempt(ctx, c, &o, log, func() { b, text = newBackoff(), "" })
		if err == nil {
			continue
		}
		if t := line(err.Error()); t != text && ctx.Err() == nil && !errors.Is(err, errReopened) && !errors.Is(err, errVanished) && o.Server.trouble() == "" {
			text = t
			log.Error("the coordinator begins again", "err", t)
		}
		if b.pause(ctx) && o.Server.trouble() != "" {
			answerTrouble(ctx, c, o.Server)
		}
	}
	return nil
}

// answerTrouble answers all requests with the trouble of the server, until it is over.
func answerTrouble(ctx context.Context, c *Conn, s *Server) {
	sub, err := c.nc.Subscribe(clientSubject+">", func(m *nats.Msg) {
		if data, err := json.Marshal(&answer{Error: cmp.Or(s.trouble(), "the coordinator begins again"), Again: s.trouble() == ""}); err == nil && strings.HasPrefix(m.Reply, "_INBOX") {
			_ = c.nc.Publish(m.Reply, data) // who is gone will ask again
		}
	})
	if err != nil {
		return // the connection is closed
	}
	defer sub.Unsubscribe()
	for again := (backoff{200 * time.Millisecond, 200 * time.Millisecond}); s.trouble() != "" && again.pause(ctx); {
	}
}

func newBackoff() backoff { return backoff{200 * time.Millisecond, 5 * time.Second} }

// attempt waits for the lease and coordinates until it is lost.
func attempt(ctx context.Context, c *Conn, o *CoordinatorOptions, log *slog.Logger, leading func()) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if o.Server != nil {
		o.Server.again.Store(&stop)
		defer o.Server.again.Store(nil)
	}
	err := term(ctx, stop, c, o, log, leading)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

func term(ctx context.Context, stop context.CancelCauseFunc, c *Conn, o *CoordinatorOptions, log *slog.Logger, leading func()) error {
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	missing := missingStreams(opening, c)
	st, err := openStore(opening, c, o)
	cancel()
	if err == nil && len(missing) > 0 && len(missing) < len(allStreams) {
		log.Warn("streams were missing and are made; what they had is lost", "streams", strings.Join(missing, ", "))
	}
	if denied := c.denied.Load(); err != nil && denied != nil {
		return fmt.Errorf("%w: want credentials with the role coordinator", *denied)
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

// missingStreams returns the streams that do not exist, as far as the server tells.
func missingStreams(ctx context.Context, c *Conn) []string {
	js, err := jetstream.New(c.nc)
	if err != nil {
		return nil
	}
	list, _ := lost(ctx, js) // who opens them gets the error
	return list
}

// takeLease returns when this coordinator has the lease.
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

// keepLease renews the lease. It returns when ctx is done, and gives the lease
// back, or when it could not renew it in time. While nothing can be written to the
// only server nobody else can take it.
func keepLease(ctx context.Context, st *store, name string, revision uint64, o *CoordinatorOptions) error {
	ttl := o.lease
	for kept := time.Now(); ; {
		select {
		case <-time.After(ttl / 5):
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), ttl)
			defer cancel()
			_ = st.lease.Delete(end, leaseKey, jetstream.LastRevision(revision)) // else it lapses
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

// lead coordinates until ctx is done.
func lead(ctx context.Context, conn *Conn, st *store, o *CoordinatorOptions, log *slog.Logger) error {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &coordinator{o: o, c: conn, st: st, log: log, ctx: ctx, since: time.Now(), busy: make(chan struct{}, maxBusy),
		runs: map[string]*run{}, workers: map[string]*worker{},
		sampler: sampler{[]byte(rand.Text()), max(o.Audit, 0)}}
	defer c.close()
	defer cancel(nil)
	var err error
	if c.book, err = newBook(ctx, st, log); err != nil {
		return fmt.Errorf("notes: %w", err)
	}
	if o.Server != nil {
		if t := o.Server.last.Load(); t != nil && !c.book.has(*t) {
			c.book.note(&Failure{Text: *t}, nil) // the stream could not have it
		}
		c.wg.Go(c.listen)
	}
	if err := c.load(); err != nil {
		return err
	}
	log.Info("coordinating", "runs", len(c.runs), "workers", len(c.workers))
	service, err := micro.AddService(conn.nc, micro.Config{Name: "moonfarm", Version: "1.0.0", Description: "the farm's coordinator"})
	if err != nil {
		return err
	}
	defer service.Stop()
	for name, handle := range c.actions() {
		subject := clientSubject + name
		if strings.HasPrefix(name, "w.") {
			subject += ".*"
		}
		if err := service.AddEndpoint(strings.ReplaceAll(name, ".", "-"), c.admit(handle), micro.WithEndpointSubject(subject)); err != nil {
			return err
		}
	}
	c.changed()
	c.wg.Go(func() { c.keepStreams(cancel) })
	c.ticks()
	c.flush(context.WithoutCancel(ctx), maxWorkers)
	if cause := context.Cause(ctx); errors.Is(cause, errVanished) {
		return cause
	}
	return nil
}

// admit is a handler while this coordinator has not ended. Requests come after the
// service has stopped, too: NATS still hands out those that it has.
func (c *coordinator) admit(h micro.HandlerFunc) micro.HandlerFunc {
	return func(m micro.Request) {
		c.entry.Lock()
		closed := c.closed
		if !closed {
			c.wg.Add(1)
			defer c.wg.Done()
		}
		c.entry.Unlock()
		if closed {
			c.reply(m, &answer{Error: "the coordinator begins again", Again: true})
			return
		}
		h(m)
	}
}

// close takes no request any more and waits for all that goes on.
func (c *coordinator) close() {
	c.entry.Lock()
	c.closed = true
	c.entry.Unlock()
	c.wg.Wait()
}

func (c *coordinator) changed() {
	if c.o.Changed != nil {
		c.o.Changed()
	}
}

// listen notes what the server in this process says, which has logged it.
func (c *coordinator) listen() {
	for {
		select {
		case text := <-c.o.Server.lines:
			c.book.note(&Failure{Text: line(text), kind: serverKind(text)}, nil)
		case <-c.ctx.Done():
			return
		}
	}
}

// load reads workers and runs, and sets the open runs going.
func (c *coordinator) load() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := each(c.ctx, c.st.workers, ">", func(name string, revision uint64, v *workerRecord) error {
		if time.Since(v.Beat) > 30*24*time.Hour && v.Quarantined == "" {
			return c.st.workers.Purge(c.ctx, name, jetstream.LastRevision(revision))
		}
		c.expects = c.expects || time.Since(v.Beat) < 10*time.Minute
		c.workers[name] = &worker{workerRecord: *v, name: name, drawn: v.Shards, claims: map[claim]*holder{}}
		return nil
	})
	if err != nil {
		return fmt.Errorf("workers: %w", err)
	}
	var runs []*run
	err = each(c.ctx, c.st.runs, ">", func(id string, revision uint64, v *runRecord) error {
		runs = append(runs, newRun(id, v, revision))
		return nil
	})
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	for _, r := range runs {
		c.runs[r.id] = r
		if r.State == Finishing {
			r.State = Running
		}
		if r.State == Running {
			if err := c.begin(r); err != nil {
				return fmt.Errorf("run %s: %w", r.id, err)
			}
		} else if err := c.st.unqueue(c.ctx, r.id); err != nil {
			return fmt.Errorf("run %s: %w", r.id, err)
		}
	}
	return nil
}

// handler answers a request; nil is no answer now.
type handler func(who string, q *request, m micro.Request) *answer

// actions are what can be asked. Those in the background write to the store.
func (c *coordinator) actions() map[string]micro.HandlerFunc {
	all := map[string]micro.HandlerFunc{}
	for name, h := range map[string]handler{"w.claim": c.claim, "w.beat": c.beat, "w.back": c.back, "w.spec": c.spec} {
		all[name] = c.action(name, h)
	}
	for name, h := range map[string]handler{"w.commit": c.commit, "submit": c.submit, "cancel": c.cancel, "retry": c.retry} {
		all[name] = c.background(c.action(name, c.writing(h)))
	}
	all["status"] = c.background(c.action("status", c.status))
	return all
}

// writing is a handler that answers at once while nothing can be written.
func (c *coordinator) writing(h handler) handler {
	return func(who string, q *request, m micro.Request) *answer {
		if text := c.o.Server.trouble(); text != "" {
			return &answer{Error: text}
		}
		return h(who, q, m)
	}
}

// background runs a handler in a goroutine of its own, so many at once.
func (c *coordinator) background(h micro.HandlerFunc) micro.HandlerFunc {
	return func(m micro.Request) {
		select {
		case c.busy <- struct{}{}:
		case <-c.ctx.Done():
			c.reply(m, &answer{Error: "the coordinator begins again", Again: true})
			return
		}
		c.wg.Go(func() {
			defer func() { <-c.busy }()
			h(m)
		})
	}
}

// action reads a request. What is none is answered, and noted without a run.
func (c *coordinator) action(name string, h handler) micro.HandlerFunc {
	return func(m micro.Request) {
		who := ""
		if strings.HasPrefix(name, "w.") {
			who = m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]
			if checkName(who) != nil {
				c.reply(m, &answer{Error: checkName(who).Error()})
				return
			}
		}
		q := new(request)
		if err := json.Unmarshal(m.Data(), q); err != nil {
			text := name + ": a request is not the JSON of this protocol"
			c.book.fail("", who, text)
			c.reply(m, &answer{Error: text})
			return
		}
		if a := h(who, q, m); a != nil {
			c.reply(m, a)
		}
	}
}

// reply answers; who is gone will ask again. It may come after the handler's
// end, when the request's own methods may not be used. An answer goes to an
// inbox only: who asks has no right to speak to JetStream through the coordinator.
func (c *coordinator) reply(m micro.Request, a *answer) {
	data, err := json.Marshal(a)
	if err == nil && len(data) > maxPayload-4096 {
		data, err = json.Marshal(&answer{Error: fmt.Sprintf("the answer has %d bytes, the limit is %d", len(data), maxPayload-4096)})
	}
	if err == nil && strings.HasPrefix(m.Reply(), "_INBOX") {
		_ = c.c.nc.Publish(m.Reply(), data)
	}
}
