package console

import "github.com/spf13/cobra"

// Help makes the command that prints the help of other commands.
func Help() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND…]", Short: "Print the help of a command",
		Long:    "Prints the help of a command, as its flag --help does.",
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
