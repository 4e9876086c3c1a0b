package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"moonfarm/rollout/farm/internal/tracker"
)

// A client publishes a JSON request on moonfarm.v1.<action>, and a worker on
// moonfarm.v1.w.<action>.<worker>; the answer is JSON too. A server
// lets a worker publish on its own subjects only, so that the
// last token of a subject names the worker.
const (
	clientSubject = "moonfarm.v1."
	workerSubject = "moonfarm.v1.w."
)

// maxName is the longest name of a worker.
const maxName = 64

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkName fails if a text cannot be the name of a worker or user, which is a
// token of subjects and the key of a record.
func checkName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("name %.80q, expected 1 to %d letters, digits, - or _", name, maxName)
	}
	return nil
}

// request is a message of a worker or a client. The receiver checks all of it.
type request struct {
	Version string `json:"version,omitempty"` // claim, beat
	Host    string `json:"host,omitempty"`
	Process string `json:"process,omitempty"` // names the process of the worker
	Slots   int    `json:"slots,omitempty"`
	Wait    int    `json:"wait,omitempty"` // claim: milliseconds until an empty answer

	tracker.Claim        // commit, back, spec; run alone: cancel, retry
	Receipt              // commit
	Error         string `json:"error,omitempty"`   // back: why; beat: the trouble now
	Permanent     bool   `json:"lasting,omitempty"` // back: a permanent failure
	Refused       bool   `json:"refused,omitempty"` // back: the worker cannot make this run at all

	Claims []tracker.Claim `json:"claims,omitempty"` // beat: the claims that the worker is making
	Ended  bool            `json:"ended,omitempty"`  // beat: the process makes no more shards; it is its last beat
	Spec   *Spec           `json:"spec,omitempty"`   // submit
}

// answer is a message of the coordinator.
type answer struct {
	Error   string          `json:"error,omitempty"`
	Refused bool            `json:"refused,omitempty"` // this worker will never get work
	Retry   bool            `json:"again,omitempty"`   // a retry may succeed in a moment
	Claim   *tracker.Claim  `json:"claim,omitempty"`
	Drop    []tracker.Claim `json:"drop,omitempty"` // beat: claims that are not needed any more
	Beat    int             `json:"beat,omitempty"` // milliseconds between two beats
	Spec    *Spec           `json:"spec,omitempty"`
	Within  string          `json:"within,omitempty"` // with Spec: its Within
	Proof   string          `json:"proof,omitempty"`  // with Spec: shows that the coordinator has the Key
	Run     *RunStatus      `json:"run,omitempty"`
	Status  *Status         `json:"status,omitempty"`
}

// ErrNobody means that no coordinator has received the request.
var ErrNobody = errors.New("no coordinator answers")

// Unanswered reports whether an error of a Client means that the request may have been carried
// out, since no answer came.
func Unanswered(err error) bool {
	return errors.As(err, new(awayError)) && !errors.Is(err, ErrNobody)
}

// errRefused means that the coordinator will never give this worker work.
var errRefused = errors.New("refused")

// awayError means that no coordinator answered, or that it cannot answer now.
type awayError struct{ error }

func (a awayError) Unwrap() error { return a.error }

// errRetry means that a retry may succeed in a moment.
var errRetry = errors.New("ask again")

// ask sends a request and waits for the answer.
func (c *Conn) ask(ctx context.Context, subject string, q *request, wait time.Duration) (*answer, error) {
	data, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	question := &question{subject, end}
	c.mu.Lock()
	c.asking[question] = true
	c.mu.Unlock()
	m, err := c.nc.RequestWithContext(ctx, subject, data)
	c.mu.Lock()
	delete(c.asking, question)
	c.mu.Unlock()
	if cause := context.Cause(ctx); err != nil && cause != nil && ctx.Err() == context.Canceled {
		err = cause
	}
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, awayError{fmt.Errorf("%w at %s", ErrNobody, c.where)}
	case errors.Is(err, context.DeadlineExceeded):
		return nil, awayError{fmt.Errorf("%s gave no answer in %v", c.where, wait)}
	case errors.Is(err, nats.ErrReconnectBufExceeded): // the library keeps no message to send it later
		return nil, awayError{fmt.Errorf("the connection to %s is lost", c.where)}
	case err != nil:
		return nil, err
	}
	a := new(answer)
	if err := json.Unmarshal(m.Data, a); err != nil {
		return nil, fmt.Errorf("answer to %s: %w", strings.TrimPrefix(subject, clientSubject), err)
	}
	if a.Refused {
		return nil, fmt.Errorf("%w: %s", errRefused, a.Error)
	}
	if a.Retry {
		return nil, awayError{fmt.Errorf("%s: %w", a.Error, errRetry)}
	}
	if a.Error != "" {
		return nil, errors.New(a.Error)
	}
	return a, nil
}

// backoff makes growing pauses between tries: each is random between next/2 and next, so that
// clients that failed together do not return together, and next doubles up to most.
type backoff struct{ next, most time.Duration }

// pause waits, and reports false if ctx was done first.
func (b *backoff) pause(ctx context.Context) bool {
	d := b.next/2 + rand.N(b.next/2+1)
	b.next = min(2*b.next, b.most)
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// newBackoff returns the backoff for tries against a server or store that is away.
func newBackoff() backoff { return backoff{200 * time.Millisecond, 5 * time.Second} }

// Client sends requests to a coordinator for people. Its methods fail with one line if no
// coordinator answers within half a minute.
type Client struct{ c *Conn }

// NewClient returns a client on a connection, which the caller closes.
func NewClient(c *Conn) *Client { return &Client{c} }

// Submit begins a run, or joins the run with an equal spec: a cancelled or
// failed run goes on; if the run is done, Submit returns its state at once.
func (c *Client) Submit(ctx context.Context, s *Spec) (*RunStatus, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return c.run(ctx, "submit", &request{Spec: s})
}

// Cancel ends a run that is not done. Its committed shards stay, for Submit and Retry.
func (c *Client) Cancel(ctx context.Context, run string) (*RunStatus, error) {
	return c.run(ctx, "cancel", &request{Claim: tracker.Claim{Run: run}})
}

// Retry continues a cancelled or failed run, looks again for the missing shards of a running
// run, and makes the shards of a done run again.
func (c *Client) Retry(ctx context.Context, run string) (*RunStatus, error) {
	return c.run(ctx, "retry", &request{Claim: tracker.Claim{Run: run}})
}

func (c *Client) run(ctx context.Context, action string, q *request) (*RunStatus, error) {
	a, err := c.ask(ctx, action, q)
	if err != nil {
		return nil, err
	}
	return a.Run, nil
}

// ask sends a request, and repeats it if the coordinator's term ends meanwhile.
func (c *Client) ask(ctx context.Context, action string, q *request) (*answer, error) {
	wait, begun := 30*time.Second, time.Now()
	for b := (backoff{100 * time.Millisecond, time.Second}); ; {
		a, err := c.c.ask(ctx, clientSubject+action, q, wait)
		if !errors.Is(err, errRetry) || time.Since(begun) > wait || !b.pause(ctx) {
			return a, err
		}
	}
}

// Status returns the state of the farm.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	a, err := c.ask(ctx, "status", &request{})
	if err != nil {
		return nil, err
	}
	return a.Status, nil
}
