package console

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// described is the help of a command. The help of the command help documents its JSON keys.
type described struct {
	Command  string      `json:"command"`
	Usage    string      `json:"usage"`
	Short    string      `json:"short"`
	Long     string      `json:"long"`
	Example  string      `json:"example"`
	Commands []subject   `json:"commands"`
	Flags    []flagEntry `json:"flags"`
}

// subject is a command below another one.
type subject struct {
	Name  string `json:"name"`
	Short string `json:"short"`
}

// flagEntry describes a flag.
type flagEntry struct {
	Name    string `json:"name"`
	Letter  string `json:"letter"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Text    string `json:"text"`
}

// describe returns the help of a command.
func describe(c *cobra.Command) described {
	d := described{Command: c.CommandPath(), Usage: c.UseLine(), Short: c.Short, Long: c.Long, Example: c.Example, Commands: []subject{}, Flags: []flagEntry{}}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			d.Commands = append(d.Commands, subject{sub.Name(), sub.Short})
		}
	}
	c.InheritedFlags() // adds the flags of all commands to Flags
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			value, text := pflag.UnquoteUsage(f)
			d.Flags = append(d.Flags, flagEntry{f.Name, f.Shorthand, value, f.DefValue, text})
		}
	})
	return d
}

// Help adds the command that prints the help of other commands to the root. It also does what
// --help does.
func (c *Console) Help(root *cobra.Command) {
	text := root.HelpFunc()
	root.SetHelpFunc(func(of *cobra.Command, args []string) {
		if !c.JSON {
			text(of, args)
			return
		}
		_ = c.Print(describe(of), nil) // Run reports what cannot be written
	})
	root.SetHelpCommand(help())
}

// help makes the command.
func help() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND…]", Short: "Print the help of a command",
		Long: `Prints the help of a command, as its flag --help does.

With --json: one object with the keys command, usage, short, long, example,
commands (each with name, short) and flags (each with name, letter, value: the
name of its value, default, text).`,
		Example: "  moonfarm help generate\n  moonfarm help replay verify",
		RunE: func(c *cobra.Command, args []string) error {
			of := c.Root()
			for i, name := range args {
				sub, _, err := of.Find(args[i : i+1])
				if err != nil || sub == of || !of.HasSubCommands() {
					if of.HasSubCommands() {
						return NoCommand(of, []string{name})
					}
					return WrongUse("%s has no commands, found %q", of.CommandPath(), name)
				}
				of = sub
			}
			return of.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			of, _, err := c.Root().Find(args)
			if err == nil {
				for _, sub := range of.Commands() {
					names = append(names, sub.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
