package bots

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire"
)

// Match is one game of CodeCraft.
type Match struct {
	Rules codecraft.Rules
	Seed  uint64
	Start *codecraft.State // nil: the start of the game with the seed
	Seats []Seat           // as many as the rules have players

	// Vector makes the game for built-in policies; nil if there are none.
	Vector func() (env.Vector, error)
	// Replay, if not nil, gets the game as a replay file of the original.
	Replay io.Writer
	// Watch, if not nil, sees the state at the start and after every tick. An
	// error of it ends the match.
	Watch func(s *codecraft.State) error
}

// Result tells how a match went.
type Result struct {
	wire.Results
	Ticks  int
	Status sim.Status
	Time   time.Duration   // from the first tick to the end
	Used   []time.Duration // by seat: what a client took for all its answers
}

// Play plays the match to its end. Clients that are to be started are started
// when all ports are open, and are gone when it returns. If the context is done
// it returns its cause, and everything is gone, too. Whatever clients do is no
// error.
func (m *Match) Play(ctx context.Context) (*Result, error) {
	t, err := m.table()
	if err != nil {
		return nil, err
	}
	defer t.close()
	if err := t.connect(ctx); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, t.disconnect)
	defer stop()
	begin := time.Now()
	if err := t.play(ctx); err != nil {
		return nil, err
	}
	t.result.Time = time.Since(begin)
	if !stop() {
		return nil, context.Cause(ctx)
	}
	t.part()
	return t.sum(), nil
}

// table is a match that is being played.
type table struct {
	match  *Match
	game   *codecraft.Game
	state  codecraft.State
	replay *wire.Recorder // nil: nobody wants it
	turn   *sim.Turn
	places []place
	shadow *shadow // for built-in policies
	result Result

	clients []*client      // all that were connected
	drops   sync.WaitGroup // of those that crashed
}

// place is a seat at the table.
type place struct {
	*Seat
	player  sim.Player
	game    *codecraft.Game // for its views, which are made side by side
	client  *client         // nil: none, or it has crashed
	process *process
	crash   error
	used    time.Duration
	view    wire.ServerMessage
	out     []byte
	orders  []sim.Order
	translator
}

