// Package files opens the files that users name: for reading without waiting for somebody
// who never writes, and for writing as a whole or not at all.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Open opens a file, or a pipe such as <(command) and /dev/stdin, for reading. It refuses
// everything else, and a pipe to which nobody has written or is about to write.
func Open(name string) (fs.File, error) {
	f, err := open(name, fs.ModeNamedPipe, os.Stat, os.OpenFile)
	if err != nil {
		return nil, err
	}
	return &pipe{File: f}, nil
}

// OpenRegular opens a regular file for reading. It refuses everything else, so that it can be
// used for files that are read twice and for files in folders that come from elsewhere. It
// follows links.
func OpenRegular(name string) (*os.File, error) { return open(name, 0, os.Stat, os.OpenFile) }

// OpenBelow is OpenRegular for a name below an open folder, which it does not leave.
func OpenBelow(root *os.Root, name string) (*os.File, error) {
	return open(filepath.Join(root.Name(), name), 0, func(string) (fs.FileInfo, error) { return root.Stat(name) },
		func(_ string, flags int, mode fs.FileMode) (*os.File, error) { return root.OpenFile(name, flags, mode) })
}

// open opens a regular file, or a file of the other type, by stat and openFile.
func open(name string, other fs.FileMode, stat func(string) (fs.FileInfo, error), openFile func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	check := func(s fs.FileInfo, err error) error {
		if err != nil || s.Mode().Type() == other {
			return withPath(name, err)
		}
		return mustBeRegular(name, s)
	}
	if err := check(stat(name)); err != nil { // opening a device can have effects
		return nil, err
	}
	f, err := openFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, withPath(name, err)
	}
	if err := check(f.Stat()); err != nil { // it may be another file by now
		f.Close()
		return nil, err
	}
	return f, nil
}

// withPath returns an error of the operating system with the name that the user knows.
func withPath(name string, err error) error {
	var at *fs.PathError
	var moved *os.LinkError
	switch {
	case errors.As(err, &moved):
		return &fs.PathError{Op: moved.Op, Path: name, Err: moved.Err}
	case errors.As(err, &at) && (at.Op == "stat" || at.Op == "statat" || at.Op == "openat"):
		return &fs.PathError{Op: "open", Path: name, Err: at.Err}
	case at != nil:
		return &fs.PathError{Op: at.Op, Path: name, Err: at.Err}
	}
	return err
}

// CheckRegular returns an error for the first file that is missing or not regular, for files
// that other packages open. It skips names that are empty.
func CheckRegular(names ...string) error {
	for _, name := range names {
		if name == "" {
			continue
		}
		s, err := os.Stat(name)
		if err != nil {
			return withPath(name, err)
		}
		if err := mustBeRegular(name, s); err != nil {
			return err
		}
	}
	return nil
}

// mustBeRegular returns an error with the name if a file is not regular.
func mustBeRegular(name string, s fs.FileInfo) error {
	kind := "a device"
	switch m := s.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		kind = "a folder"
	case m&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case m&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%s: expected a file, found %s", name, kind)
}

// pipe is a file that may be a pipe. It was opened without waiting for a writer, so its end
// may come at once.
type pipe struct {
	*os.File
	begun bool
}

// Read implements io.Reader.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if n == 0 && err == io.EOF && !p.begun {
		if s, failed := p.Stat(); failed == nil && !s.Mode().IsRegular() {
			err = fmt.Errorf("%s: the pipe is empty, and nobody writes to it", p.Name())
		}
	}
	p.begun = p.begun || n > 0
	return n, err
}
