package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/gamedoc"
)

// help makes the command that prints the help of other commands.
func (a *app) help() *cobra.Command {
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
						return console.NoCommand(of, []string{name})
					}
					return console.WrongUse("%s has no commands, found %q", of.CommandPath(), name)
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

// listed formats an entry of a list in a help text: a name, and beside it, from
// column indent on, a text in lines of at most 80 characters.
func listed(name string, indent int, text string) string {
	var b strings.Builder
	line := fmt.Sprintf("  %-*s", indent-2, name)
	for _, word := range strings.Fields(text) {
		if len([]rune(line))+len([]rune(word)) > 80 {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", indent)
		}
		line += word + " "
	}
	return b.String() + strings.TrimRight(line, " ") + "\n"
}

// eachGame lists the texts of the games with recordings. A game with an empty text is
// left out.
func eachGame(text func(g gamedoc.Doc) string) string {
	var b strings.Builder
	for _, g := range gamedoc.All() {
		if s := text(g); s != "" {
			b.WriteString(listed(g.Name, 16, s))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
