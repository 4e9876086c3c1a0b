//go:build !linux

package codecraft

import "net"

// stranger knows no users and no processes here: see the one of Linux.
func stranger(*net.TCPConn, int, socketOwner) error { return nil }
