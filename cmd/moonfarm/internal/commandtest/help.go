package commandtest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// mostHelp is the largest number of lines of a help.
const mostHelp = 80

// Help checks that every command has a description, and an example if it takes arguments.
// Lines of descriptions may have 80 characters, lines of flags the given width.
func Help(t *testing.T, root *cobra.Command, width int) {
	t.Helper()
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		if c.Short == "" || c.Long == "" {
			t.Errorf("%s: no description", c.CommandPath())
		}
		if strings.Contains(c.Use, " ") && !c.HasSubCommands() && c.Example == "" {
			t.Errorf("%s: no example", c.CommandPath())
		}
		for _, line := range strings.Split(c.Long, "\n") {
			if len([]rune(line)) > 80 {
				t.Errorf("%s: a line of %d characters: %s", c.CommandPath(), len([]rune(line)), line)
			}
		}
		_, flags, _ := strings.Cut(c.UsageString(), "\nFlags:\n")
		if n := strings.Count(c.Long+"\n\n"+c.UsageString(), "\n"); n > mostHelp {
			t.Errorf("%s: a help of %d lines, expected at most %d: longer texts belong to a page", c.CommandPath(), n, mostHelp)
		}
		for _, line := range strings.Split(flags, "\n") {
			if len([]rune(line)) > width {
				t.Errorf("%s: flags: a line of %d characters: %s", c.CommandPath(), len([]rune(line)), line)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

// Page checks that all commands and flags of a program that a page names exist, and returns
// the number of commands that it names.
func Page(t *testing.T, page, program string, root *cobra.Command) int {
	t.Helper()
	commandLine := regexp.MustCompile("(?m)(?:^|`)(?:go run ./cmd/)?" + program + "((?: [^`\n|]+)?)(?:$|[`\n|])")
	found := commandLine.FindAllStringSubmatch(page, -1)
	for _, m := range found {
		var words []string
		for _, w := range strings.Fields(m[1]) {
			words = append(words, strings.Trim(w, "[]"))
		}
		if len(words) == 0 || words[0] == "train" || words[0] == "export" { // of the Python package, whose tests check them
			continue
		}
		c, rest, err := root.Find(words)
		if err != nil || strings.HasSuffix(c.Use, " COMMAND") && words[0] != "--version" {
			t.Errorf("%s%s: no such command: %v", program, m[1], err)
			continue
		}
		for _, w := range rest {
			name, _, _ := strings.Cut(strings.TrimPrefix(w, "--"), "=")
			if strings.HasPrefix(w, "--") && c.Flags().Lookup(name) == nil {
				t.Errorf("%s%s: no flag %s", program, m[1], w)
			}
		}
	}
	return len(found)
}
