package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailure     = 1 // something failed, or is not as it should be
	exitUsage       = 2
	exitInterrupted = 130
)

// app is what the subcommands share.
type app struct {
	out    *bufio.Writer // standard output
	stderr io.Writer
	json   bool   // --json
	resume string // said after an interrupt: what became of the work
}

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// usageError is a wrong use of a command, told to its user.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// wrongUse is the error for what a user asked wrongly.
func wrongUse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the whole program: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := interruptible()
	defer stop()
	a := &app{out: bufio.NewWriter(stdout), stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if e := a.out.Flush(); err == nil && e != nil {
		err = fmt.Errorf("writing the output: %w", e)
	}
	status := exitOK
	switch {
	case err == nil:
		return exitOK
	case context.Cause(ctx) == errInterrupted:
		status, err = exitInterrupted, errInterrupted
		if a.resume != "" {
			err = fmt.Errorf("%w: %s", errInterrupted, a.resume)
		}
	case errors.As(err, new(usageError)):
		status = exitUsage
	default:
		status = exitFailure
	}
	fmt.Fprintf(stderr, "moonfarm: %v\n", err)
	return status
}

// interruptible returns a context that SIGINT or SIGTERM ends. After the first
// signal the next one has its usual effect: it kills.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// root builds the command line.
func (a *app) root() *cobra.Command {
	root := a.group("moonfarm", "Simulate games fast, exactly, and write them down as datasets",
		`Moonfarm plays strategy games of old programming contests, exactly as their
original engines did and many times faster, and writes what happened as Arrow
files for reinforcement learning.

Exit status: 0 all is well, 1 a failure or a difference found, 2 wrong usage,
130 interrupted.`)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true})
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return wrongUse("%w (see %s --help)", err, c.CommandPath())
	})
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON instead of text")
	root.PersistentFlags().BoolP("help", "h", false, "help for the command")
	for _, c := range []func() *cobra.Command{
		a.games, a.policies, a.generate, a.importing, a.inspect, a.verify, a.replay, a.eval, a.match, a.bench, a.version,
	} {
		root.AddCommand(c())
	}
	return root
}

// group is a command that only holds others.
func (a *app) group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use + " COMMAND", Short: short, Long: long,
		Args: func(c *cobra.Command, args []string) error {
			var names []string
			for _, sub := range c.Commands() {
				if !sub.Hidden {
					names = append(names, sub.Name())
				}
			}
			if len(args) == 0 {
				return wrongUse("%s needs a command: %s (see %[1]s --help)", c.CommandPath(), strings.Join(names, ", "))
			}
			return wrongUse("no command %q; there are: %s (see %s --help)", args[0], strings.Join(names, ", "), c.CommandPath())
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // never: Args refuses
	}
}

// takes checks the number of arguments, at least one per name: "GAME" is one,
// "FILE…" one or more, "[GAME]" at most one.
func takes(names ...string) cobra.PositionalArgs {
	least, most := 0, 0
	for _, n := range names {
		if !strings.HasPrefix(n, "[") {
			least++
		}
		most++
		if strings.Contains(n, "…") {
			most = 1 << 20
		}
	}
	return func(c *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		want := strings.Join(names, " ")
		if want == "" {
			want = "no arguments"
		}
		return wrongUse("%s takes %s, found %d: %q (see %[1]s --help)", c.CommandPath(), want, len(args), args)
	}
}
