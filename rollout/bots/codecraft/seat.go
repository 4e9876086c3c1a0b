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

// seatedBot is a client that plays at a seat.
type seatedBot struct {
	*client
	process *process // nil: the client connected by itself
	rules   *codecraft.Rules
	game    *codecraft.Game  // for its views: clients are asked side by side
	state   *codecraft.State // of the match; only read
	player  sim.Player
	updates bool // of the debug interface: there is one
	view    protocol.ServerMessage
	out     []byte
	stop    func() bool // forgets the context of the match
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
		c.stop = context.AfterFunc(ctx, func() { c.conn.Close() }) // nobody waits for it any more
		return c, nil
	}
}

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
	c.log("== tick %d: actions of %d entities ==", c.state.Tick, len(c.message.Action.EntityActions))
	return c.appendOrders(dst, c.rules, c.state, c.player, &c.message.Action), nil
}

// log writes a line into the log of a client that was started here.
func (c *seatedBot) log(format string, args ...any) {
	if c.process != nil {
		c.process.log.Line(format, args...)
	}
}

// send sends the view in a message, and waits for what the message wants.
func (c *seatedBot) send(kind protocol.ServerKind, wants protocol.ClientKind) error {
	c.view.Kind = kind
	c.out = c.view.Append(c.out[:0])
	return c.ask(c.out, wants)
}

// grace is how long a client that was started may live after the game, or after
// it has closed its connection.
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
			patience = 0 // else it is about to end: the results say how
		}
		c.drop()
	}
	if c.process != nil {
		c.process.stop(ctx, patience)
	}
	return c.ended()
}

// ended tells of a client that has ended.
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
