package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// print prints v as JSON, indented, if --json is given, else what text prints.
func (a *app) print(v any, text func()) error {
	if !a.json {
		text()
		return nil
	}
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printf prints to standard output.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// table prints rows of cells in columns, the first row being the headings.
// Columns of numbers stand to the right.
func (a *app) table(rows ...[]string) {
	for _, r := range rows {
		var line strings.Builder
		for i, cell := range r {
			width, numbers := 0, true
			for j, other := range rows {
				width = max(width, utf8.RuneCountInString(other[i]))
				numbers = numbers && (j == 0 || other[i] != "" && strings.ContainsRune("0123456789+-", rune(other[i][0])))
			}
			pad := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if numbers {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		a.printf("%s\n", strings.TrimRight(line.String(), " "))
	}
}

// group writes a whole number with commas between its thousands.
func group[T int | int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size writes a number of bytes.
func size(bytes uint64) string {
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

// lasting writes a duration as people say it.
func lasting(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// plural is "1 game", "2 games".
func plural[T int | int64 | uint64](n T, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return group(n) + " " + one + "s"
}

// shape writes sizes as "12×8×16".
func shape(sizes []int) string {
	words := make([]string, len(sizes))
	for i, n := range sizes {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, "×")
}

// heads writes the choices of each head of an action: "322", "84 of 32, 210 of
// 16".
func heads(choices []int) string {
	var words []string
	for len(choices) > 0 {
		n := 1
		for ; n < len(choices) && choices[n] == choices[0]; n++ {
		}
		words = append(words, fmt.Sprintf("%d of %d", n, choices[0]))
		choices = choices[n:]
	}
	return strings.TrimPrefix(strings.Join(words, ", "), "1 of ")
}

// decimal writes a number as short as can be.
func decimal(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }
