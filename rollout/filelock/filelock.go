// Package filelock keeps two programs from writing to one folder or file.
//
// A lock is flock(2), or LockFileEx on Windows, which ends with the process that holds it. Some file
// systems lack it, such as Lustre without -o flock and NFS without a lock service. There a lock file
// replaces it: it is created exclusively, names its maker, and is removed at the end. Linux takes
// over the one that a killed process of this machine has left; any other must be removed by hand.
package filelock

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
)

// Prefix begins the names of lock files in a locked folder.
const Prefix = ".moonfarm-lock"

// suffix ends the names of lock files beside a locked file.
const suffix = Prefix

// ErrHeld means that another holder, in this process or another, has the lock.
var ErrHeld = errors.New("it is locked")

// heldError is ErrHeld with the maker of a lock file, and what to do about it.
type heldError string

// Error names the lock file and its maker.
func (h heldError) Error() string { return ErrHeld.Error() + Detail(h) }

// Is reports whether target is ErrHeld.
func (h heldError) Is(target error) bool { return target == ErrHeld }

// Detail returns, if an error is ErrHeld because of a lock file, its maker and what to do about it,
// in parentheses after a blank, and "" for other errors.
func Detail(err error) string {
	var held heldError
	if !errors.As(err, &held) {
		return ""
	}
	return " (" + string(held) + ")"
}

// Locker locks folders and files. Its zero value and nil are ready for use. Several goroutines may
// use it at once.
type Locker struct {
	None bool              // lock nothing
	Warn func(text string) // called once if lock files replace flock; may be nil
	// Flock, if not nil, replaces flock(2) on an open file. It does not wait; it returns ErrHeld if
	// the lock is held.
	Flock func(f *os.File, share bool) error

	warned sync.Once
}

