package codecraft

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/sim/codecraft/wire/protocol"
)

// Bounds of what a client sends for one answer.
const (
	maxBytes    = protocol.MaxAction + 4*protocol.MaxDebug // an action and its debug messages
	maxRequests = 1000                                     // requests of the debug state
)

// ask sends a message with a view and reads the client's messages until one has the
// wanted kind, such as an action. That message is in c.message until the next call. Any
// error is a crash.
func (c *client) ask(view []byte, wants protocol.ClientKind) error {
	begin := time.Now()
	err := c.exchange(view, wants, begin)
	c.used += time.Since(begin)
	late, spent := errors.Is(err, os.ErrDeadlineExceeded), c.limits.UsedUp(c.used)
	switch {
	case spent != nil && (err == nil || late):
		return spent
	case err == nil:
		return nil
	case late:
		return bots.Late("no answer within %v", c.limits.Answer)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errClosed
	}
	return err
}

// errClosed says that the client has closed the connection. Most crashes have this cause.
var errClosed = errors.New("the client closed the connection")

func (c *client) exchange(view []byte, wants protocol.ClientKind, begin time.Time) error {
	if err := c.conn.SetDeadline(c.limits.Deadline(begin, c.used)); err != nil {
		return err
	}
	if _, err := c.conn.Write(view); err != nil {
		return err
	}
	c.in.Limit(maxBytes)
	for requests := 1; ; {
		if err := c.in.ClientMessage(&c.message); err != nil {
			return err
		}
		switch c.message.Kind {
		case wants:
			return nil
		case protocol.DebugMessage:
			if c.sketch != nil { // else there is no window to draw in
				c.sketch.perform(&c.message.Command)
			}
		case protocol.RequestDebugState:
			if requests++; requests > maxRequests {
				return fmt.Errorf("the client asked for the debug state more than %d times before it answered", maxRequests)
			}
			if _, err := c.conn.Write(c.debug); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the client sent %s where %s was expected", messageNames[c.message.Kind], messageNames[wants])
		}
	}
}

// messageNames names the wanted messages in errors.
var messageNames = map[protocol.ClientKind]string{protocol.ActionMessage: "an action", protocol.DebugUpdateDone: "DebugUpdateDone"}

// Times for the end of a connection.
const (
	closeTime = time.Second           // for a client to close its side after Finish
	dropTime  = 50 * time.Millisecond // for sending Finish to a client that crashed
	maxUnread = 64 << 20              // bytes that a client may send after the game
)

// finish tells the client that the game is over and waits for a short time until
// it has closed its side. If this side closed first and the client still sent
// data, this system would answer with a reset, and the client's system might drop
// the Finish message before the client has read it.
func (c *client) finish() {
	defer c.conn.Close()
	c.conn.SetDeadline(time.Now().Add(closeTime))
	if _, err := c.conn.Write(finished); err != nil || c.conn.CloseWrite() != nil {
		return
	}
	io.Copy(io.Discard, io.LimitReader(c.conn, maxUnread))
}

// drop ends the connection of a client that crashed.
func (c *client) drop() {
	c.conn.SetWriteDeadline(time.Now().Add(dropTime))
	c.conn.Write(finished)
	c.conn.Close()
}

// finished is the encoded Finish message: the game is over.
var finished = (&protocol.ServerMessage{Kind: protocol.Finish}).Append(nil)
