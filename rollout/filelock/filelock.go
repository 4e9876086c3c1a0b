// Package filelock keeps two programs from writing to one folder or file.
//
// A lock is flock(2), which ends with the process that holds it. Some file systems lack it, such as
// Lustre without -o flock and NFS without a lock service; so does Windows. There a lock file
// replaces it: it is created exclusively, names its maker, and is removed at the end. A lock file
// left by a process of this machine that has ended is taken over; one from another machine must be
// removed by hand.
package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
)

// Prefix begins the names of lock files in a locked folder.
const Prefix = ".moonfarm-lock"

// suffix ends the names of lock files beside a locked file.
const suffix = ".moonfarm-lock"

// ErrHeld means that another holder, in this process or another, has the lock.
var ErrHeld = errors.New("it is locked")

// HeldError is ErrHeld with the holder that the lock file names.
type HeldError struct{ File, Holder string }

// Error names the lock file and its holder.
func (h *HeldError) Error() string {
	return fmt.Sprintf("%v by %s; if that has ended, remove %s", ErrHeld, h.Holder, h.File)
}

// Is reports whether target is ErrHeld.
func (h *HeldError) Is(target error) bool { return target == ErrHeld }

// Detail returns the text of a HeldError in parentheses after a blank, and "" for other errors.
func Detail(err error) string {
	var held *HeldError
	if !errors.As(err, &held) {
		return ""
	}
	return fmt.Sprintf(" (%s; if that has ended, remove %s)", held.Holder, held.File)
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
		f, err := root.Open(".")
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
	err = l.flock(f, share)
	if err == nil {
		if err := file.others(share); err != nil {
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

// interrupts is the number of retries of a lock call that a signal interrupted.
const interrupts = 100

// flock locks an open file. An error other than ErrHeld means that flock does not work here.
func (l *Locker) flock(f *os.File, share bool) error {
	lock := l.Flock
	if lock == nil {
		lock = flock
	}
	var err error
	for range interrupts {
		if err = lock(f, share); !interrupted(err) {
			break
		}
	}
	return err
}

func (l *Locker) warn(path, file string, err error) {
	if l.Warn != nil && (hasFlock || l.Flock != nil) {
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

// with returns the lock file with another name in the same folder.
func (l lockFile) with(name string) lockFile { return lockFile{l.root, name} }

// path returns the path for messages.
func (l lockFile) path() string { return filepath.Join(l.root.Name(), l.name) }

func (l lockFile) read() ([]byte, error) {
	open := func(name string) (*os.File, error) { return files.OpenBelow(l.root, name) }
	return bounded.ReadFile(open, l.name, bounded.Config)
}

// others fails if a machine without flock has a lock file there.
func (l lockFile) others(share bool) error {
	if err := l.check(); err != nil || share {
		return err
	}
	return l.sharers()
}

// create creates the lock file, or an additional one beside it for a shared lock. Each process
// looks for the other's file after it has made its own, so at least one of two finds the other.
func (l lockFile) create(share bool) (release func(), err error) {
	me := self()
	own, text := l, me.encode()
	if share {
		own = l.with(l.name + "-" + me.Token)
	}
	for try := 0; ; try++ {
		err = own.write(text)
		if err == nil || !errors.Is(err, os.ErrExist) || try == 3 {
			break
		}
		if held := own.check(); held != nil {
			return nil, held
		}
	}
	if errors.Is(err, os.ErrExist) { // a new holder each time
		err = &HeldError{own.path(), "another program"}
	}
	if err != nil {
		return nil, err
	}
	if share {
		err = l.check()
	} else {
		err = l.sharers()
	}
	release = func() {
		if found, err := own.read(); err == nil && string(found) == text {
			own.root.Remove(own.name) // a file that remains is taken over later
		}
	}
	if err != nil {
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

// sharers fails if others share the lock.
func (l lockFile) sharers() error {
	entries, err := fs.ReadDir(l.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), l.name+"-") && !strings.HasSuffix(e.Name(), takeover) {
			if err := l.with(e.Name()).check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// check fails if there is a lock file whose maker may be running. It removes one whose maker has
// ended.
func (l lockFile) check() error {
	text, err := l.read()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil && !errors.As(err, new(*bounded.SizeError)) {
		return fmt.Errorf("the lock file %s cannot be read: %w", l.path(), err) // nobody knows whether it is held
	}
	h, known := decode(text)
	if !known {
		return &HeldError{l.path(), "a program that its lock file does not name"}
	}
	if !h.ended() {
		return &HeldError{l.path(), h.String()}
	}
	return l.remove(text)
}

// takeover is the suffix of a file that exists while a lock file is taken over.
const takeover = ".takeover"

// remove removes a stale lock file. It creates the takeover file first, so that no other process
// removes the new lock file of a faster one.
func (l lockFile) remove(stale []byte) error {
	guard := l.with(l.name + takeover)
	err := guard.write(self().encode())
	if errors.Is(err, os.ErrExist) {
		return &HeldError{guard.path(), "a program that takes over a stale lock"}
	}
	if err != nil {
		return err
	}
	text, err := l.read()
	if err == nil && string(text) == string(stale) {
		err = l.root.Remove(l.name)
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.root.Remove(guard.name))
}

// String describes the maker of a lock file and the time.
func (h holder) String() string {
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.Since.Format(time.RFC3339))
}
