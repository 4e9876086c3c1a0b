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
	d := At(dir, dir)
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
	d := At(dir, dir)
	root, err := d.open(false)
	require.NoError(t, err)
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
			err := d.syncFolder(ctx, root, "", func(*os.File) error { return c.err })
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
		require.NoError(t, d.syncFolder(t.Context(), root, "", func(*os.File) error { return c.err }), "nobody is told")
	}
	require.ErrorIs(t, d.Sync(t.Context(), "none"), fs.ErrNotExist)
	if _, err := os.Stat("/proc/self/fd"); err == nil {
		require.NoError(t, At("/proc/self", "/proc/self").Sync(t.Context(), "fd"), "a folder of the system that has no fsync")
	}
}

// TestLinks: nothing is written through a link that leads out of the folder, nor into
// another folder that has its name by now.
func TestLinks(t *testing.T) {
	ctx, top := t.Context(), t.TempDir()
	allowed, outside := filepath.Join(top, "allowed"), filepath.Join(top, "outside")
	path := filepath.Join(allowed, "a", "data")
	require.NoError(t, os.Mkdir(outside, 0o777))
	d := At(path, allowed)
	require.ErrorIs(t, store.HasFile(ctx, d, "steps/0", 1), fs.ErrNotExist)
	require.NoError(t, store.WriteFile(ctx, d, "steps/0", []byte("0")))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "file"), []byte("theirs"), 0o666))
	if err := os.Symlink(filepath.Join(outside, "file"), filepath.Join(path, "steps", "1.tmp")); err != nil {
		t.Skip("no links here:", err)
	}
	require.NoError(t, store.WriteFile(ctx, d, "steps/1", []byte("1")), "a link in the place of a file that is being written")
	require.NoError(t, os.Symlink(outside, filepath.Join(path, "finals")))
	require.ErrorContains(t, store.WriteFile(ctx, d, "finals/0", []byte("0")), filepath.Join(path, "finals", "0.tmp"))
	require.Error(t, d.Move(ctx, "steps/1", "finals/1"))
	require.Error(t, d.Remove(ctx, "finals/file"))
	require.Error(t, store.HasFile(ctx, d, "finals/file", 6), "it is read")
	f, err := d.Create(ctx, "steps/2")
	require.NoError(t, err)

	moved := filepath.Join(top, "moved")
	require.NoError(t, os.Rename(filepath.Join(allowed, "a"), moved))
	require.NoError(t, os.Mkdir(filepath.Join(outside, "data"), 0o777))
	require.NoError(t, os.Symlink(outside, filepath.Join(allowed, "a")))
	require.NoError(t, f.Close())
	require.NoError(t, f.Keep("steps/2"), "the folder is where it was moved")
	require.NoError(t, store.WriteFile(ctx, d, "run.json", []byte("{}")))
	require.NoError(t, d.Sync(ctx, "steps"))
	require.FileExists(t, filepath.Join(moved, "data", "steps", "2"))
	require.FileExists(t, filepath.Join(moved, "data", "run.json"))
	require.NoError(t, d.Close())
	late := At(path, allowed)
	require.ErrorContains(t, store.WriteFile(ctx, late, "steps/3", nil), path)
	_, err = late.Lock(nil, false)
	require.Error(t, err)
	require.Error(t, store.HasFile(ctx, late, "steps/3", 0))
	require.NoError(t, At(outside, outside).Each(ctx, "", func(name string) error {
		require.Contains(t, []string{"file", "data"}, name)
		return nil
	}))
	require.NoError(t, At(outside, outside).Each(ctx, "data", func(name string) error { return errors.New(name) }))
	text, err := os.ReadFile(filepath.Join(outside, "file"))
	require.NoError(t, err)
	require.Equal(t, "theirs", string(text))
}

// TestDiscard: folders that were made for nothing are removed, and no others.
func TestDiscard(t *testing.T) {
	top := t.TempDir()
	path := filepath.Join(top, "a", "b", "data")
	d := At(path, path)
	release, err := d.Lock(nil, false)
	require.NoError(t, err)
	release()
	require.DirExists(t, path)
	require.NoError(t, os.WriteFile(filepath.Join(top, "a", "file"), nil, 0o666))
	require.NoError(t, d.Discard())
	require.NoDirExists(t, filepath.Join(top, "a", "b"))
	require.FileExists(t, filepath.Join(top, "a", "file"))
	there := At(top, top)
	release, err = there.Lock(nil, false)
	require.NoError(t, err)
	release()
	require.NoError(t, there.Discard())
	require.DirExists(t, top)
}

// TestRead: only regular files of the right size are read.
func TestRead(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	d := At(dir, dir)
	require.NoError(t, store.WriteFile(ctx, d, "text", []byte("abc")))
	require.NoError(t, os.Mkdir(d.name("folder"), 0o777))
	text, err := store.ReadFile(ctx, d, "text", 3)
	require.NoError(t, err)
	require.Equal(t, "abc", string(text))
	sum, err := store.SumFile(ctx, d, "text", 3)
	require.NoError(t, err)
	require.Equal(t, store.SHA256(text), sum)
	require.NoError(t, store.HasFile(ctx, d, "text", 3))
	require.ErrorContains(t, store.HasFile(ctx, d, "text", 4), d.name("text")+": 3 bytes, expected 4")
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
	dir := t.TempDir()
	d := At(dir, dir)
	const size = 1 << 40 // sparse: hours to hash
	f, err := os.Create(d.name("long"))
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
