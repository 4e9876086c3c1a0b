package command

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/env/catalog"
	"moonfarm/rollout/policy"
)

// shells has the shells that completion writes scripts for.
var shells = []struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}{
	{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
	{"zsh", (*cobra.Command).GenZshCompletion},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

// completion makes the command that writes completion scripts for shells.
func (a *app) completion() *cobra.Command {
	var names []string
	for _, s := range shells {
		names = append(names, s.name)
	}
	return &cobra.Command{
		Use: "completion SHELL", Short: "Write the script with which a shell completes commands",
		Long: `Writes a script for a shell: with it, the tab key completes commands, flags, the
games and their policies. SHELL is one of ` + strings.Join(names, ", ") + `.`,
		Example:   "  source <(moonfarm completion bash)\n  moonfarm completion fish > ~/.config/fish/completions/moonfarm.fish",
		Args:      console.Takes("SHELL"),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			for _, s := range shells {
				if s.name == args[0] {
					return s.write(c.Root(), a.Out)
				}
			}
			wrong := console.WrongUse("no shell %q; there are: %s", args[0], strings.Join(names, ", "))
			return console.Unknown(wrong, args[0], names)
		},
	}
}

// completeArguments registers the completions of the commands' arguments and flags:
// games, policies of the game, or fixed words.
func completeArguments(c *cobra.Command) {
	for _, sub := range c.Commands() {
		completeArguments(sub)
	}
	if _, takes, _ := strings.Cut(c.Use, " "); strings.HasPrefix(strings.TrimPrefix(takes, "["), "GAME") {
		c.ValidArgsFunction = completeGame
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch v, _ := f.Value.(console.Value); {
		case v.Words != nil:
			c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.Words, cobra.ShellCompDirectiveNoFileComp))
		case f.Name == "policy" || f.Name == "policies" || f.Name == "player":
			c.RegisterFlagCompletionFunc(f.Name, completePolicy)
		}
	})
}

// completeGame completes the first argument, a game. All other arguments are files.
func completeGame(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for _, g := range catalog.Games() {
		names = append(names, g.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completePolicy completes the name of a policy of the game that is the first
// argument. A player may be a file, too.
func completePolicy(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		for _, p := range policy.Names(args[0]) {
			names = append(names, p.Name)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}
