package players

import (
	"os"
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
