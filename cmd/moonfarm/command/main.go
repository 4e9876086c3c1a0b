// Package command is the command line of moonfarm: one file per subcommand.
//
// Package gamedoc has the help texts and flags of each game, and package recordings
// reads and writes its recordings.
package command

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/datasets"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/filelock"
	"moonfarm/rollout/redact"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailure     = 1 // something failed, or is not as it should be
	exitUsage       = 2
	exitInterrupted = 130
)

// app holds the state that the subcommands share.
type app struct {
	out    *bufio.Writer // standard output
	stderr io.Writer
	locks  filelock.Locker // --no-lock
	json   bool            // --json
	resume string          // printed after an interrupt: the work that is kept

	parts Parts

	patience atomic.Int64 // nanoseconds that an interrupted command may go on; 0: as the constant patience
}

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// Main runs the command line of this process, and ends it with the exit status.
func Main(p Parts) {
	child.Main() // does not return in a guard of bots
	os.Exit(p.run(os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the program until it ends or is interrupted, and returns the exit status.
func (p Parts) run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := interruptible()
	defer stop()
	return p.Run(ctx, args, stdout, stderr)
}

// Run runs a command of the program and returns the exit status. A context whose cause is
// ErrInterrupted ends it as an interrupt does.
func (p Parts) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{out: bufio.NewWriter(stdout), stderr: stderr, parts: p}
	a.locks.Warn = a.warn
	ctx = datasets.WithStores(datasets.WithWarn(ctx, a.warn), p.Stores)
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(stderr)
	ended, err := a.execute(ctx, root)
	if ended {
		if e := a.out.Flush(); err == nil && e != nil {
			err = fmt.Errorf("writing the output: %w", e)
		}
	}
	if err == nil {
		return exitOK
	}
	if context.Cause(ctx) == errInterrupted {
		err = errInterrupted
		if ended && a.resume != "" {
			err = fmt.Errorf("%w: %s", errInterrupted, a.resume)
		}
	}
	f := failureOf(err)
	f.print(stderr, a.json || asksForJSON(args))
	return f.Status
}

// warn prints a warning to standard error: the command goes on.
func (a *app) warn(text string) { fmt.Fprintf(a.stderr, "moonfarm: warning: %s\n", redact.Text(text)) }

// patience is the time that an interrupted command may go on by default. It should
// stop at once, but it may wait for an operation that cannot be interrupted, such as
// reading a pipe that has no writer.
const patience = 3 * time.Second

// execute runs the command. ended is false if an interrupted command did not return in
// time.
func (a *app) execute(ctx context.Context, root *cobra.Command) (ended bool, err error) {
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	select {
	case err = <-done:
		return true, err
	case <-ctx.Done():
	}
	select {
	case err = <-done:
		return true, err
	case <-time.After(cmp.Or(time.Duration(a.patience.Load()), patience)):
		return false, errInterrupted
	}
}

// failure tells why a command failed. Its JSON keys are documented in the help.
type failure struct {
	Error  string `json:"error"`
	Usage  bool   `json:"usage"`
	Status int    `json:"exit_status"`
}

// failureOf returns the message and the exit status of an error.
func failureOf(err error) failure {
	f := failure{Error: redact.Text(err.Error() + suggestion(err) + lackingStore(err)), Status: exitFailure}
	switch {
	case errors.Is(err, errInterrupted):
		f.Status = exitInterrupted
	case errors.As(err, new(cli.UsageError)):
		f.Usage, f.Status = true, exitUsage
	}
	return f
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

// asksForJSON reports whether the arguments contain --json. It is for arguments that
// the parser has refused.
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
	root := a.group(cmp.Or(a.parts.Name, "moonfarm"), "Simulate games fast, exactly, and write them down as datasets",
		`Moonfarm plays strategy games of old programming contests, exactly as their
original engines did and many times faster, and writes what happened as Arrow
files for reinforcement learning.

Exit status: 0 all is well, 1 a failure or a difference found, 2 wrong usage,
130 interrupted. The last line of standard error gives the reason.

With --json standard output is one JSON value (its keys are in the help of each
command), or nothing if there is no result, and the last line of standard error
is an object with the keys error, usage (true for wrong usage), exit_status.`)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(a.help())
	root.SetUsageFunc(printUsage)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().Var(truth(&a.json), "json", "print JSON instead of text, errors too")
	root.PersistentFlags().Lookup("json").NoOptDefVal = "true"
	root.PersistentFlags().BoolP("help", "h", false, "help for the command")
	root.Flags().Bool("version", false, "print the version, as the command version does")
	for _, c := range []func() *cobra.Command{
		a.games, a.policies, a.generate, a.merge, a.importing, a.inspect, a.verify, a.export, a.replay, a.analyse, a.eval, a.match, a.model, a.bench,
		a.version, a.completion,
	} {
		root.AddCommand(c())
	}
	for _, c := range a.parts.Commands {
		root.AddCommand(c(a))
	}
	if len(a.parts.Commands) == 0 {
		root.AddCommand(lacking("farm"))
		root.Long += "\n\nThe command " + FullName + " has all of this, and datasets on many machines\n(farm) and in buckets (s3://…) as well: go run ./cmd/" + FullName + " …"
	}
	root.InitDefaultHelpCmd() // adds a.help
	completeArguments(root)
	return root
}

// group makes a command that only holds other commands. The root also prints the
// version.
func (a *app) group(use, short, long string) *cobra.Command {
	asksForVersion := func(c *cobra.Command) bool {
		asks, err := c.Flags().GetBool("version")
		return err == nil && asks
	}
	return &cobra.Command{
		Use: use + " COMMAND", Short: short, Long: long,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && asksForVersion(c) {
				return nil
			}
			return noCommand(c, args)
		},
		RunE: func(*cobra.Command, []string) error { return a.printVersion() }, // without --version Args refuses
	}
}

// noCommand returns the error for arguments that name no command of a group. It lists
// the commands of the group.
func noCommand(c *cobra.Command, args []string) error {
	var names, work []string // all commands, and all but help and completion
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			work = append(work, sub.Name())
		}
	}
	if len(args) == 0 {
		return cli.WrongUse("%s needs a command: %s (see %[1]s --help)", c.CommandPath(), strings.Join(work, ", "))
	}
	wrong := cli.WrongUse("no command %q; there are: %s (see %s --help)", args[0], strings.Join(work, ", "), c.CommandPath())
	for _, sub := range c.Commands() {
		for _, below := range sub.Commands() {
			if below.Name() == args[0] {
				return fmt.Errorf("%w; did you mean %s %s?", wrong, sub.Name(), args[0])
			}
		}
	}
	return unknownError{wrong, args[0], names}
}

// takes checks the number of arguments by their names: "GAME" stands for one argument,
// "FILE…" for one or more, "[GAME]" for at most one.
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
		return cli.WrongUse("%s takes %s, found %d: %q (see %[1]s --help)", c.CommandPath(), want, len(args), args)
	}
}