// Lock locks an existing folder or file without waiting. Holders of a shared lock do not exclude
// each other. The error is ErrHeld if the lock is held. The lock ends with release, or with the
// process.
func (l *Locker) Lock(path string, share bool) (release func(), err error) {
	s, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	dir := path
	if !s.IsDir() {
		dir = filepath.Dir(path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	var unlock func()
	if s.IsDir() {
		unlock, err = l.LockFolder(root, share)
	} else {
		open := func() (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) } // NFS locks only files that are open for writing
		unlock, err = l.lock(path, open, lockFile{root, filepath.Base(path) + suffix}, share)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return func() { unlock(); root.Close() }, nil
}

// LockFolder is Lock for an open folder, which must stay open until release is called.
func (l *Locker) LockFolder(root *os.Root, share bool) (release func(), err error) {
	open := func() (*os.File, error) {
		f, err := openFolder(root)
		if err != nil {
			err = fmt.Errorf("open %s: %w", root.Name(), errors.Unwrap(err))
		}
		return f, err
	}
	return l.lock(root.Name(), open, lockFile{root, Prefix}, share)
}

// lock locks what open opens, or makes the lock file if that cannot be locked.
func (l *Locker) lock(path string, open func() (*os.File, error), file lockFile, share bool) (release func(), err error) {
	if l == nil {
		l = new(Locker)
	}
	if l.None {
		return func() {}, nil
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	try := flock
	if l.Flock != nil {
		try = l.Flock
	}
	err = try(f, share)
	if err == nil {
		if err := file.others("", share); err != nil {
			f.Close()
			return nil, err
		}
		return func() { f.Close() }, nil
	}
	f.Close()
	if errors.Is(err, ErrHeld) {
		return nil, err
	}
	release, failed := file.create(share)
	switch {
	case failed == nil:
		l.warn(path, file.name, err)
	case !errors.Is(failed, ErrHeld):
		failed = fmt.Errorf("%s cannot be locked: flock: %w; a lock file in its place: %w; --no-lock goes on without a lock", path, err, failed)
	}
	return release, failed
}

func (l *Locker) warn(path, file string, err error) {
	if l.Warn != nil {
		l.warned.Do(func() {
			l.Warn(fmt.Sprintf("%s: this file system has no locks (flock: %v); the lock file %s keeps other programs out", path, err, file))
		})
	}
}

// lockFile is a lock file: its folder, whose links lead nowhere else, and its name there.
type lockFile struct {
	root *os.Root
	name string
}

// path returns the path for messages.
func (l lockFile) path() string { return filepath.Join(l.root.Name(), l.name) }

// form matches the text of a lock file: its maker's number, machine, time and PID namespace.
var form = regexp.MustCompile(`^(process ([0-9]+) on ([[:graph:]]+), since [[:graph:]]+)\n(?:([[:graph:]]*)\n)?$`)

// text returns the text of a lock file of this process.
func text() string {
	host, _ := os.Hostname()
	space, _ := os.Readlink("/proc/self/ns/pid") // of this container; "" without /proc
	return fmt.Sprintf("process %d on %s, since %s\n%s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339), space)
}

// ended reports whether the maker of a lock file, as form matches it, was on this machine and has
// certainly ended: nobody has its number. Windows does not tell.
func ended(maker []string) bool {
	own := form.FindStringSubmatch(text())
	if own == nil || own[4] == "" || own[3] != maker[3] || own[4] != maker[4] {
		return false
	}
	number, err := strconv.Atoi(maker[2])
	if err != nil {
		return false
	}
	p, err := os.FindProcess(number)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// takeOver removes the lock file, with the given text, of a process that has ended. Meanwhile there
// is a second file, so that no other process removes the new lock file of a faster one.
func (l lockFile) takeOver(stale []byte) error {
	guard := lockFile{l.root, l.name + ".takeover"}
	err := guard.write(text())
	if errors.Is(err, fs.ErrExist) {
		return heldError("a process that takes over its lock file; if there is none, remove " + guard.path())
	}
	if err != nil {
		return err
	}
	now, err := l.read()
	if err == nil && bytes.Equal(now, stale) {
		err = l.root.Remove(l.name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, guard.root.Remove(guard.name))
}

// others fails if there are lock files of others than own that exclude this one. A shared lock has
// lock files with longer names.
func (l lockFile) others(own string, share bool) error {
	entries, err := fs.ReadDir(l.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		other := lockFile{l.root, e.Name()}
		if other.name == own || other.name != l.name && (share || !strings.HasPrefix(other.name, l.name+"-")) {
			continue
		}
		if err := other.held(); err != nil {
			return err
		}
	}
	return nil
}

func (l lockFile) read() ([]byte, error) {
	open := func(name string) (*os.File, error) { return files.OpenBelow(l.root, name) }
	return bounded.ReadFile(open, l.name, bounded.Config)
}

// held fails if there is a lock file whose maker may be running. It removes another one.
func (l lockFile) held() error {
	text, err := l.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil && !errors.As(err, new(*bounded.SizeError)):
		return fmt.Errorf("the lock file %s cannot be read: %w", l.path(), err) // nobody knows whether it is held
	}
	maker := "a program that its lock file does not name"
	if m := form.FindStringSubmatch(string(text)); m != nil {
		if maker = m[1]; ended(m) {
			return l.takeOver(text)
		}
	}
	return heldError(fmt.Sprintf("%s; if that has ended, remove %s", maker, l.path()))
}

// create creates the lock file, or an additional one beside it for a shared lock. Each process
// looks for the other's file after it has made its own, so at least one of two finds the other.
func (l lockFile) create(share bool) (release func(), err error) {
	own, me := l, text()
	if share {
		own.name += "-" + rand.Text()
	}
	if err = own.write(me); errors.Is(err, fs.ErrExist) {
		if err = own.held(); err == nil { // any more
			err = own.write(me)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		err = ErrHeld // by a faster process
	}
	if err != nil {
		return nil, err
	}
	release = func() {
		if now, err := own.read(); err == nil && string(now) == me { // nobody has removed it by hand
			own.root.Remove(own.name)
		}
	}
	if err := l.others(own.name, share); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// write creates the file exclusively.
func (l lockFile) write(text string) error {
	w, err := l.root.OpenFile(l.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = w.WriteString(text)
	if err = errors.Join(err, w.Close()); err != nil {
		l.root.Remove(l.name)
	}
	return err
}
