//go:build unix

package datasets

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
)

// TestOnlyRegularFiles puts pipes, devices, folders, and links to them, in the places
// of files: every reader returns an error and waits for nobody.
func TestOnlyRegularFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o666))
	kinds := map[string]func(path string) error{
		"pipe":           func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"link to a pipe": func(path string) error { return os.Symlink(pipe, path) },
		"device":         func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder":         func(path string) error { return os.Mkdir(path, 0o777) },
	}
	for kind, put := range kinds {
		for _, name := range []string{about.ManifestName, about.PathOf(about.IndexDir, 0), about.PathOf(about.StepsDir, 1), about.PathOf(about.EpisodesDir, 1)} {
			dir := generateToy(t, toyJob(2, 1), Options{})
			path := filepath.Join(dir, name)
			require.NoError(t, os.Remove(path))
			require.NoError(t, put(path))
			done := make(chan struct{})
			go func() {
				defer close(done)
				all := ""
				r, err := Verify(t.Context(), dir, Makers{}, VerifyOptions{})
				if err == nil {
					for _, p := range r.Problems {
						all += p
					}
					_, err = Open(dir)
				}
				if err != nil {
					all += err.Error()
				}
				if d, err := Open(dir); err == nil {
					for _, err := range d.Batches(ReadOptions{}) {
						if err != nil {
							all += err.Error()
						}
					}
				}
				if _, err := Generate(t.Context(), dir, toyJob(2, 1), toyMakers(), Options{}); name == about.ManifestName && err == nil {
					all = "a file that is no manifest was read as one"
				}
				if want := path + ": expected a file, found a "; !strings.Contains(all, want) {
					t.Errorf("%s for %s: %q, want %q", kind, name, all, want)
				}
			}()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				t.Fatalf("a %s for %s: still waiting", kind, name)
			}
		}
	}
	dir := half(t, toyJob(2, 1), toyMakers()) // it has files that only a run reads
	for _, name := range []string{about.RunName, about.PathOf(about.ShardsDir, 0), about.PathOf(about.StepsDir, 0)} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.Rename(path, path+"x"))
		require.NoError(t, syscall.Mkfifo(path, 0o666))
		requireRefused(t, dir, toyJob(2, 1), "expected a file, found a pipe")
		require.NoError(t, os.Rename(path+"x", path))
	}
	link := generateToy(t, toyJob(2, 1), Options{}) // links to files are followed
	path := filepath.Join(link, about.PathOf(about.StepsDir, 1))
	require.NoError(t, os.Rename(path, filepath.Join(filepath.Dir(pipe), "moved")))
	require.NoError(t, os.Symlink(filepath.Join(filepath.Dir(pipe), "moved"), path))
	requireSound(t, link, Makers{}, VerifyOptions{})
}
