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

// checkPeer returns why a connection may not take a seat: the process at its other end
// belongs to another user of this machine. It returns nil also if the user cannot
// be known: on another machine, or if the kernel's tables of sockets cannot be read.
func checkPeer(conn *net.TCPConn, user int) error {
	peer, here := address(conn.RemoteAddr()), address(conn.LocalAddr())
	if !peer.Addr().IsLoopback() && peer.Addr() != here.Addr() {
		return nil
	}
	// The kernel goes on changing a table while it is read, so a socket can be missed.
	for try := 0; ; try++ {
		owner, known := userOf(peer, here)
		switch {
		case !known || owner == user:
			return nil
		case owner >= 0:
			return fmt.Errorf("its process belongs to user %d, expected %d", owner, user)
		case try == 3:
			return fmt.Errorf("no process of user %d has its socket", user)
		}
		time.Sleep(time.Millisecond)
	}
}

// address returns the address of an end of a connection, as an IPv4 address where it is
// one, also for a socket of version 6.
func address(a net.Addr) netip.AddrPort {
	p := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port())
}

// userOf returns the user of the open socket between two addresses of this machine in the kernel's
// tables, −1 if there is none or no process has it open. known is false if no table can be read.
func userOf(local, remote netip.AddrPort) (user int, known bool) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		defer f.Close()
		known = true
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if user := userIn(lines.Text(), local, remote); user >= 0 {
				return user, true
			}
		}
	}
	return -1, known
}

// userIn returns the user of the socket in a line of the table if it connects the two addresses, else −1.
func userIn(line string, local, remote netip.AddrPort) int {
	const (
		states = "01 02 04 05 08" // established, or closed by one side
		fields = 10               // the tenth is 0 if no process has the socket
	)
	f := strings.Fields(line)
	if len(f) < fields || !strings.Contains(states, f[3]) || f[9] == "0" {
		return -1
	}
	a, ok := tableAddress(f[1])
	b, too := tableAddress(f[2])
	user, err := strconv.Atoi(f[7])
	if !ok || !too || a != local || b != remote || err != nil {
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
