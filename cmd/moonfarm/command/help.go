package command

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/cmd/moonfarm/internal/gamedoc"
	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/rollout/policy"
)

// helpWidth is the longest line of the lists of flags.
const helpWidth = 100

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
						return noCommand(of, []string{name})
					}
					return cli.WrongUse("%s has no commands, found %q", of.CommandPath(), name)
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

// printUsage prints the usage of a command, which follows its description.
func printUsage(c *cobra.Command) error {
	w := c.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", strings.ReplaceAll(c.Example, "  moonfarm ", "  "+c.Root().Name()+" "))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nCommands:\n")
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				fmt.Fprintf(w, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprintf(w, "\nFlags:\n%s\n", strings.TrimRight(c.LocalFlags().FlagUsagesWrapped(helpWidth), "\n"))
	}
	if c.HasAvailableInheritedFlags() {
		fmt.Fprintf(w, "\nFlags of all commands:\n%s\n", strings.TrimRight(c.InheritedFlags().FlagUsagesWrapped(helpWidth), "\n"))
	}
	if c.HasAvailableSubCommands() {
		_, err := fmt.Fprintf(w, "\n\"%s COMMAND --help\" describes a command.\n", c.CommandPath())
		return err
	}
	return nil
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
func eachGame(text func(g gamedoc.Game) string) string {
	var b strings.Builder
	for _, g := range gamedoc.Games() {
		if s := text(g); s != "" {
			b.WriteString(listed(g.Name, 16, s))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

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
		Args:      takes("SHELL"),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			for _, s := range shells {
				if s.name == args[0] {
					return s.write(c.Root(), a.out)
				}
			}
			wrong := cli.WrongUse("no shell %q; there are: %s", args[0], strings.Join(names, ", "))
			return unknownError{wrong, args[0], names}
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
		switch v, _ := f.Value.(value); {
		case v.words != nil:
			c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.words, cobra.ShellCompDirectiveNoFileComp))
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

// build describes the build of this program.
type build struct {
	Moonfarm string `json:"moonfarm"`
	Format   int    `json:"format"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	System   string `json:"system"`
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		Long: `Prints the version of moonfarm.

With --json: one object with the keys moonfarm (the version that manifests
name), format (of datasets), commit ("" if the build does not know it),
modified (there were changes on top of it), go, system.`,
		Args: takes(),
		RunE: func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	b := build{Moonfarm: datasets.Version, Format: datasets.Format, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return a.print(b, func() {
		a.printf("moonfarm %s, dataset format %d, %s, %s\n", b.Moonfarm, b.Format, b.Go, b.System)
		if b.Commit != "" {
			more := ""
			if b.Modified {
				more = " and changes on top of it"
			}
			a.printf("commit %s%s\n", b.Commit, more)
		}
	})
}

// unknownError is the error for an unknown word, with the known words.
type unknownError struct {
	error
	name  string
	known []string
}

func (e unknownError) Unwrap() error { return e.error }

// suggestion returns the end of the message for an unknown word: the known word that
// was probably meant, or "" if no word is near or the error is another one.
func suggestion(err error) string {
	var word unknownError
	var game *catalog.UnknownError
	var spec *policy.UnknownError
	switch {
	case errors.As(err, &word):
	case errors.As(err, &game):
		word = unknownError{name: game.Name, known: game.Known}
	case errors.As(err, &spec):
		word = unknownError{name: spec.Name, known: spec.Known}
	default:
		return ""
	}
	if near := nearest(word.name, word.known); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// flagError returns the usage error for a flag that could not be read.
func flagError(c *cobra.Command, err error) error {
	wrong := cli.WrongUse("%w (see %s --help)", err, c.CommandPath())
	var none *pflag.NotExistError
	if !errors.As(err, &none) {
		return wrong
	}
	word := unknownError{error: wrong, name: "--" + none.GetSpecifiedName()}
	if letters := none.GetSpecifiedShortnames(); letters != "" {
		word.name = "-" + letters // -seed for --seed
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			word.known = append(word.known, "--"+f.Name)
		}
	})
	return word
}

// nearest returns the known word that an unknown word probably stands for: the one
// that takes the fewest changes, preferably at its end, or else the first known word
// with a long enough common prefix. It returns "" if no word is near.
func nearest(word string, of []string) string {
	word = strings.ToLower(word)
	length := len([]rune(word))
	best, least := "", 2*(1+max(1, length/3))
	for _, w := range of {
		n := changes(word, strings.ToLower(w))
		d := 2 * n
		if strings.HasPrefix(strings.ToLower(w), word) {
			d--
		}
		if d < least && n < len([]rune(w)) {
			best, least = w, d
		}
	}
	for _, w := range of {
		if alike := beginning(word, strings.ToLower(w)); best == "" && alike > 1 && 4*alike >= 3*length {
			best = w
		}
	}
	return best
}

// beginning returns the length of the common prefix of two words, in letters.
func beginning(a, b string) int {
	s, t := []rune(a), []rune(b)
	n := 0
	for n < min(len(s), len(t)) && s[n] == t[n] {
		n++
	}
	return n
}

// changes returns the optimal string alignment distance of two words: the number of
// letters to insert, delete, replace or swap with the next one to turn a into b, where
// each letter changes at most once.
func changes(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, now := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		now[0] = i + 1
		for j := range t {
			replaced := last[j]
			if s[i] != t[j] {
				replaced++
			}
			now[j+1] = min(replaced, last[j+1]+1, now[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(t)]
}
