package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a regular file to read and returns its size too. All else is
// refused, and not waited for as one would for the writer of a pipe. A link is
// what it leads to.
func Open(path string) (*os.File, int64, error) {
	s, err := os.Stat(path) // opening a device can have effects
	if err != nil {
		return nil, 0, err
	}
	if !s.Mode().IsRegular() {
		return nil, 0, notRegular(path, s)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, 0, err
	}
	if s, err = f.Stat(); err == nil && !s.Mode().IsRegular() { // it may be another by now
		err = notRegular(path, s)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, s.Size(), nil
}

func notRegular(path string, s os.FileInfo) error {
	return fmt.Errorf("%s: not a regular file (%v)", path, s.Mode().Type())
}

// ReadFile reads a regular file of at most so many bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > most {
		return nil, fmt.Errorf("%s: %d bytes, not a file of moonfarm", path, size)
	}
	text := make([]byte, size)
	_, err = io.ReadFull(f, text)
	return text, err
}

// HasFile fails unless there is a regular file of that size.
func HasFile(path string, bytes uint64) error {
	s, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !s.Mode().IsRegular():
		return notRegular(path, s)
	case uint64(s.Size()) != bytes:
		return &SizeError{path, uint64(s.Size()), bytes}
	}
	return nil
}

// SumFile is the sha256 of a regular file, which must have that size. It stops
// when the context is done.
func SumFile(ctx context.Context, path string, bytes uint64) (string, error) {
	f, size, err := Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if uint64(size) != bytes {
		return "", &SizeError{path, uint64(size), bytes}
	}
	sum := NewSum()
	const chunk = 1 << 20
	for ctx.Err() == nil {
		if _, err := io.CopyN(&sum, f, chunk); err == io.EOF {
			return sum.SHA256(), nil
		} else if err != nil {
			return "", err
		}
	}
	return "", context.Cause(ctx)
}

// SizeError says that a file has another size than it should have.
type SizeError struct {
	Path      string
	Got, Want uint64
}

// Error names the file and both sizes.
func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: %d bytes, expected %d", e.Path, e.Got, e.Want)
}

// EachName calls do with every name in a folder, in any order, and holds some
// of them at a time: folders of many shards are long. A folder that is not
// there has no names.
func EachName(dir string, do func(name string) error) error {
	s, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !s.IsDir() { // to open a pipe would wait
		return fmt.Errorf("%s: not a folder", dir)
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			if err := do(name); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
