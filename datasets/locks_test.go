package datasets

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/disk"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout/filelock"
)

// noFlock is a Locker for a file system without locks.
func noFlock() *filelock.Locker {
	return &filelock.Locker{Flock: func(*os.File, bool) error { return syscall.ENOLCK }}
}

// TestWithoutFlock: without locks of the file system, lock files keep other runs out
// and are removed at the end.
func TestWithoutFlock(t *testing.T) {
	j := toyJob(2, 1)
	want := generateToy(t, j, Options{Workers: 1})
	dir := filepath.Join(t.TempDir(), "data")
	o := Options{Workers: 1, Locks: noFlock()}
	release, err := disk.At(dir, dir).Lock(o.Locks, false)
	require.NoError(t, err)
	_, err = Generate(t.Context(), dir, j, toyMakers(), o)
	require.ErrorContains(t, err, dir+": another run is writing there (process ")
	_, err = OpenRun(t.Context(), dir, j, toyMakers(), o)
	require.ErrorContains(t, err, dir+": another run is writing there (process ")
	release()
	x, err := OpenRun(t.Context(), dir, j, toyMakers(), o) // its lock file exists when the run begins
	require.NoError(t, err)
	_, err = Generate(t.Context(), dir, j, toyMakers(), o)
	require.ErrorContains(t, err, "another run is writing there")
	require.NoError(t, x.Close())
	_, err = Generate(t.Context(), dir, j, toyMakers(), o)
	require.NoError(t, err)
	require.Equal(t, files(t, want), files(t, dir))
}

// readOnly is a folder on a read-only disk.
type readOnly struct{ store.Store }

func (readOnly) Create(context.Context, string) (store.File, error) { return nil, syscall.EROFS }
func (readOnly) Move(context.Context, string, string) error         { return syscall.EROFS }
func (readOnly) Remove(_ context.Context, name string) error {
	return &fs.PathError{Op: "remove", Path: name, Err: syscall.EROFS}
}

// TestCompleteReadOnly: a run finds a complete dataset complete where it cannot write
// or lock; it still refuses a dataset of another job.
func TestCompleteReadOnly(t *testing.T) {
	j := toyJob(2, 1)
	dir := generateToy(t, j, Options{Workers: 1})
	o := Options{Workers: 1, wrap: func(s store.Store) store.Store { return readOnly{s} },
		Locks: &filelock.Locker{Flock: func(*os.File, bool) error {
			t.Error("a complete dataset is locked")
			return syscall.EROFS
		}}}
	r, err := Generate(t.Context(), dir, j, toyMakers(), o)
	require.NoError(t, err)
	require.True(t, r.AlreadyComplete)
	require.Equal(t, j.Episodes, r.Manifest.Totals.Episodes)
	x, err := OpenRun(t.Context(), dir, j, toyMakers(), o)
	require.NoError(t, err)
	done, err := x.Complete(t.Context())
	require.NoError(t, err)
	require.Equal(t, j.Episodes, done.Episodes)
	require.NoError(t, x.Close())
	other := toyJob(3, 1)
	_, err = Generate(t.Context(), dir, other, toyMakers(), Options{Workers: 1})
	require.ErrorContains(t, err, "a complete dataset of another run")
}

// noFiles is a store on a machine without free file descriptors.
type noFiles struct{ store.Store }

func (noFiles) Open(_ context.Context, name string) (store.Reader, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
}

// TestVerifyShortage: an error of this machine is no problem of the dataset.
func TestVerifyShortage(t *testing.T) {
	d := opened(t, generateToy(t, toyJob(2, 1), Options{Workers: 1}))
	var shards []Shard
	for s, err := range d.Shards() {
		require.NoError(t, err)
		shards = append(shards, s)
	}
	v := &verifier{d: d}
	c, err := v.checker()
	require.NoError(t, err)
	defer c.Close()
	d.files = noFiles{d.files}
	require.NoError(t, c.shard(t.Context(), shards[0]))
	v.attached()
	require.Empty(t, v.report.Problems)
	require.ErrorIs(t, v.failed, syscall.EMFILE)
	require.Positive(t, v.bad)
}
