package console

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Value is the value of a flag: how it is parsed and printed, and its name in the
// help.
type Value struct {
	Parse func(text string) error // pflag puts "invalid argument" before the text of its error
	Show  func() string
	Kind  string
	Words []string // all valid values, if they are few
}

// Set, String and Type implement pflag.Value.
func (v Value) Set(text string) error { return v.Parse(text) }
func (v Value) String() string        { return v.Show() }
func (v Value) Type() string          { return v.Kind }

// Whole makes the value of a flag that takes a whole number from least to most.
func Whole[T int | uint64](to *T, least, most T) Value {
	set := func(text string) error {
		n, err := strconv.ParseUint(text, 10, 64)
		switch {
		case err == nil && n >= uint64(least) && n <= uint64(most):
			*to = T(n)
			return nil
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("expected a whole number, at most %d", most)
		case uint64(most) >= math.MaxInt64:
			return fmt.Errorf("expected a whole number, %d or more", least)
		}
		return fmt.Errorf("expected a whole number from %d to %d", least, most)
	}
	return Value{Parse: set, Show: func() string { return fmt.Sprint(*to) }, Kind: "N"}
}

// WholeOr makes the value of a flag that takes a whole number, 0 or more, or a word,
// which stands for −1. Errors call the number what.
func WholeOr(to *int, what, word, kind string) Value {
	v := Whole(to, 0, math.MaxInt)
	set := func(text string) error {
		if text == word {
			*to = -1
			return nil
		}
		if v.Parse(text) != nil {
			return fmt.Errorf("expected %s, 0 or more, or %s", what, word)
		}
		return nil
	}
	show := func() string {
		if *to < 0 {
			return word
		}
		return v.Show()
	}
	return Value{Parse: set, Show: show, Kind: kind}
}

// Numbers makes the value of a flag that takes numbers with commas between them.
func Numbers(to *[]uint64) Value {
	set := func(text string) error {
		for one := range strings.SplitSeq(text, ",") {
			var n uint64
			if err := Whole(&n, 0, uint64(math.MaxUint64)).Parse(one); err != nil {
				return err
			}
			*to = append(*to, n)
		}
		return nil
	}
	show := func() string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(*to), " ", ","), "[]") }
	return Value{Parse: set, Show: show, Kind: "N,N"}
}

// Share makes the value of a flag that takes a number from 0 to 1.
func Share(to *float64) Value {
	return Number(to, func(x float64) bool { return x >= 0 && x <= 1 }, "a number from 0 to 1")
}

// Number makes the value of a flag that takes a number of a range.
func Number(to *float64, in func(x float64) bool, expected string) Value {
	set := func(text string) error {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !in(x) {
			return errors.New("expected " + expected)
		}
		*to = x
		return nil
	}
	return Value{Parse: set, Show: func() string { return strconv.FormatFloat(*to, 'g', -1, 64) }, Kind: "X"}
}

// Seconds makes the value of a flag that takes a time in seconds. Without the flag the time is nil.
func Seconds(to **time.Duration) Value {
	set := func(text string) error {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= 0 && n <= 1e6) {
			return errors.New("expected seconds, from 0 to 1000000")
		}
		*to = new(time.Duration(n * float64(time.Second)))
		if n > 0 && **to == 0 {
			**to = 1
		}
		return nil
	}
	return Value{Parse: set, Show: func() string { return "" }, Kind: "SECONDS"}
}

// Duration makes the value of a flag that takes a time above 0.
func Duration(to *time.Duration) Value {
	set := func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > time.Hour {
			return errors.New("expected a time above 0 and up to an hour, such as 500ms or 3s")
		}
		*to = d
		return nil
	}
	return Value{Parse: set, Show: func() string { return to.String() }, Kind: "TIME"}
}

// Choice makes the value of a flag that takes one of a few words.
func Choice[T ~string](to *T, of ...T) Value {
	words := make([]string, len(of))
	for i, w := range of {
		words[i] = string(w)
	}
	set := func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("expected one of: %s", strings.Join(words, ", "))
		}
		*to = T(text)
		return nil
	}
	return Value{Parse: set, Show: func() string { return string(*to) }, Kind: strings.Join(words, "|"), Words: words}
}

// Bool makes the value of a flag that is on or off.
func Bool(to *bool) Value {
	set := func(text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("expected true or false, or nothing for true")
		}
		*to = on
		return nil
	}
	return Value{Parse: set, Show: func() string { return strconv.FormatBool(*to) }, Kind: "bool"} // a name that the help leaves out
}

// MaxWorkers is the limit of --workers.
const MaxWorkers = 4096

// WorkersFlag adds --workers, by default one per core.
func WorkersFlag(c *cobra.Command, to *int) {
	*to = runtime.GOMAXPROCS(0)
	c.Flags().Var(Whole(to, 1, MaxWorkers), "workers", "number of workers; the result is the same for any number")
}

// LockFlag adds --no-lock. what names the file or folder that is then not locked.
func (c *Console) LockFlag(cmd *cobra.Command, what string) {
	cmd.Flags().Var(Bool(&c.Locks.None), "no-lock", "do not lock "+what+": see datasets/README.md")
	cmd.Flags().Lookup("no-lock").NoOptDefVal = "true"
}

// urlPrefix matches the beginning of a URL, but of no path.
var urlPrefix = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// IsURL reports whether the text of a flag is a URL and not a path.
func IsURL(text string) bool { return urlPrefix.MatchString(text) }
