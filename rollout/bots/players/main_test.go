package players

import (
	"os"
	"slices"
	"strings"
	"testing"

	"moonfarm/rollout/bots/child"
)

func TestMain(m *testing.M) {
	child.Main()
	if len(os.Args) > 2 && os.Args[1] == "bot" {
		os.Exit(botMain(os.Args[2]))
	}
	os.Exit(m.Run())
}

// printed returns the bot's own lines of a log.
func printed(log string) string {
	lines := slices.DeleteFunc(strings.SplitAfter(log, "\n"), func(line string) bool { return strings.HasPrefix(line, "== ") })
	return strings.Join(lines, "")
}
