package codecraft

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// checkPeer returns why a connection may not take a seat: the process at its other end
// belongs to another user of this machine, or the port's owner has not started it. A nil
// owner lets all processes of the user connect. It returns nil also if the process cannot
// be known: on another machine, or if the kernel's tables of sockets and files cannot be
// read.
func checkPeer(conn *net.TCPConn, user int, owner socketOwner) error {
	peer, here := address(conn.RemoteAddr()), address(conn.LocalAddr())
	if !peer.Addr().IsLoopback() && peer.Addr() != here.Addr() {
		return nil
	}
	// The kernel goes on changing a table while it is read, so a socket can be missed.
	for try := 0; ; try++ {
		s, known := socketOf(peer, here)
		switch {
		case !known:
			return nil
		case s.user == user && mayOwn(owner, s.inode):
			return nil
		case s.user >= 0 && s.user != user:
			return fmt.Errorf("its process belongs to user %d, expected %d", s.user, user)
		case try == 3 && s.user == user:
			return errors.New("its process was not started for this seat")
		case try == 3:
			return fmt.Errorf("no process of user %d has its socket", user)
		}
		time.Sleep(time.Millisecond)
	}
}

// mayOwn reports whether the owner has a socket, or that this cannot be known.
func mayOwn(owner socketOwner, inode uint64) bool {
	if owner == nil {
		return true
	}
	has, known := owner.HasSocket(inode)
	return has || !known
}

// address returns the address of an end of a connection, as an IPv4 address where it is
// one, also for a socket of version 6.
func address(a net.Addr) netip.AddrPort {
	p := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port())
}

// socket is an open socket in the kernel's tables.
type socket struct {
	user  int // owner; −1: the socket does not exist, or no process has it open
	inode uint64
}

// socketOf finds the open socket between two addresses of this machine in the kernel's
// tables. known is false if no table can be read.
func socketOf(local, remote netip.AddrPort) (s socket, known bool) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		known = true
		lines := bufio.NewScanner(f)
		for s.user = -1; s.user < 0 && lines.Scan(); {
			s = socketIn(lines.Text(), local, remote)
		}
		f.Close()
		if s.user >= 0 {
			return s, true
		}
	}
	return socket{user: -1}, known
}

// socketIn returns the socket in a line of the table if it connects the two addresses.
func socketIn(line string, local, remote netip.AddrPort) socket {
	const (
		states = "01 02 04 05 08" // established, or closed by one side
		fields = 10               // the tenth is the inode
	)
	none := socket{user: -1}
	f := strings.Fields(line)
	if len(f) < fields || !strings.Contains(states, f[3]) || f[9] == "0" {
		return none
	}
	if a, ok := tableAddress(f[1]); !ok || a != local {
		return none
	}
	if a, ok := tableAddress(f[2]); !ok || a != remote {
		return none
	}
	user, err := strconv.Atoi(f[7])
	inode, failed := strconv.ParseUint(f[9], 10, 64)
	if err != nil || failed != nil {
		return none
	}
	return socket{user, inode}
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
