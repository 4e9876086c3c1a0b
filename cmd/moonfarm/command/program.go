// Package command is the command line of moonfarm: one file per subcommand, and the files
// of flags that several of them share. Package console is what all commands have in
// common, and recordings describes the original engine of a game and its recordings.
package command

import (
	"cmp"
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/viewer"
	"moonfarm/datasets"
	"moonfarm/rollout/bots/child"
)

// Program is a program with the commands of this package and others.
type Program struct {
	Name     string                                    // "": moonfarm
	Commands []func(c *console.Console) *cobra.Command // further commands
	Stores   datasets.Stores                           // places of datasets besides folders
	Pages    viewer.Pages                              // nil: the program serves no pages
}

// app adds the commands of this package to the console.
type app struct{ *console.Console }

// Main runs the command line of this process and ends it with the exit status.
func (p Program) Main() {
	child.Main() // does not return in a guard of bots
	ctx, stop := console.Interruptible()
	defer stop()
	os.Exit(p.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs a command of the program and returns the exit status. A context with the cause
// console.ErrInterrupted ends it like an interrupt.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	a := &app{console.New(stdout, stderr)}
	ctx = datasets.WithStores(datasets.WithWarn(ctx, a.Warn), p.Stores)
	return a.Console.Run(ctx, p.tree(a), args)
}

// Tree makes the command line of the program, for readers of its help.
func (p Program) Tree() *cobra.Command { return p.tree(&app{console.New(io.Discard, io.Discard)}) }

// tree makes the command line.
func (p Program) tree(a *app) *cobra.Command {
	root := console.Group(cmp.Or(p.Name, "moonfarm"), "Simulate games fast, exactly, and write them down as datasets",
		`Moonfarm plays strategy games of old programming contests, exactly as their
original engines did and many times faster, and writes what happened as Arrow
files for reinforcement learning.

Exit status: 0 all is well, 1 a failure or a difference found, 2 wrong usage,
130 interrupted. The last line of standard error gives the reason.

Files are written as a whole or not at all. The FILE - of a flag is standard
output; everything else that the command prints goes to standard error then.

With --json standard output is one JSON value (its keys are in the page
cmd/moonfarm/JSON.md), or nothing if there is no result, and the last line of
standard error is an object with the keys error, usage (true for wrong usage),
exit_status.`)
	root.CompletionOptions.DisableDefaultCmd = true
	a.Console.Help(root)
	root.SetUsageFunc(console.PrintUsage)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(console.FlagError)
	root.PersistentFlags().Var(console.Bool(&a.JSON), "json", "print JSON instead of text, errors too")
	root.PersistentFlags().Lookup("json").NoOptDefVal = "true"
	root.PersistentFlags().BoolP("help", "h", false, "help for the command")
	asksForVersion := root.Flags().Bool("version", false, "print the version, as the command version does")
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 && *asksForVersion {
			return nil
		}
		return console.NoCommand(c, args)
	}
	root.RunE = func(*cobra.Command, []string) error { return a.printVersion() } // only with --version
	for _, c := range []func() *cobra.Command{
		a.games, a.policies, a.generate, a.merge, a.importing, a.inspect, a.verify, a.replay, func() *cobra.Command { return a.view(p.Pages) }, a.analyse, func() *cobra.Command { return a.eval(p.Pages) },
		func() *cobra.Command { return a.match(p.Pages) }, a.model, a.bench,
		a.version, a.completion,
	} {
		root.AddCommand(c())
	}
	for _, c := range p.Commands {
		root.AddCommand(c(a.Console))
	}
	if len(p.Commands) == 0 {
		root.AddCommand(otherProgram("farm"))
		root.Long += "\n\nThe command " + console.FullProgram + " has all of this, and datasets on many machines\n(farm) and in buckets (s3://…) as well: go run ./cmd/" + console.FullProgram + " …"
	}
	root.InitDefaultHelpCmd() // adds a.help
	completeArguments(root)
	return root
}

// otherProgram makes a command that names the program that has it.
func otherProgram(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return console.WrongUse("%s: %s has it: go run ./cmd/%[2]s %[1]s …", name, console.FullProgram)
		},
	}
}
