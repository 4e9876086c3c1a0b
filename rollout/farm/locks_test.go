package farm

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/filelock"
)

// TestStoreWithoutFlock: where flock is missing, a lock file keeps a second server out of a store.
func TestStoreWithoutFlock(t *testing.T) {
	locks, dir := &filelock.Locker{Flock: func(*os.File, bool) error { return syscall.ENOLCK }}, t.TempDir()
	release, err := lockDir(locks, dir)
	require.NoError(t, err)
	_, err = lockDir(locks, dir)
	require.ErrorContains(t, err, dir+": another server has its store there (process ")
	release()
	release, err = lockDir(locks, dir)
	require.NoError(t, err)
	release()
}
