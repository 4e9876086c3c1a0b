package disk

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
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

// Each implements store.Store.
func (d *Folder) Each(_ context.Context, dir string, do func(name string) error) error {
	root, err := d.opened()
	if err != nil {
		return absent(err)
	}
	from := os.DirFS(filepath.Clean(d.path))
	if root != nil {
		from = root.FS()
	}
	at := path.Clean(dir)
	s, err := fs.Stat(from, at)
	if err != nil {
		return absent(d.told(err, dir))
	}
	if !s.IsDir() { // opening a pipe would wait
		return fmt.Errorf("%s: not a folder", d.name(dir))
	}
	f, err := from.Open(at)
	if err != nil {
		return d.told(err, dir)
	}
	defer f.Close()
	for {
		names, err := f.(*os.File).Readdirnames(1024)
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
