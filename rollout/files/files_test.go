package files_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/files"
)

// put writes a text to a file.
func put(name, text string) error {
	return files.Write(name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// holds checks the text of a file, and that the folder has the names.
func holds(t *testing.T, file, text, dir string, names ...string) {
	t.Helper()
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, text, string(got))
	var there []string
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		there = append(there, e.Name())
	}
	assert.ElementsMatch(t, names, there)
}

// TestWrite: a new file, a longer name than which no file has, an old file, and failures that leave nothing.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("n", 251) + ".txt"
	file := filepath.Join(dir, long)
	require.NoError(t, put(file, "one"))
	require.NoError(t, put(file, "two"))
	holds(t, file, "two", dir, long)
	stop := errors.New("stop")
	for _, name := range []string{file, filepath.Join(dir, "new")} {
		require.ErrorIs(t, files.Write(name, func(w io.Writer) error {
			_, err := io.WriteString(w, "part")
			return errors.Join(err, stop)
		}), stop)
	}
	holds(t, file, "two", dir, long)
	require.NoError(t, os.Chmod(file, 0o444))
	called := func(io.Writer) error { t.Error("writes a file that it must not write"); return nil }
	for _, name := range []string{file, dir, filepath.Join(dir, "none", "file"), filepath.Join(dir, long+"n"), filepath.Join(file, "below")} {
		err := files.Write(name, called)
		require.ErrorContains(t, err, name)
		assert.NotContains(t, err.Error(), ".moonfarm-")
		assert.EqualError(t, files.Check(name), err.Error(), "Check finds the error before")
	}
	require.NoError(t, files.Check(filepath.Join(dir, "new")))
	holds(t, file, "two", dir, long)
}

// TestWriteAtOnce: of several writers of a file or folder each succeeds, and the result is that of one of them.
func TestWriteAtOnce(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	var all sync.WaitGroup
	for i := range 8 {
		text := strings.Repeat(string(rune('a'+i)), 1+i*1000)
		all.Go(func() {
			for range 20 {
				assert.NoError(t, put(file, text))
				assert.NoError(t, files.WriteFolder(folder, func() error { return nil }, func(create func(string) (io.WriteCloser, error)) error {
					for _, name := range []string{"x", "y/z"} {
						f, err := create(name)
						if err != nil {
							return err
						}
						_, err = io.WriteString(f, text)
						if err = errors.Join(err, f.Close()); err != nil {
							return err
						}
					}
					return nil
				}))
			}
		})
	}
	all.Wait()
	for _, name := range []string{"file", "folder/x", "folder/y/z"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NotEmpty(t, text)
		assert.Equal(t, strings.Repeat(string(text[:1]), 1+int(text[0]-'a')*1000), string(text), name)
	}
	holds(t, filepath.Join(folder, "x"), string(must(os.ReadFile(filepath.Join(folder, "y/z")))), dir, "file", "folder")
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// TestWriteFolder: a folder that may not be replaced and a failure leave the old folder.
func TestWriteFolder(t *testing.T) {
	dir, stop := t.TempDir(), errors.New("stop")
	folder := filepath.Join(dir, "folder")
	write := func(text string, err error) func(create func(string) (io.WriteCloser, error)) error {
		return func(create func(string) (io.WriteCloser, error)) error {
			f, failed := create("x")
			require.NoError(t, failed)
			_, failed = io.WriteString(f, text)
			require.NoError(t, errors.Join(failed, f.Close()))
			return err
		}
	}
	yes, no := func() error { return nil }, func() error { return stop }
	require.NoError(t, files.WriteFolder(folder, no, write("one", nil)))
	require.NoError(t, os.Chmod(folder, 0o750))
	require.ErrorIs(t, files.WriteFolder(folder, no, write("two", nil)), stop)
	require.ErrorIs(t, files.WriteFolder(folder, yes, write("two", stop)), stop)
	holds(t, filepath.Join(folder, "x"), "one", dir, "folder")
	require.NoError(t, files.WriteFolder(folder, yes, write("two", nil)))
	holds(t, filepath.Join(folder, "x"), "two", dir, "folder")
	s, err := os.Stat(folder)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o750), s.Mode().Perm())
	require.NoError(t, put(filepath.Join(dir, "file"), "text"))
	require.Error(t, files.WriteFolder(filepath.Join(dir, "file"), yes, write("two", nil)))
	holds(t, filepath.Join(dir, "file"), "text", dir, "file", "folder")
}

// TestRemoveLeft: what killed writers have left goes, and nothing else.
func TestRemoveLeft(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".moonfarm-0123456789abcdef", "x"), 0o777))
	for _, name := range []string{".moonfarm-fedcba9876543210", ".moonfarm-lock", "file"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o666))
	}
	require.NoError(t, files.RemoveLeft(dir))
	holds(t, filepath.Join(dir, "file"), "text", dir, ".moonfarm-lock", "file")
	require.ErrorIs(t, files.RemoveLeft(filepath.Join(dir, "none")), fs.ErrNotExist)
}
