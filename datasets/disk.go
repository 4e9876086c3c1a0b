package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// disk does what is done to folders. Nothing partly written ever bears its
// final name: files are written beside it, synced and renamed.
type disk struct {
	// fault, if not nil, is asked before everything that changes the disk and
	// may refuse it: tests stop a run at every step with it.
	fault func(op, path string) error
}

// tempSuffix ends the names of files not yet complete.
const tempSuffix = ".tmp"

func (d disk) may(op, path string) error {
	if d.fault == nil {
		return nil
	}
	return d.fault(op, path)
}

func (d disk) mkdir(path string) error {
	if err := d.may("mkdir", path); err != nil {
		return err
	}
	return os.MkdirAll(path, 0o777)
}

func (d disk) remove(path string) error {
	if err := d.may("remove", path); err != nil {
		return err
	}
	return os.Remove(path)
}

// sync makes renames in the folder durable.
func (d disk) sync(dir string) error {
	if err := d.may("sync", dir); err != nil {
		return err
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// file is a file being written: what passes through is counted and summed.
type file struct {
	disk  disk
	path  string // the final one
	f     *os.File
	sum   hash.Hash
	bytes uint64
}

// create begins a file that is to become path.
func (d disk) create(path string) (*file, error) {
	if err := d.may("create", path); err != nil {
		return nil, err
	}
	f, err := os.Create(path + tempSuffix)
	if err != nil {
		return nil, err
	}
	return &file{disk: d, path: path, f: f, sum: sha256.New()}, nil
}

func (f *file) Write(b []byte) (int, error) {
	if err := f.disk.may("write", f.path); err != nil {
		return 0, err
	}
	n, err := f.f.Write(b)
	f.sum.Write(b[:n])
	f.bytes += uint64(n)
	return n, err
}

// sha256 is the sum of what was written.
func (f *file) sha256() string { return hex.EncodeToString(f.sum.Sum(nil)) }

// close makes the content durable; the file still has its temporary name.
func (f *file) close() error {
	err := f.disk.may("fsync", f.path)
	if err == nil {
		err = f.f.Sync()
	}
	if e := f.f.Close(); err == nil {
		err = e
	}
	return err
}

// rename gives a closed file its name.
func (f *file) rename() error {
	if err := f.disk.may("rename", f.path); err != nil {
		return err
	}
	return os.Rename(f.path+tempSuffix, f.path)
}

// drop closes and removes a file that is not wanted any more.
func (f *file) drop() {
	f.f.Close() // errors change nothing: what stays is swept by the next run
	if f.disk.may("drop", f.path) == nil {
		os.Remove(f.path + tempSuffix)
	}
}

// writeFile writes a whole small file durably.
func (d disk) writeFile(path string, content []byte) error {
	f, err := d.create(path)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		f.drop()
		return err
	}
	if err := f.close(); err != nil {
		f.drop()
		return err
	}
	if err := f.rename(); err != nil {
		f.drop()
		return err
	}
	return d.sync(filepath.Dir(path))
}

// summer is a sink that only counts and sums.
type summer struct {
	sum   hash.Hash
	bytes uint64
}

func newSummer() *summer { return &summer{sum: sha256.New()} }

func (s *summer) Write(b []byte) (int, error) {
	s.bytes += uint64(len(b))
	return s.sum.Write(b)
}

func (s *summer) sha256() string { return hex.EncodeToString(s.sum.Sum(nil)) }

// sumFile is the sha256 and length of a file.
func sumFile(path string) (sum string, bytes uint64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), uint64(n), err
}
