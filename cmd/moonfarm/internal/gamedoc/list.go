package gamedoc

import (
	"fmt"
	"strings"
)

// Listed formats an entry of a list in a help text: a name, and beside it, from
// column indent on, a text in lines of at most 80 characters.
func Listed(name string, indent int, text string) string {
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
