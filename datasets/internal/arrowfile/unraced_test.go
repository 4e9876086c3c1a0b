//go:build !race

package arrowfile

// raced reports whether the test runs under the race detector.
const raced = false
