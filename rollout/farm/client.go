package farm

import (
	"context"
	"errors"
	"time"
)

// Client asks a coordinator on behalf of people. Its methods fail with one
// line if none answers within half a minute.
type Client struct{ c *Conn }

// NewClient is a client on a connection, which stays the caller's.
func NewClient(c *Conn) *Client { return &Client{c} }

// Submit begins a run, or joins the run of an equal spec: a cancelled or
// failed run goes on; if the run is done, Submit returns its state at once.
func (c *Client) Submit(ctx context.Context, s *Spec) (*RunStatus, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return c.run(ctx, "submit", &request{Spec: s})
}

// Cancel ends a run that is not done. Its committed shards stay, for Submit and Retry.
func (c *Client) Cancel(ctx context.Context, run string) (*RunStatus, error) {
	return c.run(ctx, "cancel", &request{claim: claim{Run: run}})
}

// Retry makes a cancelled or failed run go on, publishes the missing shards of a running
// run again, and makes the shards of a done run again.
func (c *Client) Retry(ctx context.Context, run string) (*RunStatus, error) {
	return c.run(ctx, "retry", &request{claim: claim{Run: run}})
}

func (c *Client) run(ctx context.Context, action string, q *request) (*RunStatus, error) {
	a, err := c.ask(ctx, action, q)
	if err != nil {
		return nil, err
	}
	return a.Run, nil
}

// ask asks again if a coordinator ends while it is asked.
func (c *Client) ask(ctx context.Context, action string, q *request) (*answer, error) {
	wait, begun := 30*time.Second, time.Now()
	for b := (backoff{100 * time.Millisecond, time.Second}); ; {
		a, err := c.c.ask(ctx, clientSubject+action, q, wait)
		if !errors.Is(err, errAgain) || time.Since(begun) > wait || !b.pause(ctx) {
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
