package command

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	{"bash", func(root *cobra.Command, w io.Writer) error {
		return replaced(w, withoutPackage, func(w io.Writer) error { return root.GenBashCompletionV2(w, true) })
	}},
	{"zsh", func(root *cobra.Command, w io.Writer) error {
		return replaced(w, withoutCompinit, root.GenZshCompletion)
	}},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

// withoutPackage takes the place of the call in bash's script that needs the package bash-completion. Without it, = and :
// split words, so that they are joined here.
var withoutPackage = [2]string{`
    _get_comp_words_by_ref "$@" cur prev words cword
`, `
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local word last=""
    words=()
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ ${#words[@]} -gt 1 && -n $word && ( $word =~ ^[:=]+$ || $last =~ ^[:=]+$ ) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        last=$word
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=${words[cword-1]}
`}

// withoutCompinit takes the place of the call in zsh's script that needs compinit.
var withoutCompinit = [2]string{`
compdef _moonfarm moonfarm
`, `
if (( ! $+functions[compdef] )); then
    print -u2 "moonfarm: zsh completes nothing yet: put this into ~/.zshrc, before the line for moonfarm: autoload -U compinit; compinit"
    return 1
fi
compdef _moonfarm moonfarm
`}

// replaced writes a script in which a text is replaced.
func replaced(w io.Writer, texts [2]string, write func(io.Writer) error) error {
	var script strings.Builder
	if err := write(&script); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.Replace(script.String(), texts[0], texts[1], 1))
	return err
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
		case slices.Contains([]string{"policy", "policies", "players"}, f.Name):
			c.RegisterFlagCompletionFunc(f.Name, completePolicy(true))
		case slices.Contains([]string{"player", "ask", "hint"}, f.Name):
			c.RegisterFlagCompletionFunc(f.Name, completePolicy(false))
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

// botPrefix precedes the folder of a bot.
const botPrefix = "bot:"

// completePolicy completes policies of the game that is the first argument, or of all games if it is none, and players of
// other kinds: bot:DIR and files. list says that the value is a list with commas.
func completePolicy(list bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, text string) (found []string, _ cobra.ShellCompDirective) {
		before := ""
		if list {
			before = text[:lastItem(text)]
		}
		item := text[len(before):]
		add := func(names ...string) {
			for _, name := range names {
				if strings.HasPrefix(name, item) && !strings.Contains(name, "…") && !slices.Contains(found, before+name) {
					found = append(found, before+name)
				}
			}
		}
		games := catalog.Games()
		if i := slices.IndexFunc(games, func(g catalog.Entry) bool { return len(args) > 0 && g.Name == args[0] }); i >= 0 {
			games = games[i : i+1]
		}
		for _, g := range games {
			for _, p := range policy.Names(g.Name) {
				add(p.Name)
			}
		}
		path, isBot := strings.CutPrefix(item, botPrefix)
		switch {
		case isBot:
			add(paths(botPrefix, path, true)...)
		case len(found) == 0 && before != "": // without commas the shell completes files
			add(paths("", path, false)...)
		}
		directive := cobra.ShellCompDirectiveDefault
		if before != "" || isBot {
			directive = cobra.ShellCompDirectiveNoFileComp
		}
		if len(found) == 1 && strings.HasSuffix(found[0], "/") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return found, directive
	}
}

// lastItem returns where the last item of a list begins. Commas within parentheses belong to an item.
func lastItem(list string) (begin int) {
	depth := 0
	for i, c := range list {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			begin = i + 1
		}
	}
	return begin
}

// paths returns the files and folders, or the folders alone, whose path begins with a text, each after a prefix.
func paths(prefix, text string, folders bool) (found []string) {
	dir, begin := filepath.Split(text)
	list, _ := os.ReadDir(cmp.Or(dir, ".")) // an error means no completion
	for _, e := range list {
		s, err := os.Stat(filepath.Join(dir, e.Name()))
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(begin, ".")
		switch {
		case err != nil || hidden || !strings.HasPrefix(e.Name(), begin):
		case s.IsDir():
			found = append(found, prefix+dir+e.Name()+"/")
		case !folders:
			found = append(found, prefix+dir+e.Name())
		}
	}
	return found
}
