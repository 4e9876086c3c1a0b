// Package disk keeps the files of a dataset in a folder.
//
// A file is written beside its name, with store.TempSuffix, synced and renamed.
// Only regular files are read, because a folder that comes from elsewhere may
// hold pipes and devices.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"moonfarm/datasets/internal/store"
	"moonfarm/rollout/filelock"
)

// Folder is a store.Store in the folder of that path.
type Folder string

func (d Folder) path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

// Create implements store.Store. It makes the folder of the file if needed.
func (d Folder) Create(_ context.Context, name string) (store.File, error) {
	path := d.path(name) + store.TempSuffix
	f, err := os.Create(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
			f, err = os.Create(path)
		}
	}
	if err != nil {
		return nil, err
	}
	return &file{Sum: store.NewSum(), dir: d, f: f}, nil
}

// file is a file that is being written.
type file struct {
	store.Sum
	dir Folder
	f   *os.File
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
func (f *file) Keep(name string) error { return os.Rename(f.f.Name(), f.dir.path(name)) }

// KeepNew implements store.File: making a link fails if the file exists. On a disk
// without links two processes may keep a file at once.
func (f *file) KeepNew(name string) error {
	path := f.dir.path(name)
	err := os.Link(f.f.Name(), path)
	if err == nil {
		return os.Remove(f.f.Name())
	}
	if _, is := os.Lstat(path); !errors.Is(is, fs.ErrNotExist) {
		return err
	}
	return os.Rename(f.f.Name(), path)
}

// Drop implements store.File.
func (f *file) Drop() {
	f.f.Close() // after an error the next run removes the file
	os.Remove(f.f.Name())
}

// Move implements store.Store.
func (d Folder) Move(_ context.Context, from, to string) error {
	return os.Rename(d.path(from), d.path(to))
}

// Link links a file of another folder into this one under the same name, if both are on
// one disk.
func (d Folder) Link(from Folder, name string) error {
	if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o777); err != nil {
		return err
	}
	return os.Link(from.path(name), d.path(name))
}

// Remove implements store.Store.
func (d Folder) Remove(_ context.Context, name string) error {
	if err := os.Remove(d.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Lock makes the folder if needed and keeps other runs out of it until it is released
// or the process ends; runs with share do not keep each other out. It fails if another
// run has locked the folder.
func (d Folder) Lock(locks *filelock.Locker, share bool) (release func(), err error) {
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return nil, err
	}
	release, err = locks.Lock(string(d), share)
	if errors.Is(err, filelock.ErrHeld) {
		err = fmt.Errorf("%s: another run is writing there%s", d, filelock.Detail(err))
	}
	return release, err
}

// Sync implements store.Store. Some file systems, such as SMB and FUSE, can make files
// durable but not the names in a folder: then it warns.
func (d Folder) Sync(ctx context.Context, dir string) error {
	return syncFolder(ctx, d.path(dir), (*os.File).Sync)
}

func syncFolder(ctx context.Context, path string, sync func(*os.File) error) error {
	f, err := os.Open(path)
	if err == nil {
		err = errors.Join(sync(f), f.Close())
	}
	if slices.ContainsFunc(noSync, func(e error) bool { return errors.Is(err, e) }) {
		store.Warn(ctx, "fsync", fmt.Sprintf("%s: this file system cannot sync folders (%v): after a power cut, files that are complete may be missing", path, err))
		return nil
	}
	return err
}

// noSync lists the errors of file systems that cannot sync a folder, or open one to
// sync it. All other errors, such as of a full or failing disk, are returned.
var noSync = []error{syscall.EINVAL, syscall.ENOTSUP, syscall.EOPNOTSUPP, errors.ErrUnsupported, syscall.ENOSYS, syscall.EISDIR, syscall.EBADF, fs.ErrPermission}
