//go:build race

package arrowfile

// raced: the test runs under the race detector.
const raced = true
