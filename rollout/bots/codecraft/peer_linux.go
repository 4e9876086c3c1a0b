package codecraft

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// stranger says why a connection may not take a seat: the process at its other end is
// on this machine and belongs to another user. It returns nil where that cannot be
// known: if the other end is on another machine, or if the kernel's tables of
// sockets cannot be read.
func stranger(conn *net.TCPConn, user int) error {
	peer, here := address(conn.RemoteAddr()), address(conn.LocalAddr())
	if !peer.Addr().IsLoopback() && peer.Addr() != here.Addr() {
		return nil
	}
	// The kernel goes on changing a table while it is read, so a socket can be missed.
	for try := 0; ; try++ {
		owner, known := ownerOf(peer, here)
		switch {
		case !known || owner == user:
			return nil
		case owner >= 0:
			return fmt.Errorf("its process belongs to user %d, want %d", owner, user)
		case try == 3:
			return fmt.Errorf("no process of user %d has its socket", user)
		}
		time.Sleep(time.Millisecond)
	}
}

// address is the address of an end of a connection. An address of version 4 is that,
// whatever the version of the socket.
func address(a net.Addr) netip.AddrPort {
	p := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port())
}

// ownerOf looks in the kernel's tables for the user of an open socket between two
// addresses of this machine: −1 if there is none. known is false if no table can be
// read.
func ownerOf(local, remote netip.AddrPort) (user int, known bool) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		known = true
		lines := bufio.NewScanner(f)
		for user = -1; user < 0 && lines.Scan(); {
			user = ownerIn(lines.Text(), local, remote)
		}
		f.Close()
		if user >= 0 {
			return user, true
		}
	}
	return -1, known
}

// ownerIn is the user that a line of the table tells, −1 if the line is of another
// socket, or of one that no process has any more: these have no user.
func ownerIn(line string, local, remote netip.AddrPort) int {
	const (
		states = "01 02 04 05 08" // established, or closed by one side
		fields = 10               // the tenth is the number of a file
	)
	f := strings.Fields(line)
	if len(f) < fields || !strings.Contains(states, f[3]) || f[9] == "0" {
		return -1
	}
	if a, ok := tableAddress(f[1]); !ok || a != local {
		return -1
	}
	if a, ok := tableAddress(f[2]); !ok || a != remote {
		return -1
	}
	user, err := strconv.Atoi(f[7])
	if err != nil {
		return -1
	}
	return user
}

// tableAddress reads an address such as 0100007F:7919: words of four bytes in the
// machine's order, in hexadecimal, then the port.
func tableAddress(text string) (a netip.AddrPort, ok bool) {
	host, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	n, failed := strconv.ParseUint(port, 16, 16)
	if err != nil || failed != nil || len(b)%4 != 0 {
		return a, false
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	ip, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), ok
}
