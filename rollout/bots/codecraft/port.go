package codecraft

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/sim/codecraft/wire"
)

// Bounds of what a Port takes from strangers.
const (
	greeting   = 10 * time.Second // for the token, from when a client has connected
	maxToken   = 4 << 10          // bytes of a token
	maxGreeted = 64               // connections that no game has taken yet
)

// Port is where clients connect. Those with the right token wait until a game
// takes them, each game one client; others are disconnected. A Port serves any
// number of games, one after the other or side by side.
type Port struct {
	listener net.Listener
	token    *string
	clients  chan *client
	open     context.Context
	close    context.CancelFunc
	work     sync.WaitGroup

	mu      sync.Mutex
	refused error // why the latest connection was refused
}

// Listen opens a port at a TCP address such as "127.0.0.1:31001", port 0 being
// any that is free. Clients must give the token, if it is not nil.
func Listen(address string, token *string) (*Port, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p := &Port{listener: l, token: token, clients: make(chan *client)}
	p.open, p.close = context.WithCancel(context.Background())
	p.work.Go(p.accept)
	return p, nil
}

// Address is where clients connect.
func (p *Port) Address() *net.TCPAddr { return p.listener.Addr().(*net.TCPAddr) }

// Close disconnects all clients that no game has taken.
func (p *Port) Close() error {
	p.close()
	err := p.listener.Close()
	p.work.Wait()
	return err
}

// accept takes connections until the port is closed.
func (p *Port) accept() {
	places := make(chan struct{}, maxGreeted)
	for {
		select {
		case places <- struct{}{}:
		case <-p.open.Done():
			return
		}
		conn, err := p.listener.Accept()
		if err != nil {
			<-places
			select {
			case <-p.open.Done():
				return
			case <-time.After(10 * time.Millisecond): // perhaps too many files are open: try again
			}
			continue
		}
		p.work.Go(func() {
			p.greet(conn.(*net.TCPConn))
			<-places
		})
	}
}

// greet reads the token and hands the client over to a game.
func (p *Port) greet(conn *net.TCPConn) {
	c := newClient(conn)
	unless := context.AfterFunc(p.open, func() { conn.Close() })
	conn.SetReadDeadline(time.Now().Add(greeting))
	c.in.Limit(4 + maxToken)
	token, err := c.in.Token()
	if err == nil && p.token != nil && token != *p.token {
		err = errors.New("it gave another token")
	}
	conn.SetReadDeadline(time.Time{})
	if err != nil {
		p.mu.Lock()
		p.refused = fmt.Errorf("a client from %s was sent away: %w", conn.RemoteAddr(), err)
		p.mu.Unlock()
		conn.Close()
	}
	if !unless() || err != nil {
		return
	}
	select {
	case p.clients <- c:
	case <-p.open.Done():
		conn.Close()
	}
}

// next waits for a client, until the limit (0: none), or until gone says why none
// will connect any more.
func (p *Port) next(ctx context.Context, limit time.Duration, gone <-chan error) (*client, error) {
	var late <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		late = t.C
	}
	select {
	case c := <-p.clients:
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-p.open.Done():
		return nil, net.ErrClosed
	case err := <-gone:
		return nil, p.none(fmt.Errorf("the client ended before it was connected: %w", err))
	case <-late:
		return nil, p.none(bots.Late("no client within %v", limit))
	}
}

// none adds to the error why the latest connection was refused, if one was.
func (p *Port) none(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused == nil {
		return err
	}
	return fmt.Errorf("%w; %w", err, p.refused)
}

// client is a connected client.
type client struct {
	conn    *net.TCPConn
	in      *wire.Reader
	message wire.ClientMessage
	used    time.Duration // for all answers
	limits  bots.Limits
	debug   []byte // the debug state: where there is no window
}

func newClient(conn *net.TCPConn) *client {
	return &client{conn: conn, in: wire.NewReader(conn)}
}
