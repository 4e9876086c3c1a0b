package arena_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	require.NoError(t, err)
	for _, other := range []*filelock.Locker{locks, nil} {
		_, err = arena.OpenJournal(name, terms, other)
		assert.ErrorContains(t, err, "another tournament is writing to it (process ", "opened twice")
	}
	assert.NoError(t, j.Close())
	j, err = arena.OpenJournal(name, terms, locks)
	require.NoError(t, err)
	j.Close()
	names, _ := filepath.Glob(name + "*")
	assert.Len(t, names, 1, "left behind")
}
