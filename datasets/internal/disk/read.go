package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"moonfarm/datasets/internal/store"
)

// reader is a file open for reading.
type reader struct {
	*os.File
	size int64
	name string
}

// Name implements store.Reader.
func (r reader) Name() string { return r.name }

// Size implements store.Reader.
func (r reader) Size() int64 { return r.size }

// Open implements store.Store for regular files. It refuses others, and does not wait
// for the writer of a pipe. It follows links; in an open folder, those that stay in it.
func (d *Folder) Open(_ context.Context, name string) (store.Reader, error) {
	s, err := d.stat(name) // opening a device can have effects
	if err != nil {
		return nil, err
	}
	if !s.Mode().IsRegular() {
		return nil, notRegular(d.name(name), s)
	}
	f, err := d.openFile(name, os.O_RDONLY|noWait)
	if err != nil {
		return nil, err
	}
	if s, err = f.Stat(); err == nil && !s.Mode().IsRegular() { // it may be another file by now
		err = notRegular(d.name(name), s)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return reader{f, s.Size(), d.name(name)}, nil
}

// stat describes a file or folder.
func (d *Folder) stat(name string) (os.FileInfo, error) {
	root, err := d.opened()
	if err != nil {
		return nil, err
	}
	if root == nil {
		return os.Stat(d.name(name))
	}
	s, err := root.Stat(filepath.Clean(filepath.FromSlash(name)))
	return s, d.told(err, name)
}

// openFile opens a file or folder for reading.
func (d *Folder) openFile(name string, flags int) (*os.File, error) {
	root, err := d.opened()
	if err != nil {
		return nil, err
	}
	if root == nil {
		return os.OpenFile(d.name(name), flags, 0)
	}
	f, err := root.OpenFile(filepath.Clean(filepath.FromSlash(name)), flags, 0)
	return f, d.told(err, name)
}

func notRegular(path string, s os.FileInfo) error {
	return fmt.Errorf("%s: not a regular file (%v)", path, s.Mode().Type())
}

// Each implements store.Store.
func (d *Folder) Each(_ context.Context, dir string, do func(name string) error) error {
	s, err := d.stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !s.IsDir() { // opening a pipe would wait
		return fmt.Errorf("%s: not a folder", d.name(dir))
	}
	f, err := d.openFile(dir, os.O_RDONLY)
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
