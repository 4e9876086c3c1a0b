//go:build !linux

package codecraft

import "net"

// checkPeer returns nil: only on Linux the process of a connection can be known.
func checkPeer(*net.TCPConn, int) error { return nil }
