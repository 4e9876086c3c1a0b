package console

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// HelpWidth is the maximum length of a line in the lists of flags.
const HelpWidth = 100

// PrintUsage prints the usage of a command, which follows its description.
func PrintUsage(c *cobra.Command) error {
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
	printFlags(w, "Flags", c.LocalFlags())
	printFlags(w, "Flags of all commands", c.InheritedFlags())
	if c.HasAvailableSubCommands() {
		_, err := fmt.Fprintf(w, "\n\"%s COMMAND --help\" describes a command.\n", c.CommandPath())
		return err
	}
	return nil
}

// flagGroup is the annotation of a flag with the title of its group in the help.
const flagGroup = "group"

// FlagGroup puts flags of a command below a title of their own in its help.
func FlagGroup(c *cobra.Command, title string, names ...string) {
	for _, name := range names {
		if err := c.Flags().SetAnnotation(name, flagGroup, []string{title}); err != nil {
			panic(err) // a flag that the command lacks: a fault of the program
		}
	}
}

// printFlags prints flags by group; those without a group are below the title.
func printFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	groups, titles := map[string][]*pflag.Flag{}, []string{title}
	flags.VisitAll(func(f *pflag.Flag) {
		of := title
		if own := f.Annotations[flagGroup]; own != nil {
			of = own[0]
		}
		if f.Hidden {
			return
		}
		if !slices.Contains(titles, of) {
			titles = append(titles, of)
		}
		groups[of] = append(groups[of], f)
	})
	for _, of := range titles {
		if groups[of] != nil {
			fmt.Fprintf(w, "\n%s:\n", of)
		}
		for _, f := range groups[of] {
			printFlag(w, f)
		}
	}
}

// flagColumn is where the texts of flags begin; the first line begins later behind a long name.
const flagColumn = 26

// printFlag prints a flag and its text, in lines of at most HelpWidth characters.
func printFlag(w io.Writer, f *pflag.Flag) {
	alone := pflag.NewFlagSet("", pflag.ContinueOnError)
	alone.AddFlag(f)
	name, text, _ := strings.Cut(strings.TrimSpace(alone.FlagUsages()), "   ")
	io.WriteString(w, Wrapped(fmt.Sprintf("%-*s", flagColumn, "  "+name+"  "), flagColumn, HelpWidth, text))
}

// Wrapped returns the words of a text behind the beginning of a line, in lines of at most width characters that go on in
// column indent.
func Wrapped(line string, indent, width int, text string) string {
	var b strings.Builder
	for _, word := range strings.Fields(text) {
		if len([]rune(line))+len([]rune(word)) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", indent)
		}
		line += word + " "
	}
	return b.String() + strings.TrimRight(line, " ") + "\n"
}

// Group makes a command that only holds other commands.
func Group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use + " COMMAND", Short: short, Long: long,
		Args: NoCommand,
		RunE: func(*cobra.Command, []string) error { return nil }, // cobra checks Args of runnable commands only
	}
}

// NoCommand returns the error for arguments that name no command of a group. It lists
// the commands of the group.
func NoCommand(c *cobra.Command, args []string) error {
	var names, work []string // all commands, and all but help and completion
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			work = append(work, sub.Name())
		}
	}
	if len(args) == 0 {
		return WrongUse("%s needs a command: %s (see %[1]s --help)", c.CommandPath(), strings.Join(work, ", "))
	}
	wrong := WrongUse("no command %q; there are: %s (see %s --help)", args[0], strings.Join(work, ", "), c.CommandPath())
	for _, sub := range c.Commands() {
		for _, below := range sub.Commands() {
			if below.Name() == args[0] {
				return fmt.Errorf("%w; did you mean %s %s?", wrong, sub.Name(), args[0])
			}
		}
	}
	return Unknown(wrong, args[0], names)
}

// Takes checks the number of arguments by their names: "GAME" stands for one argument,
// "FILE…" for one or more, "[GAME]" for at most one.
func Takes(names ...string) cobra.PositionalArgs {
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
		return WrongUse("%s takes %s, found %d: %q (see %[1]s --help)", c.CommandPath(), want, len(args), args)
	}
}

// FlagError returns the usage error for a flag that could not be read.
func FlagError(c *cobra.Command, err error) error {
	wrong := WrongUse("%w (see %s --help)", err, c.CommandPath())
	var none *pflag.NotExistError
	if !errors.As(err, &none) {
		return wrong
	}
	word := unknownError{error: wrong, word: "--" + none.GetSpecifiedName()}
	if letters := none.GetSpecifiedShortnames(); letters != "" {
		word.word = "-" + letters // -seed for --seed
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			word.known = append(word.known, "--"+f.Name)
		}
	})
	return word
}
