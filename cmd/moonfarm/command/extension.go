package command

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/rollout/filelock"
)

// Parts are what a program has beside the commands of this package, which are in all.
type Parts struct {
	Name     string                        // of the program; "": moonfarm
	Commands []func(a *App) *cobra.Command // more commands
	Stores   datasets.Stores               // where datasets may be beside folders
}

// Tree makes the command line of the program.
func (p Parts) Tree() *cobra.Command { return (&app{parts: p}).root() }

// FullName is the program that has all parts.
const FullName = "moonfarm-full"

// lacking is the command of a part that this program does not have.
func lacking(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return cli.WrongUse("%s: %s has it: go run ./cmd/%[2]s %[1]s …", name, FullName)
		},
	}
}

// lackingStore says which program has the store that an error is about.
func lackingStore(err error) string {
	var none *datasets.SchemeError
	if !errors.As(err, &none) {
		return ""
	}
	switch none.Scheme {
	case "s3":
		return "; " + FullName + " has it: go run ./cmd/" + FullName + " …"
	case "gs", "azblob":
		return "; " + FullName + " built with -tags cloud has it: go run -tags cloud ./cmd/" + FullName + " …"
	}
	return ""
}

// What follows is for the commands of Parts.

// App is a program that runs a command.
type App = app

// Exit statuses.
const (
	ExitFailure     = exitFailure
	ExitInterrupted = exitInterrupted
)

// ErrInterrupted is the cause of a context that a signal ended.
var ErrInterrupted = errInterrupted

// Group is a command that only holds others.
func (a *app) Group(use, short, long string) *cobra.Command { return a.group(use, short, long) }

// Print prints v as JSON if that is asked for, else what text prints.
func (a *app) Print(v any, text func()) error { return a.print(v, text) }

// Printf prints to standard output.
func (a *app) Printf(format string, args ...any) { a.printf(format, args...) }

// Table prints rows of cells in columns, of which the first row is the headings.
func (a *app) Table(rows ...[]string) { a.table(rows...) }

// Flush writes what is printed.
func (a *app) Flush() error { return a.out.Flush() }

// JSON reports whether JSON is asked for.
func (a *app) JSON() bool { return a.json }

// Stderr is standard error.
func (a *app) Stderr() io.Writer { return a.stderr }

// Locks are how files and folders are locked.
func (a *app) Locks() *filelock.Locker { return &a.locks }

// LockFlag adds --no-lock; what names the folder or file that is not locked then.
func (a *app) LockFlag(c *cobra.Command, what string) { a.lockFlag(c, what) }

// Resume sets what is said after an interrupt: what became of the work.
func (a *app) Resume(text string) { a.resume = text }

// Linger lets a command go on for some time after an interrupt.
func (a *app) Linger(d time.Duration) { a.patience.Store(int64(d)) }

// Meter begins a line of progress on a terminal: show tells that done of all are done, and
// how many others, whose rate is shown; end removes the line and tells how long it took.
func (a *app) Meter(what, others string) (show func(done, all, other uint64), end func() time.Duration) {
	m := a.meter(what)
	return func(done, all, other uint64) { m.show(done, all, other, others) }, m.end
}

// Size is how much is in a dataset, and how much of it a run made.
type Size = datasetSize

// PrintSize prints the line that begins with the place of a dataset; more is said behind
// its size.
func (a *app) PrintSize(place string, s Size, more string) { a.printSize(place, s, more) }

// JobFlags say what a dataset is made of.
type JobFlags struct{ jobFlags }

// Add adds the flags.
func (f *JobFlags) Add(c *cobra.Command) { f.add(c) }

// Job makes the job of a game.
func (f *JobFlags) Job(game string) (datasets.Job, catalog.Entry, error) { return f.read(game) }

// Makers make the games, policies and so on of a dataset of a game.
func Makers(g catalog.Entry) datasets.Makers { return makers(g) }

// HelpWidth is the longest line of the lists of flags.
const HelpWidth = helpWidth

// MaxShards bounds the shards of a dataset.
const MaxShards = maxShards

// Shards is how many shards a job has.
func Shards(j *datasets.Job) uint64 { return shardsOf(j) }

// Thrifty keeps memory small until it is undone.
func Thrifty() (undo func()) { return thrifty() }

// Takes checks the number of arguments by their names.
func Takes(names ...string) cobra.PositionalArgs { return takes(names...) }

// IsURL reports whether the place of a dataset is a URL and no path.
func IsURL(place string) bool { return anyURL.MatchString(place) }

// Lasting writes a duration as people say it.
func Lasting(d time.Duration) string { return lasting(d) }

// Unknown is an error for an unknown word; a known word that is like it is suggested.
func Unknown(err error, word string, known []string) error { return unknownError{err, word, known} }

// Value is the value of a flag.
type Value = value

// Words is the value of a flag that takes a few words: set reads it and show shows it.
func Words(set func(text string) error, show func() string, kind string, words []string) Value {
	return value{set: set, show: show, kind: kind, words: words}
}

// Choice is the value of a flag that takes one of a few words.
func Choice[T ~string](to *T, of ...T) Value { return choice(to, of...) }

// Whole is the value of a flag that takes a whole number within bounds.
func Whole(to *int, least, most int) Value { return whole(to, least, most) }

// Share is the value of a flag that takes a number from 0 to 1.
func Share(to *float64) Value { return share(to) }

// Pause is the value of a flag that takes a time above 0.
func Pause(to *time.Duration) Value { return pause(to) }

// WorkersFlag adds --workers, by default one per core.
func WorkersFlag(c *cobra.Command, to *int) { workersFlag(c, to) }
