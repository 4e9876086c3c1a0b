package arena_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/filelock"
)

// TestJournalWithoutFlock: where flock is missing, a lock file keeps other programs out of an open
// journal.
func TestJournalWithoutFlock(t *testing.T) {
	t.Parallel() // it waits for a lock
	locks := &filelock.Locker{Flock: func(*os.File, bool) error { return syscall.ENOLCK }}
	name := filepath.Join(t.TempDir(), "games.jsonl")
	j, err := arena.OpenJournal(name, terms, locks)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []*filelock.Locker{locks, nil} {
		if _, err := arena.OpenJournal(name, terms, other); err == nil || !strings.Contains(err.Error(), "another tournament is writing to it (process ") {
			t.Errorf("opened twice: %v", err)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if j, err = arena.OpenJournal(name, terms, locks); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if names, _ := filepath.Glob(name + "*"); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
}
