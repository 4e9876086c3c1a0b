//go:build !linux

package console

// addressLimit returns no limit where it cannot be read.
func addressLimit() uint64 { return unlimited }
