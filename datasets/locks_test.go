package datasets

import (
	"context"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/disk"
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

// TestCompleteReadOnly: a run finds a complete dataset complete where it cannot write
// or lock; it still refuses a dataset of another job.
func TestCompleteReadOnly(t *testing.T) {
	j := toyJob(2, 1)
	dir := generateToy(t, j, Options{Workers: 1})
	o := hook(Options{Workers: 1}, func(_ context.Context, op, name string) error {
		if op == "create" || op == "move" || op == "remove" {
			return &fs.PathError{Op: op, Path: name, Err: syscall.EROFS}
		}
		return nil
	})
	o.Locks = &filelock.Locker{Flock: func(*os.File, bool) error {
		t.Error("a complete dataset is locked")
		return syscall.EROFS
	}}
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

// noFiles is a bucket on a machine without free file descriptors.
type noFiles struct{ Bucket }

func (n noFiles) Size(ctx context.Context, key string) (int64, error) {
	if strings.Contains(key, about.StepsDir) || strings.Contains(key, about.CardName) {
		return 0, &fs.PathError{Op: "open", Path: key, Err: syscall.EMFILE}
	}
	return n.Bucket.Size(ctx, key)
}

// TestVerifyShortage: an error of this machine is no problem of the dataset.
func TestVerifyShortage(t *testing.T) {
	out := inBucket(t)
	_, err := Generate(withBuckets(t), out, toyJob(2, 1), toyMakers(), Options{Workers: 1})
	require.NoError(t, err)
	ctx := WithStores(t.Context(), Stores{"mem": func(ctx context.Context, u *url.URL) (Bucket, error) {
		b, err := memory["mem"](ctx, u)
		return noFiles{b}, err
	}})
	_, err = Verify(ctx, out, Makers{}, VerifyOptions{Workers: 1})
	require.ErrorIs(t, err, syscall.EMFILE)
}
