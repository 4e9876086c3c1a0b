// Package disk keeps the files of a dataset in a folder.
//
// A file is written beside its name, with store.TempSuffix, synced and renamed.
// All is written below the folder as it was when the first file was written: a link
// that leads elsewhere, or another folder of its name, gets nothing. Only regular files
// are read, because a folder that comes from elsewhere may hold pipes and devices.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"moonfarm/datasets/internal/store"
	"moonfarm/rollout/filelock"
)

// Folder is a store.Store in a folder. It is opened by the first call that writes; from
// then on, links that lead out of it are followed neither to write nor to read. Several
// goroutines may use a Folder at once.
type Folder struct {
	path   string
	within string

	mu   sync.Mutex
	root *os.Root // nil until it is opened
	made []string // folders that did not exist, the innermost first
}

// At returns the folder of that path. within is a folder above it, or the path itself:
// links on the way from there to the path are followed only if they stay below within.
func At(path, within string) *Folder { return &Folder{path: path, within: within} }

// Path returns the path of the folder.
func (d *Folder) Path() string { return d.path }

func (d *Folder) name(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// open opens the folder, and makes it if create is set.
func (d *Folder) open(create bool) (*os.Root, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root != nil {
		return d.root, nil
	}
	inside, err := filepath.Rel(d.within, d.path)
	if err != nil {
		return nil, err
	}
	if create {
		if made := d.missing(); len(made) > 0 {
			d.made = made
		}
		if err := os.MkdirAll(d.within, 0o777); err != nil {
			return nil, err
		}
	}
	top, err := os.OpenRoot(d.within)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	if create {
		err = top.MkdirAll(inside, 0o777)
	}
	if err == nil {
		d.root, err = top.OpenRoot(inside)
	}
	return d.root, d.told(err, "")
}

// missing returns the folders of the path that do not exist, the innermost first.
func (d *Folder) missing() (list []string) {
	for dir := d.path; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return list
		}
		list = append(list, dir)
	}
}

// opened returns the open folder, nil if it is not open and nothing keeps readers in it.
func (d *Folder) opened() (*os.Root, error) {
	if d.within != d.path {
		return d.open(false)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.root, nil
}

// told returns an error of the open folder as package os has it, with the path of the file.
func (d *Folder) told(err error, name string) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return &fs.PathError{Op: strings.TrimSuffix(at.Op, "at"), Path: d.name(name), Err: at.Err}
	}
	if at := (*os.LinkError)(nil); errors.As(err, &at) {
		return &os.LinkError{Op: strings.TrimSuffix(at.Op, "at"), Old: d.name(at.Old), New: d.name(at.New), Err: at.Err}
	}
	return err
}

// Close closes the folder, if it is open. The next call that writes opens it again.
func (d *Folder) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root == nil {
		return nil
	}
	defer func() { d.root = nil }()
	return d.root.Close()
}

// Discard closes the folder, and removes the folders that it made, as far as they are
// empty.
func (d *Folder) Discard() error {
	err := d.Close()
	for _, dir := range d.made {
		if os.Remove(dir) != nil {
			break
		}
	}
	return err
}

// Create implements store.Store. It makes the folder of the file if needed.
func (d *Folder) Create(_ context.Context, name string) (store.File, error) {
	root, err := d.open(true)
	if err != nil {
		return nil, err
	}
	name = filepath.FromSlash(name) + store.TempSuffix
	f, err := create(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = root.MkdirAll(filepath.Dir(name), 0o777); err == nil {
			f, err = create(root, name)
		}
	}
	if err != nil {
		return nil, d.told(err, name)
	}
	return &file{Sum: store.NewSum(), dir: d, root: root, name: name, f: f}, nil
}

// create creates a file in the place of anything that has its name, such as the file of
// a run that was killed, or a link.
func create(root *os.Root, name string) (f *os.File, err error) {
	for range 2 {
		f, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		_ = root.Remove(name) // otherwise the second try fails
	}
	return f, err
}

// file is a file that is being written.
type file struct {
	store.Sum
	dir  *Folder
	root *os.Root
	name string // while it is being written
	f    *os.File
}

// Write implements store.File.
func (f *file) Write(b []byte) (int, error) {
	n, err := f.f.Write(b)
	_, _ = f.Sum.Write(b[:n]) // cannot fail
	return n, err
}

