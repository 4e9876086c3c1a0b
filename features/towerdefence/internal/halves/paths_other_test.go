//go:build !amd64 || purego

package halves

// paths calls f: there is no assembly.
func paths(f func(name string)) { f("portable") }
