package console

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"moonfarm/rollout/files"
	"moonfarm/sim/texts"
)

// Print prints v as indented JSON if --json is given, else it calls text.
func (c *Console) Print(v any, text func()) error {
	c.EndMeters()
	if !c.JSON {
		text()
		return nil
	}
	return printJSON(c.Out, v, "  ")
}

// printJSON prints v as JSON, without characters that control a terminal.
func printJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, escapedLines(b.String()))
	return err
}

// IsOutput reports whether the name of a file stands for standard output.
func IsOutput(name string) bool {
	return slices.Contains([]string{"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}, name)
}

// Output makes the value of a flag that takes the name of a file to write. If it is standard
// output, what the command prints goes to standard error.
func (c *Console) Output(to *string) Value {
	set := func(text string) error {
		if IsOutput(text) {
			if c.file != nil {
				return errors.New("only one file can be standard output")
			}
			c.file, c.Out = c.Out, bufio.NewWriter(c.Stderr)
		}
		*to = text
		return nil
	}
	return Value{Parse: set, Show: func() string { return *to }, Kind: "FILE"}
}

// CheckFile refuses the file of a flag if WriteFile cannot write it. Commands call it before
// work that takes long.
func (c *Console) CheckFile(flag, name string) error {
	if name == "" || IsOutput(name) {
		return nil
	}
	if err := files.Check(name); err != nil {
		return WrongUse("--%s: %w", flag, err)
	}
	return nil
}

// WriteFile writes the file of a flag as a whole or not at all, or to standard output. It
// returns the size of the file.
func (c *Console) WriteFile(flag, name string, write func(w io.Writer) error) (size int, err error) {
	count := func(w io.Writer) error { return write(&counter{w, &size}) }
	if IsOutput(name) {
		err = cmp.Or(count(c.file), c.file.Flush())
	} else {
		err = files.Write(name, count)
	}
	if err != nil {
		err = fmt.Errorf("--%s: %w", flag, err)
	}
	return size, err
}

// counter counts bytes.
type counter struct {
	io.Writer
	size *int
}

// Write implements io.Writer.
func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	*c.size += n
	return n, err
}

// FullName returns the absolute name of a file that was written.
func FullName(name string) string {
	if full, err := filepath.Abs(name); err == nil && !IsOutput(name) {
		return full
	}
	return name
}

// Printf prints to standard output, or to standard error if a file is written to standard output.
// What the arguments contain is escaped, as texts.Escaped does it, because it may come from anywhere; []byte is not.
func (c *Console) Printf(format string, args ...any) { tell(c.Out, format, args...) }

// Tell prints to standard error like Printf.
func (c *Console) Tell(format string, args ...any) { tell(c.Stderr, format, args...) }

// Text prints lines that moonfarm has made. Characters that control a terminal are escaped.
func (c *Console) Text(lines string) { c.Out.WriteString(escapedLines(lines)) }

// escapedLines is texts.Escaped for several lines.
func escapedLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = texts.Escaped(lines[i])
	}
	return strings.Join(lines, "\n")
}

// tell formats arguments and escapes the result of each but []byte.
func tell(w io.Writer, format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // vet checks the callers of functions that call Sprintf so
	}
	safe := slices.Clone(args)
	for i := range safe {
		if _, raw := safe[i].([]byte); !raw {
			safe[i] = foreign{safe[i]}
		}
	}
	fmt.Fprintf(w, format, safe...)
}

// foreign is a value that is formatted as usual, and then escaped.
type foreign struct{ value any }

// Format implements fmt.Formatter.
func (v foreign) Format(f fmt.State, verb rune) {
	io.WriteString(f, texts.Escaped(fmt.Sprintf(fmt.FormatString(f, verb), v.value)))
}

// Table prints rows of cells in columns. The first row has the headings. Columns of
// numbers are aligned to the right.
func (c *Console) Table(rows ...[]string) {
	for _, r := range rows {
		for i := range r {
			r[i] = texts.Escaped(r[i])
		}
	}
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

// Rows returns the rows of a table: the headings, and a row for each item of a list.
func Rows[T any](list []T, headings []string, row func(x T) []string) [][]string {
	rows := [][]string{headings}
	for _, x := range list {
		rows = append(rows, row(x))
	}
	return rows
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
