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
	"moonfarm/rollout/files"
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
	root, err := d.opened()
	if err != nil {
		return nil, err
	}
	var f *os.File
	if root == nil {
		f, err = files.OpenRegular(d.name(name))
	} else {
		f, err = files.OpenBelow(root, filepath.Clean(filepath.FromSlash(name)))
	}
	if err != nil {
		return nil, err
	}
	s, err := f.Stat()
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

// openFolder opens a folder for reading.
func (d *Folder) openFolder(name string) (*os.File, error) {
	root, err := d.opened()
	if err != nil {
		return nil, err
	}
	if root == nil {
		return os.Open(d.name(name))
	}
	f, err := root.Open(filepath.Clean(filepath.FromSlash(name)))
	return f, d.told(err, name)
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
	f, err := d.openFolder(dir)
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