// table sets the table.
func (m *Match) table() (*table, error) {
	g, err := codecraft.New(m.Rules)
	if err != nil {
		return nil, err
	}
	if len(m.Seats) != int(m.Rules.Players) {
		return nil, fmt.Errorf("%d seats for a game of %d players", len(m.Seats), m.Rules.Players)
	}
	t := &table{match: m, game: g, turn: sim.NewTurn(0), places: make([]place, len(m.Seats))}
	for i := range t.places {
		p := &t.places[i]
		p.Seat, p.player = &m.Seats[i], sim.Player(i)
		if err := p.validate(); err != nil {
			return nil, fmt.Errorf("seat %d: %w", i+1, err)
		}
		p.view.Kind = wire.GetAction
		if p.game, err = codecraft.New(m.Rules); err != nil {
			return nil, err
		}
	}
	if m.Start != nil {
		t.state.Clone(m.Start)
	} else {
		g.Reset(&t.state, m.Seed)
	}
	if t.state.Tick >= m.Rules.MaxTurns {
		t.result.Status = sim.Over // a start that is the end
	}
	t.shadow, err = m.shadow(&t.state)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// connect waits for all clients. Those that do not come have crashed.
func (t *table) connect(ctx context.Context) error {
	var all sync.WaitGroup
	for i := range t.places {
		if p := &t.places[i]; p.Seat.client() {
			all.Go(func() { p.crash = p.connect(ctx) })
		}
	}
	all.Wait()
	var err error
	for i := range t.places {
		p := &t.places[i]
		if p.client != nil {
			t.clients = append(t.clients, p.client)
		}
		if errors.Is(p.crash, errServer) {
			err = fmt.Errorf("seat %d: %w", i+1, p.crash)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// errServer marks what is no fault of a client.
var errServer = errors.New("the server")

func (p *place) connect(ctx context.Context) error {
	port := p.Port
	var gone chan error
	if port == nil {
		opened, token, err := own()
		if err != nil {
			return fmt.Errorf("%w: %w", errServer, err)
		}
		defer opened.Close()
		port = opened
		if p.process, err = start(arguments(p.Command, port.Address(), token), p.Output); err != nil {
			return fmt.Errorf("it could not be started: %w", err)
		}
		gone = p.process.ended
	}
	var err error
	if p.client, err = port.next(ctx, p.Limits.Accept, gone); err == nil {
		p.client.limits = p.Limits
	} else if p.process != nil {
		p.process.stop(0)
	}
	return err
}

// play plays all ticks.
func (t *table) play(ctx context.Context) error {
	if err := t.show(); err != nil {
		return err
	}
	for t.result.Status == sim.Running {
		if err := t.ask(ctx); err != nil {
			return err
		}
		t.shadow.step(t.places)
		for i := range t.places {
			t.turn.Set(t.places[i].player, t.places[i].orders)
		}
		t.result.Status = t.game.Step(&t.state, t.turn)
		t.result.Ticks++
		if err := t.show(); err != nil {
			return err
		}
	}
	if t.replay != nil {
		return t.replay.Close()
	}
	return nil
}

// show shows the state to those who watch.
func (t *table) show() error {
	if t.replay != nil {
		if err := t.replay.Tick(&t.state); err != nil {
			return fmt.Errorf("the replay: %w", err)
		}
	} else if t.match.Replay != nil {
		t.replay = wire.NewRecorder(t.match.Replay, t.game, &t.state)
	}
	if watch := t.match.Watch; watch != nil {
		return watch(&t.state)
	}
	return nil
}

// ask asks all seats for their orders, the clients side by side.
func (t *table) ask(ctx context.Context) error {
	asked := 0
	for i := range t.places {
		p := &t.places[i]
		p.orders = p.orders[:0]
		if p.client == nil {
			continue
		}
		asked++
	}
	var all sync.WaitGroup
	for i := range t.places {
		p := &t.places[i]
		if p.client == nil {
			continue
		}
		if asked--; asked > 0 || t.shadow != nil {
			all.Go(func() { p.ask(t) })
		} else {
			p.ask(t) // the last one in this goroutine
		}
	}
	t.shadow.ask(t.places)
	all.Wait()
	return context.Cause(ctx)
}

// ask asks a client. The state is only read.
func (p *place) ask(t *table) {
	wire.View(&p.view.View, p.game, &t.state, p.player)
	p.out = p.view.Append(p.out[:0])
	action, err := p.client.ask(p.out)
	p.used = p.client.used
	if err != nil {
		p.crash = err
		c := p.client
		p.client = nil
		t.drops.Go(func() {
			c.drop()
			if p.process != nil {
				p.process.stop(0)
			}
		})
		return
	}
	p.orders = p.appendOrders(p.orders, &t.match.Rules, &t.state, p.player, action)
}

// grace is how long a client that was started may live after the game.
const grace = 2 * time.Second

// part says goodbye to all clients.
func (t *table) part() {
	var all sync.WaitGroup
	for i := range t.places {
		p := &t.places[i]
		all.Go(func() {
			if p.client != nil {
				p.client.finish()
			}
			if p.process != nil && p.crash == nil {
				p.process.stop(grace)
			}
		})
	}
	all.Wait()
}

// disconnect ends all connections, which makes everyone who waits for a client
// go on.
func (t *table) disconnect() {
	for _, c := range t.clients {
		c.conn.Close()
	}
}

// close lets go of everything.
func (t *table) close() {
	t.disconnect()
	t.drops.Wait()
	for i := range t.places {
		if p := &t.places[i]; p.process != nil {
			p.process.stop(0)
		}
	}
	t.shadow.close()
}

// sum sums the match up.
func (t *table) sum() *Result {
	r := &t.result
	r.Seed = t.match.Seed
	for i := range t.places {
		p := &t.places[i]
		one := wire.PlayerResult{Crashed: p.crash != nil}
		if one.Crashed {
			comment := wire.CrashComment + p.crash.Error()
			one.Comment = &comment
		}
		r.Players = append(r.Players, one)
		r.Results.Results = append(r.Results.Results, int64(t.state.Score[i]))
		r.Used = append(r.Used, p.used)
	}
	return r
}
