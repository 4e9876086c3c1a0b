package codecraft

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// idle connects and sends nothing.
func idle(t *testing.T, p *Port) *net.TCPConn {
	t.Helper()
	conn, err := net.DialTCP("tcp", nil, p.Address())
	require.NoError(t, err)
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
	require.NoError(t, err)
	defer c.conn.Close()
	if got := c.conn.RemoteAddr().String(); got != honest.LocalAddr().String() {
		t.Errorf("took the client from %s, want %v", got, honest.LocalAddr())
	}
	first.SetReadDeadline(time.Now().Add(9 * time.Second)) // less than the time for the token
	_, err = first.Read(make([]byte, 1))
	assert.Truef(t, err != nil && !strings.Contains(err.Error(), "timeout"), "the first idle connection was not closed: %v", err)
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
		_, err := conn.Read(make([]byte, 1))
		assert.Error(t, err, "a client got something before its game")
	}
	for _, want := range all[10:] {
		c, err := port.next(t.Context(), ample, nil)
		require.NoError(t, err)
		c.conn.Close()
		if c.conn.RemoteAddr().String() != want.LocalAddr().String() {
			t.Fatalf("took the client from %v, want %v", c.conn.RemoteAddr(), want.LocalAddr())
		}
	}
	_, err := port.next(t.Context(), time.Millisecond, nil)
	assert.ErrorContainsf(t, err, "too many clients came after it", "error %v, want why the first were sent away", err)
}

// TestClosedPort: closing a port disconnects all clients.
func TestClosedPort(t *testing.T) {
	port := listen(t, nil)
	conns := []*net.TCPConn{idle(t, port), dial(t, port, ""), dial(t, port, "token")}
	assert.NoError(t, port.Close())
	for i, conn := range conns {
		_, err := conn.Read(make([]byte, 1))
		assert.Errorf(t, err, "connection %d got something", i)
	}
	_, err := port.next(t.Context(), 0, nil)
	assert.Error(t, err, "a client of a closed port")
}
