package terminal_test

import (
	"os"
)

// long reports whether the long tests are wanted.
func long() bool { return os.Getenv("MOONFARM_LONG") == "1" }
