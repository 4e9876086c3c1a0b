package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"moonfarm/datasets/internal/store"
)

// reader is a file open for reading.
type reader struct {
	*os.File
	size int64
}

// Size implements store.Reader.
func (r reader) Size() int64 { return r.size }

// Open implements store.Store for regular files. It refuses others, and does not wait
// for the writer of a pipe. It follows links.
func (d Folder) Open(_ context.Context, name string) (store.Reader, error) {
	path := d.path(name)
	s, err := os.Stat(path) // opening a device can have effects
	if err != nil {
		return nil, err
	}
	if !s.Mode().IsRegular() {
		return nil, notRegular(path, s)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	if s, err = f.Stat(); err == nil && !s.Mode().IsRegular() { // it may be another file by now
		err = notRegular(path, s)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return reader{f, s.Size()}, nil
}

func notRegular(path string, s os.FileInfo) error {
	return fmt.Errorf("%s: not a regular file (%v)", path, s.Mode().Type())
}

// Each implements store.Store.
func (d Folder) Each(_ context.Context, dir string, do func(name string) error) error {
	path := d.path(dir)
	s, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !s.IsDir() { // opening a pipe would wait
		return fmt.Errorf("%s: not a folder", path)
	}
	f, err := os.Open(path)
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
