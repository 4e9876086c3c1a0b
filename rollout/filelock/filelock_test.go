package filelock

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// without returns a Locker as on a file system whose flock fails with the error.
func without(err error) *Locker {
	return &Locker{Flock: func(*os.File, bool) error { return err }}
}

// places returns a folder and a file to lock.
func places(t *testing.T) []string {
	dir := t.TempDir()
	file := filepath.Join(dir, "journal")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	return []string{filepath.Join(dir, "."), file}
}

// lockFiles returns the lock files below the folder of a place.
func lockFiles(t *testing.T, place string) (names []string) {
	dir := place
	if s, err := os.Stat(place); err == nil && !s.IsDir() {
		dir = filepath.Dir(place)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.Contains(e.Name(), Prefix) && e.Name() != Prefix+".windows" {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}

// TestLock: flock and lock files admit the same holders at once, and leave nothing in the end.
func TestLock(t *testing.T) {
	lockers := map[string]*Locker{"flock": nil}
	for _, err := range []error{syscall.ENOLCK, syscall.EOPNOTSUPP, syscall.ENOTSUP, syscall.ENOSYS, syscall.EINTR, syscall.EINVAL, syscall.EBADF} {
		lockers[err.Error()] = without(err)
	}
	for name, l := range lockers {
		for _, place := range places(t) {
			release, err := l.Lock(place, false)
			require.NoError(t, err, name)
			for _, share := range []bool{false, true} {
				_, err := l.Lock(place, share)
				require.ErrorIs(t, err, ErrHeld, name)
			}
			release()
			first, err := l.Lock(place, true)
			require.NoError(t, err, name)
			second, err := l.Lock(place, true)
			require.NoError(t, err, name)
			first()
			_, err = l.Lock(place, false)
			require.ErrorIs(t, err, ErrHeld, name)
			second()
			release, err = l.Lock(place, false)
			require.NoError(t, err, name)
			release()
			require.Empty(t, lockFiles(t, place), name)
		}
	}
	for _, l := range []*Locker{nil, without(syscall.ENOLCK)} {
		_, err := l.Lock(filepath.Join(t.TempDir(), "none"), false)
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}

// TestHolder: a lock file names its holder, and Warn is called once.
func TestHolder(t *testing.T) {
	var told []string
	l := without(syscall.ENOLCK)
	l.Warn = func(text string) { told = append(told, text) }
	place := t.TempDir()
	release, err := l.Lock(place, false)
	require.NoError(t, err)
	defer release()
	_, err = l.Lock(place, false)
	host, _ := os.Hostname()
	for _, text := range []string{err.Error(), Detail(fmt.Errorf("in use: %w", err))} {
		require.Contains(t, text, fmt.Sprintf("process %d on %s, since 20", os.Getpid(), host))
		require.Contains(t, text, "if that has ended, remove "+filepath.Join(place, Prefix))
	}
	require.Empty(t, Detail(ErrHeld))
	other, err := l.Lock(t.TempDir(), false)
	require.NoError(t, err)
	other()
	require.Len(t, told, 1)
	require.Contains(t, told[0], place+": this file system has no locks (flock: no locks available)")
	removed := t.TempDir()
	first, err := l.Lock(removed, false)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(removed, Prefix), []byte("a new holder, since the file was removed by hand"), 0o666))
	first()
	require.FileExists(t, filepath.Join(removed, Prefix))
	_, err = (*Locker)(nil).Lock(place, false)
	require.ErrorIs(t, err, ErrHeld, "a machine with flock respects the lock file of one without")
	none, err := (&Locker{None: true}).Lock(place, false)
	require.NoError(t, err)
	none()
}

// TestLeft: a lock file that somebody has left, whole or not, keeps others out; of a shared lock, only those that want it
// alone.
func TestLeft(t *testing.T) {
	for _, l := range []*Locker{nil, without(syscall.ENOLCK)} {
		for text, maker := range map[string]string{
			"process 7 on elsewhere.example, since 2026-01-02T03:04:05Z\n": "process 7 on elsewhere.example, since 2026-01-02T03:04:05Z", "": "", "{}": "",
			"process 8 on elsewhere.example, since 2026-01-02T03:04:05Z\n\n": "process 8 on elsewhere.example, since 2026-01-02T03:04:05Z", // made without /proc
			"process 7 on \x1b[2J, since x\n":                                "", strings.Repeat("x", 1<<20): "",
		} {
			for _, name := range []string{Prefix, Prefix + "-shared"} {
				place := t.TempDir()
				file := filepath.Join(place, name)
				require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
				_, err := l.Lock(place, false)
				require.ErrorIs(t, err, ErrHeld)
				require.EqualError(t, err, "it is locked ("+cmp.Or(maker, "a program that its lock file does not name")+"; if that has ended, remove "+file+")")
				require.FileExists(t, file)
				release, err := l.Lock(place, true)
				if name == Prefix {
					require.ErrorIs(t, err, ErrHeld)
					continue
				}
				require.NoError(t, err)
				release()
			}
		}
	}
}

// TestTakeover: the lock file of a process of this machine that has ended is taken over, by one of several at a time; that of a
// process which runs, of another machine or of another container keeps others out.
func TestTakeover(t *testing.T) {
	if _, err := os.Stat("/proc/self/ns/pid"); err != nil {
		t.Skip("this system does not say in which container a process runs: lock files are removed by hand")
	}
	child := exec.Command(os.Args[0], "-test.run=^$")
	require.NoError(t, child.Run())
	own, me := text(), fmt.Sprintf("process %d on", os.Getpid())
	stale := strings.Replace(own, me, fmt.Sprintf("process %d on", child.Process.Pid), 1)
	for _, name := range []string{Prefix, Prefix + "-shared"} {
		for _, held := range []string{own, strings.Replace(stale, " on ", " on not-", 1), strings.Replace(stale, "pid:[", "pid:[9", 1), strings.SplitAfter(stale, "\n")[0]} {
			for _, l := range []*Locker{nil, without(syscall.ENOLCK)} {
				place := t.TempDir()
				file := filepath.Join(place, name)
				require.NoError(t, os.WriteFile(file, []byte(held), 0o666))
				_, err := l.Lock(place, false)
				require.ErrorIs(t, err, ErrHeld, held)
				require.ErrorContains(t, err, "remove "+file)
				require.FileExists(t, file)
			}
		}
		place := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(place, name), []byte(stale), 0o666))
		var holders, got atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 20 {
					release, err := without(syscall.ENOLCK).Lock(place, false)
					if err != nil {
						assert.ErrorIs(t, err, ErrHeld)
						continue
					}
					assert.EqualValues(t, 1, holders.Add(1), "holders")
					got.Add(1)
					holders.Add(-1)
					release()
				}
			})
		}
		all.Wait()
		require.Positive(t, got.Load())
		require.Empty(t, lockFiles(t, place))
		root, err := os.OpenRoot(place)
		require.NoError(t, err)
		newer := lockFile{root, name}
		require.NoError(t, newer.write(own))
		require.NoError(t, newer.takeOver([]byte(stale)), "another process was faster")
		require.FileExists(t, newer.path())
		require.NoError(t, root.Close())
	}
}

