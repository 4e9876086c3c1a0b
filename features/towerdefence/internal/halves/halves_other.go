//go:build !amd64 || purego

package halves

// assembled returns false: there is no assembly.
func assembled(_, _ *Planes, _, _ *Words) bool { return false }
