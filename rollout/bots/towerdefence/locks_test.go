package towerdefence

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/filelock"
)

// TestFolderWithoutFlock: on a file system without locks games wait for each other's folders
// all the same.
func TestFolderWithoutFlock(t *testing.T) {
	dir := t.TempDir()
	locks := &filelock.Locker{Flock: func(*os.File, bool) error { return syscall.EOPNOTSUPP }}
	f := folder{work: rootOf(t, dir), limit: 50 * time.Millisecond, locks: locks}
	release, err := f.lock(t.Context())
	require.NoError(t, err)
	_, err = f.lock(t.Context())
	require.ErrorContains(t, err, "another game has been playing in the folder "+dir+" for more than 50ms (process ")
	next := make(chan error, 1)
	go func() {
		again, err := folder{work: f.work, locks: locks}.lock(context.Background())
		if err == nil {
			again()
		}
		next <- err
	}()
	release()
	require.NoError(t, <-next)
	names, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, names)
}

// TestBlame: an error of this machine ends the match, and is no fault of the bot.
func TestBlame(t *testing.T) {
	for err, ours := range map[error]bool{syscall.ENOSPC: true, syscall.EMFILE: true, syscall.EACCES: false} {
		var why error
		s := &seatedBot{host: &host{stop: func(err error) { why = err }}}
		require.ErrorIs(t, s.blame(err), err)
		require.Equal(t, ours, errors.Is(why, bots.ErrHost), err)
	}
}
