// Package console is shared by all commands of moonfarm and moonfarm-full: their output,
// progress and --json, the values of flags, errors and exit statuses.
package console

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/rollout/filelock"
	"moonfarm/rollout/redact"
)

// Exit statuses.
const (
	ExitOK          = 0
	ExitFailure     = 1 // something failed, or is not as it should be
	ExitUsage       = 2
	ExitInterrupted = 130
)

// FullProgram is the name of the program with all commands and stores.
const FullProgram = "moonfarm-full"

// Console holds the output of a program that runs one command, and the flags that all
// commands share.
type Console struct {
	Out    *bufio.Writer // standard output, or standard error if file is set
	Stderr io.Writer
	JSON   bool            // --json
	Locks  filelock.Locker // --no-lock
	stdout io.Writer       // below Out
	meters []*Meter        // that may still rewrite their lines
	file   *bufio.Writer   // standard output for the file of a flag; nil: the flags name none
	Resume string          // printed after an interrupt: the work that is kept

	patience atomic.Int64 // nanoseconds that an interrupted command may go on; 0: defaultPatience
}

// New returns a console that writes to stdout and stderr.
func New(stdout, stderr io.Writer) *Console {
	c := &Console{Out: bufio.NewWriter(stdout), Stderr: stderr, stdout: stdout}
	c.Locks.Warn = c.Warn
	return c
}

// Warn prints a warning to standard error.
func (c *Console) Warn(text string) {
	c.Tell("moonfarm: warning: %s\n", redact.Text(text))
}

// ErrInterrupted is the cause of a context that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// Interruptible returns a context that SIGINT or SIGTERM ends. After the first signal the
// next one has its usual effect: it kills.
func Interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			cancel(ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// Run runs the command that the arguments name, prints its error and returns the exit
// status. A context with the cause ErrInterrupted ends it like an interrupt. An error that
// has another reason than the interrupt is printed as it is.
func (c *Console) Run(ctx context.Context, root *cobra.Command, args []string) (status int) {
	root.SetArgs(args)
	root.SetOut(c.Out)
	root.SetErr(c.Stderr)
	c.warnLimit(addressLimit())
	ended, err := c.execute(ctx, root)
	if ended {
		c.EndMeters() // an error may have ended the command before them
		if e := c.Out.Flush(); err == nil && e != nil {
			err = fmt.Errorf("writing the output: %w", e)
		}
	}
	if err == nil {
		return ExitOK
	}
	if context.Cause(ctx) == ErrInterrupted && onlyInterrupt(err) {
		err = ErrInterrupted
		if ended && c.Resume != "" {
			err = fmt.Errorf("%w: %s", ErrInterrupted, c.Resume)
		}
	}
	f := failureOf(err)
	f.print(c.Stderr, c.JSON || asksForJSON(args))
	return f.Status
}

// onlyInterrupt reports whether an error says nothing but that a context is done.
func onlyInterrupt(err error) bool {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(one error) bool { return !onlyInterrupt(one) })
	case interface{ Unwrap() error }:
		return onlyInterrupt(e.Unwrap())
	}
	return errors.Is(err, ErrInterrupted) || errors.Is(err, context.Canceled) // a canceled dial is only equal to it
}

const (
	unlimited    = math.MaxUint64
	fewAddresses = 2 << 30 // bytes
)

// warnLimit warns of a limit of virtual memory with which the Go runtime may fail to start
// threads or to grow its heap: it then prints a crash text, which nothing can replace.
func (c *Console) warnLimit(limit uint64) {
	if limit < fewAddresses {
		c.Warn(fmt.Sprintf("virtual memory is limited to %s (ulimit -v), expected at least %s: where it does not suffice, the program ends with a crash text of Go",
			FormatSize(limit), FormatSize(fewAddresses)))
	}
}

// defaultPatience is the time that an interrupted command may go on by default. It should
// stop at once, but it may wait for an operation that cannot be interrupted, such as
// reading a pipe whose writer is silent.
const defaultPatience = 3 * time.Second

// SetPatience sets the time that the command may go on after an interrupt.
func (c *Console) SetPatience(d time.Duration) { c.patience.Store(int64(d)) }

// execute runs the command. ended is false if an interrupted command did not return in
// time.
func (c *Console) execute(ctx context.Context, root *cobra.Command) (ended bool, err error) {
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
	case <-time.After(cmp.Or(time.Duration(c.patience.Load()), defaultPatience)):
		return false, ErrInterrupted
	}
}
