// Package bounded reads whole files into memory, each up to a limit that the
// caller sets, because files that users name may be of any size, or never end.
//
// Read compares the size of a regular file with the limit before it reads, and
// allocates memory for that size once. From a pipe, a device or a file that
// grows, it reads at most the limit and one byte.
//
// The limits: networks with their data 1 GiB; rules 16 MiB; analyses 256 MiB; configs of runners
// and of algos 1 MiB; bot.json, credentials, and each text of a Tower Defence
// match log 64 KiB. Recordings and journals are read as streams.
package bounded

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
)

// Config is the limit for configs and other small files.
const Config = 1 << 20

// SizeError means that a file is too large.
type SizeError struct {
	Size, Most int64 // in bytes; Size is −1 if it is not known
}

// Error implements error.
func (s *SizeError) Error() string {
	if s.Size < 0 {
		return fmt.Sprintf("expected at most %d bytes, found more", s.Most)
	}
	return fmt.Sprintf("expected at most %d bytes, found %d", s.Most, s.Size)
}

// Read reads all of r. It returns a *SizeError if r has more than most bytes.
// If r has a method Stat, as open files do, it checks the size first.
func Read(r io.Reader, most int64) ([]byte, error) {
	var text bytes.Buffer
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		info, err := f.Stat()
		switch {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
		case info.Size() > most:
			return nil, &SizeError{info.Size(), most}
		default:
			text.Grow(int(info.Size()) + bytes.MinRead) // bytes.MinRead: room to detect the end
		}
	}
	more, err := read(&text, r, most)
	switch {
	case err != nil:
		return nil, err
	case more:
		return nil, &SizeError{-1, most}
	}
	return text.Bytes(), nil
}

// Prefix reads at most the first most bytes of r, and reports whether there are
// more. With an error it returns the bytes that it read before.
func Prefix(r io.Reader, most int64) (text []byte, more bool, err error) {
	var b bytes.Buffer
	more, err = read(&b, r, most)
	return b.Bytes(), more, err
}

func read(text *bytes.Buffer, r io.Reader, most int64) (more bool, err error) {
	_, err = text.ReadFrom(io.LimitReader(r, most+1))
	if more = int64(text.Len()) > most; more {
		text.Truncate(int(most))
	}
	return more, err
}

// ReadFile opens and reads a file of at most most bytes. open is a
// function such as os.Open, or the method Open of an fs.FS. A *SizeError is wrapped with the name.
func ReadFile[F fs.File](open func(name string) (F, error), name string, most int64) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := Read(f, most)
	if _, large := err.(*SizeError); large {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return text, err
}