// TestUnreadable: an error of reading a lock file, such as too many open files, is told as it is: it
// does not say that somebody holds the lock.
func TestUnreadable(t *testing.T) {
	for _, l := range []*Locker{nil, without(syscall.ENOLCK)} {
		place := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(place, Prefix), 0o777)) // reading it fails for every account
		_, err := l.Lock(place, false)
		require.NotErrorIs(t, err, ErrHeld)
		require.ErrorContains(t, err, "the lock file "+filepath.Join(place, Prefix)+" cannot be read: ")
		require.ErrorContains(t, err, "expected a file, found a folder")
	}
}

// TestOpenFolder: the lock of an open folder is in that folder, whatever has its name by now.
func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	place, moved := filepath.Join(dir, "place"), filepath.Join(dir, "moved")
	require.NoError(t, os.Mkdir(place, 0o777))
	root, err := os.OpenRoot(place)
	require.NoError(t, err)
	defer root.Close()
	if err := os.Rename(place, moved); err != nil {
		t.Skip("an open folder cannot be renamed here:", err)
	}
	require.NoError(t, os.Mkdir(place, 0o777))
	release, err := without(syscall.ENOLCK).LockFolder(root, false)
	require.NoError(t, err)
	require.Empty(t, lockFiles(t, place))
	require.Len(t, lockFiles(t, moved), 1)
	release()
	require.Empty(t, lockFiles(t, moved))
}

// TestUnlockable: if neither lock works, the error has both reasons and names the remaining option.
func TestUnlockable(t *testing.T) {
	place := t.TempDir()
	l := without(syscall.ENOLCK)
	l.Warn = func(string) { t.Error("a warning of a lock that failed") }
	require.NoError(t, os.Mkdir(filepath.Join(place, "d"), 0o777))
	_, err := l.Lock(filepath.Join(place, "d", strings.Repeat("../d/", 10)+"x"), false)
	require.Error(t, err)
	file := filepath.Join(place, strings.Repeat("n", 250)) // too long for the suffix
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err = l.Lock(file, false)
	require.ErrorContains(t, err, "cannot be locked: flock: no locks available; a lock file in its place: ")
	require.ErrorContains(t, err, "--no-lock goes on without a lock")
	require.NotErrorIs(t, err, ErrHeld)
}
