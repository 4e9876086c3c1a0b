package codecraft

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// idle connects and sends nothing.
func idle(t *testing.T, p *Port) *net.TCPConn {
	t.Helper()
	conn, err := net.DialTCP("tcp", nil, p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestIdleConnections: connections that send nothing, or the wrong token, do not keep an
// honest client waiting.
func TestIdleConnections(t *testing.T) {
	token := "secret"
	port := listen(t, &token)
	first := idle(t, port)
	for range 6 * maxFresh {
		idle(t, port)
		dial(t, port, "guess")
	}
	honest := dial(t, port, token)
	c, err := port.next(t.Context(), ample, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.conn.Close()
	if got := c.conn.RemoteAddr().String(); got != honest.LocalAddr().String() {
		t.Errorf("took the client from %s, want %v", got, honest.LocalAddr())
	}
	first.SetReadDeadline(time.Now().Add(9 * time.Second)) // less than the time for the token
	if _, err := first.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("the first idle connection was not closed: %v", err)
	}
}

// TestWaitingClients: if more than maxWaiting clients wait, the oldest are disconnected.
func TestWaitingClients(t *testing.T) {
	port := listen(t, nil)
	var all []*net.TCPConn
	for range maxWaiting + 10 {
		conn := dial(t, port, "")
		all = append(all, conn)
		require.Eventually(t, func() bool { // its connection is the last that waits
			port.mu.Lock()
			defer port.mu.Unlock()
			n := len(port.waiting)
			return n > 0 && port.waiting[n-1].conn.RemoteAddr().String() == conn.LocalAddr().String()
		}, ample, time.Millisecond)
	}
	for _, conn := range all[:10] {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("a client got something before its game")
		}
	}
	for _, want := range all[10:] {
		c, err := port.next(t.Context(), ample, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.conn.Close()
		if c.conn.RemoteAddr().String() != want.LocalAddr().String() {
			t.Fatalf("took the client from %v, want %v", c.conn.RemoteAddr(), want.LocalAddr())
		}
	}
	if _, err := port.next(t.Context(), time.Millisecond, nil); err == nil || !strings.Contains(err.Error(), "too many clients came after it") {
		t.Errorf("error %v, want why the first were sent away", err)
	}
}

// TestClosedPort: closing a port disconnects all clients.
func TestClosedPort(t *testing.T) {
	port := listen(t, nil)
	conns := []*net.TCPConn{idle(t, port), dial(t, port, ""), dial(t, port, "token")}
	if err := port.Close(); err != nil {
		t.Error(err)
	}
	for i, conn := range conns {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("connection %d got something", i)
		}
	}
	if _, err := port.next(t.Context(), 0, nil); err == nil {
		t.Error("a client of a closed port")
	}
}
