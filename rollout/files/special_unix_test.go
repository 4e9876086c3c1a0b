//go:build unix

package files_test

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
)

// TestWriteLinks: links stay, and what they lead to is written, whether it exists or not.
func TestWriteLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.MkdirAll(at("far/deep"), 0o777))
	require.NoError(t, os.Symlink("far/deep", at("way")))
	for _, link := range [][2]string{{"a", "far/a"}, {"b", at("far/b")}, {"c", "b"}, {"d", "way/../d"}} {
		name := link[0]
		require.NoError(t, os.Symlink(link[1], at(name)))
		for _, text := range []string{name, name + " again"} {
			require.NoError(t, put(at(name), text))
			s, err := os.Lstat(at(name))
			require.NoError(t, err)
			require.Equal(t, fs.ModeSymlink, s.Mode().Type(), name)
			real := "far/" + name
			if name == "c" {
				real = "far/b"
			}
			got, err := os.ReadFile(at(real))
			require.NoError(t, err)
			require.Equal(t, text, string(got), name)
		}
	}
	require.NoError(t, os.Symlink("loop", at("loop")))
	require.ErrorIs(t, put(at("loop"), ""), syscall.ELOOP)
	require.NoError(t, os.Symlink("none/file", at("lost")))
	require.ErrorContains(t, put(at("lost"), ""), at("lost")+": there is no folder "+at("none"))
	holds(t, at("far/a"), "a again", at("far"), "a", "b", "d", "deep")
}

// TestModes: the mode of an old file stays, and a secret is its owner's.
func TestModes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	mode := func() fs.FileMode {
		s, err := os.Stat(file)
		require.NoError(t, err)
		return s.Mode().Perm()
	}
	old := syscall.Umask(0o027)
	err := put(file, "one")
	syscall.Umask(old)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), mode())
	require.NoError(t, os.Chmod(file, 0o626))
	require.NoError(t, put(file, "two"))
	require.Equal(t, fs.FileMode(0o626), mode())
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(file, 1, 2))
		require.NoError(t, put(file, "three"))
		s, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, [2]uint32{1, 2}, [2]uint32{s.Sys().(*syscall.Stat_t).Uid, s.Sys().(*syscall.Stat_t).Gid})
	}
	require.NoError(t, files.WriteSecret(file, []byte("secret")))
	require.Equal(t, fs.FileMode(0o600), mode())
}

// TestWriteSpecial: pipes, devices and open files are written to and stay what they are, and a
// file that cannot be replaced is overwritten.
func TestWriteSpecial(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o666))
	require.NoError(t, files.Check(pipe))
	got := make(chan string)
	go func() {
		f, err := os.Open(pipe)
		assert.NoError(t, err)
		text, err := io.ReadAll(f)
		assert.NoError(t, err)
		got <- string(text)
	}()
	require.NoError(t, put(pipe, "through"))
	require.Equal(t, "through", <-got)
	require.NoError(t, put(os.DevNull, "gone"))

	f, err := os.Create(filepath.Join(dir, "open"))
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString("begun, ")
	require.NoError(t, err)
	require.NoError(t, put(fmt.Sprintf("/dev/fd/%d", f.Fd()), "continued"))
	holds(t, f.Name(), "begun, continued", dir, "open", "pipe")
	require.ErrorIs(t, put("/dev/fd/987654", ""), syscall.EBADF)
	if runtime.GOOS == "linux" { // nobody can make or rename files in /proc
		require.NoError(t, put("/proc/self/comm", "overwritten"))
		name, err := os.ReadFile("/proc/self/comm")
		require.NoError(t, err)
		require.Equal(t, "overwritten\n", string(name))
	}
}

// TestOpen: files are read, and pipes where they may be. Nobody waits for a pipe without a writer.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, put(at("file"), "text"))
	require.NoError(t, os.Mkdir(at("folder"), 0o777))
	require.NoError(t, os.Symlink("pipe", at("link")))
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o666))
	l, err := net.Listen("unix", at("socket"))
	require.NoError(t, err)
	defer l.Close()
	open := func(name string) (fs.File, error) { return files.OpenRegular(name) }
	for _, c := range []struct {
		name, want string
		open       func(string) (fs.File, error)
	}{
		{at("file"), "", files.Open}, {at("file"), "", open},
		{at("folder"), "expected a file, found a folder", files.Open}, {at("folder"), "expected a file, found a folder", open},
		{at("socket"), "expected a file, found a socket", files.Open}, {at("socket"), "expected a file, found a socket", open},
		{os.DevNull, "expected a file, found a device", files.Open}, {os.DevNull, "expected a file, found a device", open},
		{at("pipe"), "the pipe is empty, and nobody writes to it", files.Open}, {at("link"), "expected a file, found a pipe", open},
		{at("none"), "no such file", files.Open}, {at("none"), "no such file", open},
	} {
		text, err := bounded.ReadFile(c.open, c.name, 100)
		if c.want == "" {
			require.NoError(t, err)
			require.Equal(t, "text", string(text))
			continue
		}
		require.ErrorContains(t, err, c.want, c.name)
		require.ErrorContains(t, err, c.name)
	}
	w, err := os.OpenFile(at("pipe"), os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = w.WriteString("from a pipe")
	require.NoError(t, err)
	require.ErrorContains(t, files.CheckRegular("", at("file"), at("pipe")), "expected a file, found a pipe")
	f, err := files.Open(at("pipe"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, w.Close())
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "from a pipe", string(text))
}
