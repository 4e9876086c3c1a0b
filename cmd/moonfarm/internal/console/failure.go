package console

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"moonfarm/datasets"
	"moonfarm/rollout/redact"
	"moonfarm/sim/texts"
)

// usageError is an error for a wrong use of a command.
type usageError struct{ error }

// Unwrap returns the error without the mark of wrong use.
func (u usageError) Unwrap() error { return u.error }

// WrongUse returns an error with which the program ends with the status ExitUsage.
func WrongUse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// failure gives the reason why a command failed. The help documents its JSON keys.
type failure struct {
	Error  string `json:"error"`
	Usage  bool   `json:"usage"`
	Status int    `json:"exit_status"`
}

// failureOf returns the message and the exit status of an error.
func failureOf(err error) failure {
	f := failure{Error: redact.Text(message(err) + texts.Escaped(suggestion(err)) + programOfStore(err)), Status: ExitFailure}
	switch {
	case errors.Is(err, ErrInterrupted):
		f.Status = ExitInterrupted
	case errors.As(err, new(usageError)):
		f.Usage, f.Status = true, ExitUsage
	}
	return f
}

// message returns the text of an error. Its lines are the errors that errors.Join joined; all else
// in it, such as names of files, may come from anywhere and is escaped.
func message(err error) string {
	var inner []error
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		inner = e.Unwrap()
	case interface{ Unwrap() error }:
		inner = []error{e.Unwrap()}
	}
	inner = slices.DeleteFunc(slices.Clone(inner), func(e error) bool { return e == nil })
	var own, lines []string
	for _, e := range inner {
		own, lines = append(own, e.Error()), append(lines, message(e))
	}
	text, escaped := err.Error(), ""
	if len(own) > 0 && strings.Join(own, "\n") == text {
		return strings.Join(lines, "\n")
	}
	for i := range own {
		if before, after, found := strings.Cut(text, own[i]); found {
			escaped += texts.Escaped(before) + lines[i]
			text = after
		}
	}
	return escaped + texts.Escaped(text)
}

// programOfStore returns the end of the message for a URL that needs another program: the
// program that can open it.
func programOfStore(err error) string {
	var unknown *datasets.SchemeError
	if !errors.As(err, &unknown) || unknown.Scheme != "s3" {
		return ""
	}
	return "; " + FullProgram + " has it: go run ./cmd/" + FullProgram + " …"
}

// print prints the failure as the last line of standard error.
func (f failure) print(to io.Writer, asJSON bool) {
	if !asJSON {
		fmt.Fprintf(to, "moonfarm: %s\n", f.Error)
		return
	}
	_ = printJSON(to, f, "")
}

// asksForJSON reports whether the arguments contain --json. Run needs it for arguments
// that the parser refused.
func asksForJSON(args []string) bool {
	asks := false
	for _, arg := range args {
		value, ok := strings.CutPrefix(arg, "--json")
		switch {
		case arg == "--":
			return asks
		case ok && value == "":
			asks = true
		case ok && value[0] == '=':
			asks, _ = strconv.ParseBool(value[1:])
		}
	}
	return asks
}
