package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"moonfarm/datasets/internal/store"
	"moonfarm/rollout/files"
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
	f, err := files.OpenRegular(d.path(name))
	if err != nil {
		return nil, err
	}
	s, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return reader{f, s.Size()}, nil
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
