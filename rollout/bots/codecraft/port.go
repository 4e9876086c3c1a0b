package codecraft

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/sim/codecraft/wire/protocol"
)

// Bounds of connections to a Port.
const (
	greeting   = 10 * time.Second // from the connection until the token has arrived
	lingering  = time.Second      // after the end of a started client, for a connection that it made before
	maxToken   = 4 << 10          // bytes of a token
	maxFresh   = 64               // connections that have not given their token yet
	maxWaiting = 256              // clients that no game has taken yet
)

// Port listens for clients. Clients with the right token wait until a game takes them;
// each game takes the client that has waited longest. Other clients are disconnected, and
// on Linux also processes of other users of this machine. A Port serves any number of
// games, one after the other or at the same time.
//
// Idle connections keep nobody out: if too many have given no token, or too many clients
// wait, the oldest one is disconnected for the new one.
type Port struct {
	listener net.Listener
	token    *string
	user     int // only processes of this user may connect, where the user is known; anyUser: all
	open     context.Context
	close    context.CancelFunc
	work     sync.WaitGroup
	came     chan struct{} // signals that clients wait

	mu      sync.Mutex
	fresh   []*net.TCPConn
	waiting []*client
	refused error // why the latest connection was refused
}

// Listen opens a port at a TCP address such as "127.0.0.1:31001"; port 0 chooses a free
// one. Clients may give any token.
func Listen(address string) (*Port, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return newPort(l, nil, os.Geteuid()), nil
}

// anyUser is the user of a port that lets all connect, such as that of a box.
const anyUser = -1

// newPort makes a port for clients of a user with the token, if it is not nil.
func newPort(l net.Listener, token *string, user int) *Port {
	p := &Port{listener: l, token: token, user: user, came: make(chan struct{}, 1)}
	p.open, p.close = context.WithCancel(context.Background())
	p.work.Go(p.accept)
	return p
}

// Address returns the address where clients connect.
func (p *Port) Address() *net.TCPAddr { return p.listener.Addr().(*net.TCPAddr) }

// Close closes the port and disconnects all clients that no game has taken.
func (p *Port) Close() error {
	p.close()
	err := p.listener.Close()
	p.mu.Lock()
	for _, conn := range p.fresh {
		conn.Close()
	}
	for _, c := range p.waiting {
		c.conn.Close()
	}
	p.waiting = nil
	p.mu.Unlock()
	p.work.Wait()
	return err
}

// accept takes connections until the port is closed.
func (p *Port) accept() {
	for {
		conn, err := p.listener.Accept()
		switch {
		case err == nil:
			c := newClient(conn.(*net.TCPConn))
			if !p.enter(c) { // not in the goroutine, so that connections enter in the order of their arrival
				conn.Close()
				return
			}
			p.work.Go(func() { p.greet(c) })
		case p.open.Err() != nil:
			return
		default:
			select {
			case <-p.open.Done():
			case <-time.After(10 * time.Millisecond): // try again: perhaps too many files were open
			}
		}
	}
}

// greet reads the token and queues the client for a game.
func (p *Port) greet(c *client) {
	c.conn.SetReadDeadline(time.Now().Add(greeting))
	err := c.greet(p.token)
	if err == nil && p.user != anyUser { // after the token, because finding the user takes a millisecond or more
		err = checkPeer(c.conn, p.user)
	}
	c.conn.SetReadDeadline(time.Time{})
	p.greeted(c, err)
}

// greet reads the token and compares it with the wanted one, if that is not nil.
func (c *client) greet(want *string) error {
	c.in.Limit(4 + maxToken)
	token, err := c.in.Token()
	if err == nil && want != nil && subtle.ConstantTimeCompare([]byte(token), []byte(*want)) != 1 {
		err = errors.New("it gave the wrong token")
	}
	return err
}

// enter adds a connection that has given no token yet, unless the port is closed. If there
// are too many, it closes the oldest.
func (p *Port) enter(c *client) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open.Err() != nil {
		return false
	}
	if len(p.fresh) == maxFresh {
		p.fresh[0].Close() // greet returns an error for it
		p.fresh = slices.Delete(p.fresh, 0, 1)
	}
	p.fresh = append(p.fresh, c.conn)
	return true
}

// greeted queues a client for a game, or closes its connection because of an error.
func (p *Port) greeted(c *client, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.fresh, c.conn)
	if at < 0 { // enter has closed it
		err = errors.New("too many connections without a token came after it")
	} else {
		p.fresh = slices.Delete(p.fresh, at, at+1)
	}
	if p.open.Err() != nil {
		c.conn.Close()
		return
	}
	if err != nil {
		p.refuse(c.conn, err)
		return
	}
	if len(p.waiting) == maxWaiting {
		p.refuse(p.waiting[0].conn, errors.New("too many clients came after it"))
		p.waiting = slices.Delete(p.waiting, 0, 1)
	}
	p.waiting = append(p.waiting, c)
	p.call()
}

// refuse closes a connection and keeps the reason. p.mu is locked.
func (p *Port) refuse(conn *net.TCPConn, err error) {
	p.refused = fmt.Errorf("a client from %s was sent away: %w", conn.RemoteAddr(), err)
	conn.Close()
}

// call signals that a client waits. p.mu is locked.
func (p *Port) call() {
	select {
	case p.came <- struct{}{}:
	default: // signalled already
	}
}

// take removes and returns the client that has waited longest, nil if none waits.
func (p *Port) take() *client {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		return nil
	}
	c := p.waiting[0]
	if p.waiting = slices.Delete(p.waiting, 0, 1); len(p.waiting) > 0 {
		p.call()
	}
	return c
}

// next waits for a client until the limit (0: no limit), or until gone has the reason why
// no client will connect any more.
func (p *Port) next(ctx context.Context, limit time.Duration, gone <-chan error) (*client, error) {
	var late <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		late = t.C
	}
	var ended error
	for {
		select {
		case <-p.came:
			if c := p.take(); c != nil {
				return c, nil
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-p.open.Done():
			return nil, net.ErrClosed
		case ended = <-gone:
			t := time.NewTimer(lingering)
			defer t.Stop()
			late = t.C
		case <-late:
			if ended != nil {
				return nil, p.withRefusal(fmt.Errorf("the client ended before it was connected: %w", ended))
			}
			return nil, p.withRefusal(bots.Late("no client within %v", limit))
		}
	}
}

// withRefusal adds to the error why the latest connection was refused, if one was.
func (p *Port) withRefusal(err error) error {
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
	in      *protocol.Reader
	message protocol.ClientMessage
	used    time.Duration // real time of all answers
	limits  bots.Limits
	debug   []byte  // the encoded debug state of an empty window
	sketch  *sketch // nil: nobody looks at what the client draws
}

func newClient(conn *net.TCPConn) *client {
	return &client{conn: conn, in: protocol.NewReader(conn)}
}
