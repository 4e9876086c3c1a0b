package console

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Print prints v as indented JSON if --json is given, else it calls text.
func (c *Console) Print(v any, text func()) error {
	c.EndMeters()
	if !c.JSON {
		text()
		return nil
	}
	e := json.NewEncoder(c.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Printf prints to standard output.
func (c *Console) Printf(format string, args ...any) { fmt.Fprintf(c.Out, format, args...) }

// Table prints rows of cells in columns. The first row has the headings. Columns of
// numbers are aligned to the right.
func (c *Console) Table(rows ...[]string) {
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
		c.Printf("%s\n", strings.TrimRight(line.String(), " "))
	}
}

// FormatDuration formats a duration for people: "9.5 s", "30 min".
func FormatDuration(d time.Duration) string {
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

// FormatFloat formats a number with at most six digits.
func FormatFloat(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// FormatSize formats a number of bytes: "1.5 KiB".
func FormatSize(bytes uint64) string {
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
