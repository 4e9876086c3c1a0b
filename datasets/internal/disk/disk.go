// Package disk writes and reads the files of a dataset's folder.
//
// Nothing partly written ever bears its final name: a file is written beside
// it, with TempSuffix, synced and renamed. What is read must be a regular file,
// for a folder that comes from elsewhere may hold pipes and devices.
package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"os"
	"path/filepath"
)

// Disk changes what is on the disk.
type Disk struct {
	// Fault, if not nil, is asked before everything that changes the disk and
	// may refuse it: tests stop a run at every step with it.
	Fault func(op, path string) error
}

// TempSuffix ends the names of files that are not yet complete.
const TempSuffix = ".tmp"

func (d Disk) may(op, path string) error {
	if d.Fault == nil {
		return nil
	}
	return d.Fault(op, path)
}

// Mkdir makes a folder and those above it, unless they are there.
func (d Disk) Mkdir(path string) error {
	if err := d.may("mkdir", path); err != nil {
		return err
	}
	return os.MkdirAll(path, 0o777)
}

// Remove removes a file or an empty folder.
func (d Disk) Remove(path string) error {
	if err := d.may("remove", path); err != nil {
		return err
	}
	return os.Remove(path)
}

// Sync makes renames in the folder durable.
func (d Disk) Sync(dir string) error {
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

// File is a file that is being written. It counts and sums its bytes.
type File struct {
	Sum
	disk Disk
	path string // the final one
	f    *os.File
}

// Create begins a file that is to become path.
func (d Disk) Create(path string) (*File, error) {
	if err := d.may("create", path); err != nil {
		return nil, err
	}
	f, err := os.Create(path + TempSuffix)
	if err != nil {
		return nil, err
	}
	return &File{Sum: NewSum(), disk: d, path: path, f: f}, nil
}

// Write appends to the file.
func (f *File) Write(b []byte) (int, error) {
	if err := f.disk.may("write", f.path); err != nil {
		return 0, err
	}
	n, err := f.f.Write(b)
	_, _ = f.Sum.Write(b[:n]) // cannot fail
	return n, err
}

// Close makes the content durable; the file still has its temporary name.
func (f *File) Close() error {
	err := f.disk.may("fsync", f.path)
	if err == nil {
		err = f.f.Sync()
	}
	if e := f.f.Close(); err == nil {
		err = e
	}
	return err
}

// Rename gives a closed file its name.
func (f *File) Rename() error {
	if err := f.disk.may("rename", f.path); err != nil {
		return err
	}
	return os.Rename(f.path+TempSuffix, f.path)
}

// Drop closes and removes a file that is not wanted any more.
func (f *File) Drop() {
	f.f.Close() // an error changes nothing: the next run removes what is left
	if f.disk.may("drop", f.path) == nil {
		os.Remove(f.path + TempSuffix)
	}
}

// Write writes a whole file durably and gives it its name: fill writes the
// content. It returns the count and the sum of what was written.
func (d Disk) Write(path string, fill func(*File) error) (Sum, error) {
	f, err := d.Create(path)
	if err != nil {
		return Sum{}, err
	}
	if err = fill(f); err == nil {
		err = f.Close()
	}
	if err == nil {
		err = f.Rename()
	}
	if err != nil {
		f.Drop()
	}
	return f.Sum, err
}

// WriteFile writes a small file durably, with its name in the folder.
func (d Disk) WriteFile(path string, content []byte) error {
	_, err := d.Write(path, func(f *File) error {
		_, err := f.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return d.Sync(filepath.Dir(path))
}

// Sum is an io.Writer that counts and sums what is written.
type Sum struct {
	hash  hash.Hash
	Bytes uint64
}

// NewSum is the Sum of nothing yet.
func NewSum() Sum { return Sum{hash: sha256.New()} }

// Write counts and sums b, and never fails.
func (s *Sum) Write(b []byte) (int, error) {
	s.Bytes += uint64(len(b))
	return s.hash.Write(b)
}

// SHA256 is the sha256 of what was written, in hexadecimal.
func (s *Sum) SHA256() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// SHA256 is the sha256 of b, in hexadecimal.
func SHA256(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
