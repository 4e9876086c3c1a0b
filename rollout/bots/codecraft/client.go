package codecraft

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/sim/codecraft/wire"
)

// defaultBytes is some thousand times the size of the longest sensible answer.
const defaultBytes = 64 << 20

// ask sends a view and waits for the action, which stays valid until the next
// call. Any error is a crash.
func (c *client) ask(view []byte) (*wire.Action, error) {
	begin := time.Now()
	action, err := c.exchange(view, begin)
	c.used += time.Since(begin)
	if err == nil && c.limits.Game > 0 && c.used > c.limits.Game {
		err = os.ErrDeadlineExceeded
	}
	switch {
	case err == nil:
		return action, nil
	case errors.Is(err, os.ErrDeadlineExceeded) && c.limits.Game > 0 && c.used >= c.limits.Game:
		return nil, bots.Late("the %v for all answers of a game are used up", c.limits.Game)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, bots.Late("no answer within %v", c.limits.Answer)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return nil, errClosed
	}
	return nil, err
}

// errClosed says that a client has ended, and so has the connection. Most crashes
// are of this kind.
var errClosed = errors.New("the client closed the connection")

func (c *client) exchange(view []byte, begin time.Time) (*wire.Action, error) {
	var deadline time.Time
	if left := c.limits.Game - c.used; c.limits.Game > 0 {
		deadline = begin.Add(left)
	}
	if c.limits.Answer > 0 && (deadline.IsZero() || c.limits.Answer < c.limits.Game-c.used) {
		deadline = begin.Add(c.limits.Answer)
	}
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(view); err != nil {
		return nil, err
	}
	bytes := c.limits.Bytes
	if bytes == 0 {
		bytes = defaultBytes
	}
	c.in.Limit(bytes)
	for {
		if err := c.in.ClientMessage(&c.message); err != nil {
			return nil, err
		}
		switch c.message.Kind {
		case wire.ActionMessage:
			return &c.message.Action, nil
		case wire.DebugMessage: // there is no window: nothing to draw in
		case wire.DebugUpdateDone:
			return nil, errors.New("the client sent DebugUpdateDone where an action was expected")
		case wire.RequestDebugState:
			return nil, errors.New("the client sent RequestDebugState, but there is no debug interface")
		}
	}
}

// Times for the end of a connection.
const (
	closeTime = time.Second           // for a client to close its side after Finish
	dropTime  = 50 * time.Millisecond // for Finish to be sent to a client that crashed
)

// finish tells the client that the game is over and waits for a short time until
// it has closed its side. If this side closed first, and the client still sent
// something, its system would answer with a reset and might drop the message
// before the client has read it.
func (c *client) finish() {
	defer c.conn.Close()
	c.conn.SetDeadline(time.Now().Add(closeTime))
	if _, err := c.conn.Write(finished); err != nil || c.conn.CloseWrite() != nil {
		return
	}
	io.Copy(io.Discard, io.LimitReader(c.conn, defaultBytes))
}

// drop ends the connection of a client that crashed.
func (c *client) drop() {
	c.conn.SetWriteDeadline(time.Now().Add(dropTime))
	c.conn.Write(finished)
	c.conn.Close()
}

// finished is the message that the game is over.
var finished = (&wire.ServerMessage{Kind: wire.Finish}).Append(nil)
