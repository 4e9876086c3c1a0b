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
func (e *HeldError) Error() string {
	return fmt.Sprintf("%v by %s; if that has ended, remove %s", ErrHeld, e.Holder, e.File)
}

// Is reports whether target is ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

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
	if l == nil {
		l = new(Locker)
	}
	if l.None {
		return func() {}, nil
	}
	s, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	file, flags := path+suffix, os.O_RDWR // NFS locks only files that are open for writing
	if s.IsDir() {
		file, flags = filepath.Join(path, Prefix), os.O_RDONLY
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	err = l.flock(f, share)
	if err == nil {
		if err := others(file, share); err != nil {
			f.Close()
			return nil, err
		}
		return func() { f.Close() }, nil
	}
	f.Close()
	if errors.Is(err, ErrHeld) {
		return nil, err
	}
	release, failed := create(file, share)
	switch {
	case failed == nil:
		l.warn(path, file, err)
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
			l.Warn(fmt.Sprintf("%s: this file system has no locks (flock: %v); the lock file %s keeps other programs out", path, err, filepath.Base(file)))
		})
	}
}

// others fails if a machine without flock has a lock file there.
func others(file string, share bool) error {
	if err := check(file); err != nil || share {
		return err
	}
	return sharers(file)
}

// create creates the lock file, or an additional one beside it for a shared lock. Each process
// looks for the other's file after it has made its own, so at least one of two finds the other.
func create(file string, share bool) (release func(), err error) {
	me := self()
	own, text := file, me.encode()
	if share {
		own += "-" + me.Token
	}
	for try := 0; ; try++ {
		err = write(own, text)
		if err == nil || !errors.Is(err, os.ErrExist) || try == 3 {
			break
		}
		if held := check(own); held != nil {
			return nil, held
		}
	}
	if errors.Is(err, os.ErrExist) { // a new holder each time
		err = &HeldError{own, "another program"}
	}
	if err != nil {
		return nil, err
	}
	if share {
		err = check(file)
	} else {
		err = sharers(file)
	}
	release = func() {
		if found, err := bounded.ReadFile(files.OpenRegular, own, bounded.Config); err == nil && string(found) == text {
			os.Remove(own) // a file that remains is taken over later
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// write creates a file exclusively.
func write(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(name)
	}
	return err
}

// sharers fails if others share the lock.
func sharers(file string) error {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(file)+"-") && !strings.HasSuffix(e.Name(), takeover) {
			if err := check(filepath.Join(filepath.Dir(file), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// check fails if there is a lock file whose maker may be running. It removes one whose maker has
// ended.
func check(file string) error {
	text, err := bounded.ReadFile(files.OpenRegular, file, bounded.Config)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	h, known := decode(text)
	if err != nil || !known {
		return &HeldError{file, "a program that its lock file does not name"}
	}
	if !h.ended() {
		return &HeldError{file, h.String()}
	}
	return remove(file, text)
}

// takeover is the suffix of a file that exists while a lock file is taken over.
const takeover = ".takeover"

// remove removes a stale lock file. It creates the takeover file first, so that no other process
// removes the new lock file of a faster one.
func remove(file string, stale []byte) error {
	guard := file + takeover
	err := write(guard, self().encode())
	if errors.Is(err, os.ErrExist) {
		return &HeldError{guard, "a program that takes over a stale lock"}
	}
	if err != nil {
		return err
	}
	text, err := bounded.ReadFile(files.OpenRegular, file, bounded.Config)
	if err == nil && string(text) == string(stale) {
		err = os.Remove(file)
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(guard))
}

// String describes the maker of a lock file and the time.
func (h holder) String() string {
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.Since.Format(time.RFC3339))
}