// Close implements store.File.
func (f *file) Close() error { return errors.Join(f.f.Sync(), f.f.Close()) }

// Keep implements store.File.
func (f *file) Keep(name string) error {
	return f.dir.told(f.root.Rename(f.name, filepath.FromSlash(name)), name)
}

// KeepNew implements store.File: making a link fails if the file exists. On a disk
// without links two processes may keep a file at once.
func (f *file) KeepNew(name string) error {
	err := f.root.Link(f.name, filepath.FromSlash(name))
	if err == nil {
		return f.dir.told(f.root.Remove(f.name), f.name)
	}
	if _, is := f.root.Lstat(filepath.FromSlash(name)); !errors.Is(is, fs.ErrNotExist) {
		return f.dir.told(err, name)
	}
	return f.Keep(name)
}

// Drop implements store.File.
func (f *file) Drop() {
	f.f.Close() // after an error the next run removes the file
	f.root.Remove(f.name)
}

// Move implements store.Store.
func (d *Folder) Move(_ context.Context, from, to string) error {
	root, err := d.open(false)
	if err != nil {
		return err
	}
	return d.told(root.Rename(filepath.FromSlash(from), filepath.FromSlash(to)), to)
}

// Link links a file of another folder into this one under the same name, if both are on
// one disk and it is a regular file: a link may lead elsewhere. It goes by their paths: os.Root
// links within one folder only.
func (d *Folder) Link(from *Folder, name string) error {
	root, err := d.open(true)
	if err == nil {
		err = root.MkdirAll(filepath.Dir(filepath.FromSlash(name)), 0o777)
	}
	if err != nil {
		return err
	}
	if s, err := os.Lstat(from.name(name)); err != nil || !s.Mode().IsRegular() {
		return fmt.Errorf("%s: expected a regular file: %w", from.name(name), errors.Join(err, errors.ErrUnsupported))
	}
	return os.Link(from.name(name), d.name(name))
}

// Remove implements store.Store.
func (d *Folder) Remove(_ context.Context, name string) error {
	root, err := d.open(false)
	if err == nil {
		err = d.told(root.Remove(filepath.FromSlash(name)), name)
	}
	return absent(err)
}

// absent returns nil for the error of a file that does not exist, and any other error.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Lock makes the folder if needed and keeps other runs out of it until it is released
// or the process ends; runs with share do not keep each other out. It fails if another
// run has locked the folder.
func (d *Folder) Lock(locks *filelock.Locker, share bool) (release func(), err error) {
	root, err := d.open(true)
	if err != nil {
		return nil, err
	}
	release, err = locks.LockFolder(root, share)
	if errors.Is(err, filelock.ErrHeld) {
		err = fmt.Errorf("%s: another run is writing there%s", d.path, filelock.Detail(err))
	}
	return release, err
}

// Sync implements store.Store. Some file systems, such as SMB and FUSE, can make files
// durable but not the names in a folder: then it warns.
func (d *Folder) Sync(ctx context.Context, dir string) error {
	root, err := d.open(false)
	if err != nil {
		return err
	}
	return d.syncFolder(ctx, root, dir, (*os.File).Sync)
}

func (d *Folder) syncFolder(ctx context.Context, root *os.Root, dir string, sync func(*os.File) error) error {
	f, err := root.Open(filepath.Clean(filepath.FromSlash(dir)))
	if err == nil {
		err = errors.Join(sync(f), f.Close())
	}
	if slices.ContainsFunc(noSync, func(e error) bool { return errors.Is(err, e) }) {
		store.Warn(ctx, "fsync", fmt.Sprintf("%s: this file system cannot sync folders (%v): after a power cut, files that are complete may be missing", d.name(dir), err))
		return nil
	}
	return d.told(err, dir)
}

// noSync lists the errors of file systems that cannot sync a folder, or open one to
// sync it. All other errors, such as of a full or failing disk, are returned.
var noSync = []error{syscall.EINVAL, syscall.ENOTSUP, syscall.EOPNOTSUPP, errors.ErrUnsupported, syscall.ENOSYS, syscall.EISDIR, syscall.EBADF, fs.ErrPermission}
