//go:build !linux

package codecraft

func hostile(string, *net.TCPConn) {}
