package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWriteFile: a file bears its name only when it is complete, and nothing is
// left of one that could not be written.
func TestWriteFile(t *testing.T) {
	fault := errors.New("no")
	for _, op := range []string{"mkdir", "create", "write", "fsync", "rename", "sync", "remove", ""} {
		dir := filepath.Join(t.TempDir(), "data")
		d := Disk{Fault: func(o, _ string) error {
			if o == op {
				return fault
			}
			return nil
		}}
		path := filepath.Join(dir, "text")
		err := d.Mkdir(dir)
		if err == nil {
			err = d.WriteFile(path, []byte("all of it"))
		}
		if err == nil {
			err = d.Remove(path)
		}
		if op == "" {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, fault, op)
		}
		text, err := os.ReadFile(path)
		require.Equal(t, op == "sync" || op == "remove", err == nil, op)
		require.Contains(t, []string{"", "all of it"}, string(text))
		require.NoError(t, EachName(dir, func(name string) error {
			require.Equal(t, "text", name, op)
			return nil
		}))
	}
}

// TestRead: only regular files of the right size are read.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "text")
	require.NoError(t, Disk{}.WriteFile(path, []byte("abc")))
	text, err := ReadFile(path, 3)
	require.NoError(t, err)
	require.Equal(t, "abc", string(text))
	sum, err := SumFile(t.Context(), path, 3)
	require.NoError(t, err)
	require.Equal(t, SHA256(text), sum)
	require.NoError(t, HasFile(path, 3))
	require.ErrorContains(t, HasFile(path, 4), "3 bytes, expected 4")
	require.ErrorContains(t, HasFile(dir, 3), "not a regular file")
	_, err = ReadFile(path, 2)
	require.ErrorContains(t, err, "not a file of moonfarm")
	_, err = ReadFile(dir, 1<<20)
	require.ErrorContains(t, err, "not a regular file")
	require.ErrorContains(t, EachName(path, nil), "not a folder")
	require.NoError(t, EachName(filepath.Join(dir, "none"), nil))
	stop := errors.New("stop")
	require.ErrorIs(t, EachName(dir, func(string) error { return stop }), stop)
}

// TestSumIsStopped: a file is not hashed to its end when the context is done.
func TestSumIsStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long")
	const size = 1 << 40 // sparse: hours to hash
	f, err := os.Create(path)
	require.NoError(t, err)
	if err := f.Truncate(size); err != nil {
		t.Skip("no sparse files here:", err)
	}
	require.NoError(t, f.Close())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = SumFile(ctx, path, size)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(start), 10*time.Second)
	_, err = SumFile(t.Context(), path, size-1)
	require.ErrorContains(t, err, fmt.Sprintf("%d bytes, expected %d", int64(size), int64(size-1)), "told without hashing")
}
