// Package store defines how the files of a dataset are read and written, in a
// folder (package disk) or in a bucket (package bucket).
//
// Nothing partly written ever has its final name.
package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"path"
)

// Store holds the files of a dataset. Names are relative, with slashes. Errors name the
// file and its store. Several goroutines may use a Store at once.
type Store interface {
	// Open opens a file for reading. The error is fs.ErrNotExist if it does not exist.
	Open(ctx context.Context, name string) (Reader, error)
	// Each calls do with every name in a folder, "" for the top one, in any order. It
	// holds only some names at a time, because folders of many shards are long. A
	// folder that does not exist has no names.
	Each(ctx context.Context, dir string, do func(name string) error) error
	// Create begins a file, which has a temporary name, made of the given one, until it
	// is kept.
	Create(ctx context.Context, name string) (File, error)
	// Move gives a file another name.
	Move(ctx context.Context, from, to string) error
	// Remove removes a file or an empty folder, if it is there.
	Remove(ctx context.Context, name string) error
	// Sync makes changes of the names in a folder durable.
	Sync(ctx context.Context, dir string) error
}

// Reader reads a file. It is not safe for concurrent use.
type Reader interface {
	io.ReaderAt
	io.Closer
	Size() int64
	Name() string // the file and its store, for messages
}

// File is a file that is being written: it is closed and then kept, or dropped.
type File interface {
	io.Writer
	// Close makes the content durable, where the store can do that before the file has
	// its name.
	Close() error
	// Keep gives a closed file its name, or replaces the file of that name.
	Keep(name string) error
	// KeepNew is Keep for a name that no file has; otherwise the error is fs.ErrExist.
	// If several processes keep one name at once, one succeeds.
	KeepNew(name string) error
	// Drop discards a file.
	Drop()
	// SHA256 is the sha256 of what was written, in hexadecimal.
	SHA256() string
}

// TempSuffix ends the names of files that are not yet complete.
const TempSuffix = ".tmp"

// Write writes a whole file and gives it its name: fill writes the content. It returns
// the sum of the content.
func Write(ctx context.Context, s Store, name string, fill func(File) error) (sha256 string, err error) {
	return writeAs(ctx, s, name, name, File.Keep, fill)
}

func writeAs(ctx context.Context, s Store, name, begun string, keep func(f File, name string) error, fill func(File) error) (sha256 string, err error) {
	f, err := s.Create(ctx, begun)
	if err != nil {
		return "", err
	}
	if err = fill(f); err == nil {
		err = f.Close()
	}
	if err == nil {
		err = keep(f, name)
	}
	if err != nil {
		f.Drop()
	}
	return f.SHA256(), err
}

// WriteFile writes a small file durably.
func WriteFile(ctx context.Context, s Store, name string, content []byte) error {
	return WriteFileAs(ctx, s, name, name, content)
}

// WriteFileAs is WriteFile for a file that other processes may also write: it is begun
// under the name begun.
func WriteFileAs(ctx context.Context, s Store, name, begun string, content []byte) error {
	return writeFile(ctx, s, name, begun, File.Keep, content)
}

// WriteNew is WriteFileAs for a file that must not exist: otherwise the error is
// fs.ErrExist, and nothing is written.
func WriteNew(ctx context.Context, s Store, name, begun string, content []byte) error {
	return writeFile(ctx, s, name, begun, File.KeepNew, content)
}

func writeFile(ctx context.Context, s Store, name, begun string, keep func(f File, name string) error, content []byte) error {
	_, err := writeAs(ctx, s, name, begun, keep, func(w File) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return s.Sync(ctx, Dir(name))
}

// Dir returns the folder of a name, "" for the top one.
func Dir(name string) string {
	if d := path.Dir(name); d != "." {
		return d
	}
	return ""
}

// Read reads a file of at most the given size and calls take with its text. An error of
// take then names the file.
func Read(ctx context.Context, s Store, name string, most int64, take func(text []byte) error) error {
	f, err := s.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Size() > most {
		return fmt.Errorf("%s: %d bytes, not a file of moonfarm", f.Name(), f.Size())
	}
	text := make([]byte, f.Size())
	if _, err = io.ReadFull(io.NewSectionReader(f, 0, f.Size()), text); err != nil {
		return err
	}
	if err := take(text); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return nil
}

// ReadFile reads a file of at most the given size.
func ReadFile(ctx context.Context, s Store, name string, most int64) (all []byte, err error) {
	return all, Read(ctx, s, name, most, func(text []byte) error {
		all = text
		return nil
	})
}

// HasFile fails if no file of that name and size exists.
func HasFile(ctx context.Context, s Store, name string, bytes uint64) error {
	f, err := OpenSized(ctx, s, name, bytes)
	if err != nil {
		return err
	}
	return f.Close()
}

// OpenSized opens a file. It fails if the file does not have that size.
func OpenSized(ctx context.Context, s Store, name string, bytes uint64) (Reader, error) {
	f, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	if uint64(f.Size()) != bytes {
		f.Close()
		return nil, &SizeError{f.Name(), uint64(f.Size()), bytes}
	}
	return f, nil
}

// SumFile returns the sha256 of a file. It fails if the file does not have that size,
// and when the context is done.
func SumFile(ctx context.Context, s Store, name string, bytes uint64) (string, error) {
	f, err := OpenSized(ctx, s, name, bytes)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum, from := NewSum(), io.NewSectionReader(f, 0, f.Size())
	const chunk = 1 << 20
	for ctx.Err() == nil {
		if _, err := io.CopyN(&sum, from, chunk); err == io.EOF {
			return sum.SHA256(), nil
		} else if err != nil {
			return "", err
		}
	}
	return "", context.Cause(ctx)
}

// SizeError means that a file does not have the expected size.
type SizeError struct {
	Name      string
	Got, Want uint64
}

// Error names the file and both sizes.
func (s *SizeError) Error() string {
	return fmt.Sprintf("%s: %d bytes, expected %d", s.Name, s.Got, s.Want)
}

// Sum is an io.Writer that sums the written bytes.
type Sum struct{ hash hash.Hash }

// NewSum returns a Sum of no bytes.
func NewSum() Sum { return Sum{sha256.New()} }

// Write sums b, and never fails.
func (s *Sum) Write(b []byte) (int, error) { return s.hash.Write(b) }

// SHA256 is the sha256 of what was written, in hexadecimal.
func (s *Sum) SHA256() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// SHA256 is the sha256 of b, in hexadecimal.
func SHA256(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
