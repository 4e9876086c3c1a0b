package codecraft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// seatedBot is a client that plays at a seat. It implements bots.Bot.
type seatedBot struct {
	*client
	process *process // nil: the client connected by itself
	rules   *codecraft.Rules
	game    *codecraft.Game  // makes the client's views; one for each client, because they are asked at the same time
	state   *codecraft.State // of the match; only read
	player  sim.Player
	updates bool // DebugUpdate is sent before every tick
	view    protocol.ServerMessage
	out     []byte
	stop    func() bool // stops watching the match's context
	translator
}

// join starts the client of a seat, or waits until it has connected.
func (h *host) join(p sim.Player, s *Seat) bots.Join {
	return func(ctx context.Context) (bots.Bot, error) {
		g, err := codecraft.New(h.rules)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", bots.ErrHost, err)
		}
		c := &seatedBot{rules: &h.rules, game: g, state: h.state, player: p, updates: h.Debug}
		c.view.DebugAvailable = h.Debug
		if err := c.connect(ctx, s); err != nil {
			if c.process == nil {
				return nil, err
			}
			c.process.stop(ctx, 0)
			return nil, &bots.JoinError{Err: err, Ended: c.ended()}
		}
		if h.sketches != nil {
			c.sketch = &h.sketches[p]
		}
		c.stop = context.AfterFunc(ctx, func() { c.conn.Close() }) // ends reads and writes that still wait
		return c, nil
	}
}

// connect starts the client, if the seat has a program, and waits for its connection.
func (c *seatedBot) connect(ctx context.Context, s *Seat) (err error) {
	port := s.Port
	var gone chan error
	if port == nil {
		c.process, port, err = start(ctx, s)
		if port != nil {
			defer port.Close()
		}
		if err != nil {
			return err
		}
		gone = c.process.gone
	}
	if c.client, err = port.next(ctx, s.Limits.Accept, gone); err == nil {
		c.limits, c.debug = s.Limits, (&protocol.DebugState{PlayerIndex: int32(c.player)}).Append(nil)
	}
	return err
}

// Ask implements bots.Bot.
func (c *seatedBot) Ask(dst []sim.Order) ([]sim.Order, error) {
	protocol.View(&c.view.View, c.game, c.state, c.player)
	if c.updates {
		if err := c.send(protocol.DebugUpdate, protocol.DebugUpdateDone); err != nil {
			return dst, err
		}
	}
	c.log("== tick %d ==", c.state.Tick)
	if err := c.send(protocol.GetAction, protocol.ActionMessage); err != nil {
		return dst, err
	}
	if c.process != nil && c.process.log != nil {
		c.process.main.Settle()
	}
	c.log("== tick %d: actions of %d entities ==", c.state.Tick, len(c.message.Action.EntityActions))
	return c.appendOrders(dst, c.rules, c.state, c.player, &c.message.Action), nil
}

// log writes a line into the log of a started client.
func (c *seatedBot) log(format string, args ...any) {
	if c.process != nil {
		c.process.log.Line(format, args...)
	}
}

// send sends the view in a message and waits for the wanted message.
func (c *seatedBot) send(kind protocol.ServerKind, wants protocol.ClientKind) error {
	c.view.Kind = kind
	c.out = c.view.Append(c.out[:0])
	return c.ask(c.out, wants)
}

// grace is the time that a started client has to end after the game, or after it has
// closed its connection.
const grace = 2 * time.Second

// End implements bots.Bot.
func (c *seatedBot) End(ctx context.Context, crash error) bots.Ended {
	c.stop()
	patience := grace
	switch {
	case ctx.Err() != nil:
		c.conn.Close()
	case crash == nil:
		c.finish()
	default:
		if !errors.Is(crash, errClosed) && !errors.Is(crash, io.ErrUnexpectedEOF) {
			patience = 0 // a client that closed its connection is about to end, and the results report its exit
		}
		c.drop()
	}
	if c.process != nil {
		c.process.stop(ctx, patience)
	}
	return c.ended()
}

// ended describes the client after its end.
func (c *seatedBot) ended() bots.Ended {
	e := bots.Ended{}
	if c.client != nil {
		e.Used = c.used
	}
	if c.process != nil {
		e.Exit, e.Output = c.process.exit, c.process.lines
	}
	return e
}
