//go:build !amd64 || purego

package rowzstd

// differ returns false: there is no assembly.
func differ([]uint64, []byte, []byte) bool { return false }
