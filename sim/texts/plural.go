package texts

import "fmt"

// Group returns a whole number as text with commas between its thousands.
func Group[T int | int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural returns a count with its noun: "1 game", "2 games".
func Plural[T int | int64 | uint64](n T, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Group(n) + " " + one + "s"
}
