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

// printed is what a bot itself has printed into a log.
func printed(log string) string {
	lines := slices.DeleteFunc(strings.SplitAfter(log, "\n"), func(line string) bool { return strings.HasPrefix(line, "== ") })
	return strings.Join(lines, "")
}
