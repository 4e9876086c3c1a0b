package towerdefence

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
