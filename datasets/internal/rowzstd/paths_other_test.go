//go:build !amd64 || purego

package rowzstd

// paths calls f: there is no assembly.
func paths(f func(name string)) { f("portable") }
