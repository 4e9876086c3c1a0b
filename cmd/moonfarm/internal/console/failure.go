package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"moonfarm/datasets"
	"moonfarm/rollout/redact"
)

// usageError is an error for a wrong use of a command.
type usageError struct{ error }

// Unwrap returns the error without the mark of wrong use.
func (e usageError) Unwrap() error { return e.error }

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
	f := failure{Error: redact.Text(err.Error() + suggestion(err) + programOfStore(err)), Status: ExitFailure}
	switch {
	case errors.Is(err, ErrInterrupted):
		f.Status = ExitInterrupted
	case errors.As(err, new(usageError)):
		f.Usage, f.Status = true, ExitUsage
	}
	return f
}

// programOfStore returns the end of the message for a URL that needs another program: the
// program that can open it.
func programOfStore(err error) string {
	var unknown *datasets.SchemeError
	if !errors.As(err, &unknown) {
		return ""
	}
	switch unknown.Scheme {
	case "s3":
		return "; " + FullProgram + " has it: go run ./cmd/" + FullProgram + " …"
	case "gs", "azblob":
		return "; " + FullProgram + " built with -tags cloud has it: go run -tags cloud ./cmd/" + FullProgram + " …"
	}
	return ""
}

// print prints the failure as the last line of standard error.
func (f failure) print(to io.Writer, asJSON bool) {
	if !asJSON {
		fmt.Fprintf(to, "moonfarm: %s\n", f.Error)
		return
	}
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.Encode(f)
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
