// Package cli has what the commands of moonfarm and the packages below them say
// alike: that a user asked wrongly, and numbers in words.
package cli

import (
	"fmt"

	"moonfarm/sim/texts"
)

// UsageError is a wrong use of a command, told to its user.
type UsageError struct{ error }

// Unwrap returns what is wrong.
func (e UsageError) Unwrap() error { return e.error }

// WrongUse is the error for what a user asked wrongly.
func WrongUse(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Group writes a whole number with commas between its thousands.
func Group[T int | int64 | uint64](n T) string { return texts.Group(n) }

// Size writes a number of bytes.
func Size(bytes uint64) string {
	switch {
	case bytes >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d B", bytes)
}

// Plural is "1 game", "2 games".
func Plural[T int | int64 | uint64](n T, one string) string { return texts.Plural(n, one) }
