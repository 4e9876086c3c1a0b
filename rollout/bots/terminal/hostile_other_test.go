//go:build !linux

package terminal

// hostile does nothing: what its bots do is ended on Linux alone.
func hostile(string) {}
