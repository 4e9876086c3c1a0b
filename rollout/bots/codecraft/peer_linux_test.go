package codecraft

import (
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUsers: only processes of one user take seats, with addresses of either version.
func TestUsers(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(at, func(t *testing.T) {
			port, err := Listen(at)
			if err != nil {
				t.Skip(err)
			}
			defer port.Close()
			dial(t, port, "")
			c, err := port.next(t.Context(), time.Minute, nil)
			require.NoError(t, err)
			defer c.conn.Close()
			for user, want := range map[int]string{os.Geteuid(): "", os.Geteuid() + 1: "its process belongs to user "} {
				err = checkPeer(c.conn, user)
				assert.Truef(t, (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want)), "%s, user %d: %v, want %q", at, user, err, want)
			}
		})
	}
	other := listen(t, nil)
	other.user++
	conn := dial(t, other, "")
	_, err := conn.Read(make([]byte, 1))
	assert.Error(t, err, "a client of another user got something")
	_, err = other.next(t.Context(), time.Millisecond, nil)
	assert.ErrorContainsf(t, err, "its process belongs to user ", "error %v, want why the client was sent away", err)
}

// TestOrphans: a connection whose other end was closed may not take a seat.
func TestOrphans(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	left, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	conn, err := l.Accept()
	require.NoError(t, err)
	defer conn.Close()
	left.Close()
	err = checkPeer(conn.(*net.TCPConn), os.Geteuid())
	assert.ErrorContainsf(t, err, "no process of user", "error %v, want that there is no process", err)
}

func TestSocketTable(t *testing.T) {
	local, remote := netip.MustParseAddrPort("127.0.0.1:31001"), netip.MustParseAddrPort("127.0.0.1:80")
	const rest = " 00000000:00000000 00:00000000 00000000  1000        0 "
	for line, want := range map[string]int{
		" 3: 0100007F:7919 0100007F:0050 01" + rest + "77 1 0000 100 0 0 10 0":                                        1000,
		" 3: 0000000000000000FFFF00000100007F:7919 0000000000000000FFFF00000100007F:0050 08" + rest + "77 1 0000 100": 1000,
		" 3: 0100007F:7919 0100007F:0050 06" + rest + "77 1":                                                          -1, // it waits for its end
		" 3: 0100007F:7919 0100007F:0050 01" + rest + "0 1":                                                           -1, // no process has it
		" 3: 0100007F:0050 0100007F:7919 01" + rest + "77 1":                                                          -1, // the other end
		" 3: 0100007F:7919 0200007F:0050 01" + rest + "77 1":                                                          -1,
		" 3: 0100007F:7919 00007F:0050 01" + rest + "77 1":                                                            -1,
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode":            -1,
		"": -1,
	} {
		t.Run(line, func(t *testing.T) {
			assert.Equal(t, want, userIn(line, local, remote))
		})
	}
}
