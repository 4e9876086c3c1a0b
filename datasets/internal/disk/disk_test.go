package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/store"
)

// TestWriteFile: a file gets its name only when it is kept, and a dropped file leaves
// nothing.
func TestWriteFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d := Folder(dir)
	names := func(within string) (all []string) {
		require.NoError(t, d.Each(t.Context(), within, func(name string) error {
			all = append(all, name)
			return nil
		}))
		return all
	}
	require.NoError(t, store.WriteFile(t.Context(), d, "a/text", []byte("all of it")))
	require.Equal(t, []string{"a"}, names(""))
	require.Equal(t, []string{"text"}, names("a"))
	f, err := d.Create(t.Context(), "a/more")
	require.NoError(t, err)
	_, err = f.Write([]byte("part"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.ElementsMatch(t, []string{"text", "more.tmp"}, names("a"))
	require.NoError(t, f.Keep("a/other"))
	require.ElementsMatch(t, []string{"text", "other"}, names("a"))
	require.Equal(t, store.SHA256([]byte("part")), f.SHA256())
	f, err = d.Create(t.Context(), "a/more")
	require.NoError(t, err)
	f.Drop()
	require.NoError(t, d.Move(t.Context(), "a/other", "a/text"))
	require.Equal(t, []string{"text"}, names("a"))
	require.NoError(t, d.Remove(t.Context(), "a/text"))
	require.NoError(t, d.Remove(t.Context(), "a/text"), "what is not there is removed")
	require.NoError(t, d.Sync(t.Context(), "a"))
	require.Empty(t, names("a"))
}

// TestFoldersWithoutSync: a folder that cannot be synced causes one warning; a failing
// disk is an error.
func TestFoldersWithoutSync(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		err  error
		told bool
	}{
		{syscall.EINVAL, true}, {syscall.ENOTSUP, true}, {syscall.ENOSYS, true}, {syscall.EISDIR, true}, {syscall.EACCES, true}, {syscall.EPERM, true},
		{&fs.PathError{Op: "sync", Path: dir, Err: syscall.EINVAL}, true},
		{nil, false}, {syscall.EIO, false}, {syscall.ENOSPC, false}, {fs.ErrNotExist, false},
	} {
		var told []string
		ctx := store.WithWarn(t.Context(), func(text string) { told = append(told, text) })
		for range 3 {
			err := syncFolder(ctx, dir, func(*os.File) error { return c.err })
			if c.told {
				require.NoError(t, err, "%v", c.err)
			} else {
				require.ErrorIs(t, err, c.err)
			}
		}
		if !c.told {
			require.Empty(t, told, "%v", c.err)
			continue
		}
		require.Len(t, told, 1, "%v", c.err)
		require.Contains(t, told[0], dir+": this file system cannot sync folders")
		require.NoError(t, syncFolder(t.Context(), dir, func(*os.File) error { return c.err }), "nobody is told")
	}
	require.ErrorIs(t, Folder(dir).Sync(t.Context(), "none"), fs.ErrNotExist)
	if _, err := os.Stat("/proc/self/fd"); err == nil {
		require.NoError(t, Folder("/proc/self").Sync(t.Context(), "fd"), "a folder of the system that has no fsync")
	}
}

// TestRead: only regular files of the right size are read.
func TestRead(t *testing.T) {
	d, ctx := Folder(t.TempDir()), t.Context()
	require.NoError(t, store.WriteFile(ctx, d, "text", []byte("abc")))
	require.NoError(t, os.Mkdir(d.path("folder"), 0o777))
	text, err := store.ReadFile(ctx, d, "text", 3)
	require.NoError(t, err)
	require.Equal(t, "abc", string(text))
	sum, err := store.SumFile(ctx, d, "text", 3)
	require.NoError(t, err)
	require.Equal(t, store.SHA256(text), sum)
	require.NoError(t, store.HasFile(ctx, d, "text", 3))
	require.ErrorContains(t, store.HasFile(ctx, d, "text", 4), d.path("text")+": 3 bytes, expected 4")
	require.ErrorContains(t, store.HasFile(ctx, d, "folder", 3), "expected a file, found a folder")
	require.ErrorIs(t, store.HasFile(ctx, d, "none", 3), fs.ErrNotExist)
	_, err = store.ReadFile(ctx, d, "text", 2)
	require.ErrorContains(t, err, "not a file of moonfarm")
	require.ErrorContains(t, d.Each(ctx, "text", nil), "not a folder")
	require.NoError(t, d.Each(ctx, "none", nil))
	stop := errors.New("stop")
	require.ErrorIs(t, d.Each(ctx, "", func(string) error { return stop }), stop)
}

// TestSumIsStopped: a file is not hashed to its end when the context is done.
func TestSumIsStopped(t *testing.T) {
	d := Folder(t.TempDir())
	const size = 1 << 40 // sparse: hours to hash
	f, err := os.Create(d.path("long"))
	require.NoError(t, err)
	if err := f.Truncate(size); err != nil {
		t.Skip("no sparse files here:", err)
	}
	require.NoError(t, f.Close())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = store.SumFile(ctx, d, "long", size)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(start), 10*time.Second)
	_, err = store.SumFile(t.Context(), d, "long", size-1)
	require.ErrorContains(t, err, fmt.Sprintf("%d bytes, expected %d", int64(size), int64(size-1)), "told without hashing")
}
