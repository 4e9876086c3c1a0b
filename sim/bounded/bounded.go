// Package bounded reads whole files into memory, each up to a limit that the caller sets:
// files that users name may be of any size, or never end.
//
// The size of a regular file is compared with the limit before any of it is read, and
// memory is taken for that size once. Of a pipe, a device or a file that grows at most the
// limit and one byte is read.
//
// The limits: networks with their data 1 GiB; rules 16 MiB; configs of runners and of
// algos, and users of the farm, 1 MiB; bot.json, credentials, and each text of a Tower
// Defence match log 64 KiB; passwords 4 KiB. Recordings and journals are read as streams.
package bounded

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
)

// Config is the limit for configs and other small files.
const Config = 1 << 20

// SizeError tells of a file that is too large.
type SizeError struct {
	Size, Most int64 // bytes; a Size of −1 is not known
}

// Error implements error.
func (e *SizeError) Error() string {
	if e.Size < 0 {
		return fmt.Sprintf("expected at most %d bytes, found more", e.Most)
	}
	return fmt.Sprintf("expected at most %d bytes, found %d", e.Most, e.Size)
}

// Read reads all of r, which has at most so many bytes; else the error is a *SizeError.
// Of a reader with the method Stat, such as an open file, the size is looked at first.
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
			text.Grow(int(info.Size()) + bytes.MinRead) // with room to find the end
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

// Prefix reads the first bytes of r, so many at most, and reports whether there are more.
// What was read before an error is returned with it.
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

// ReadFile reads the file of a name, which has at most so many bytes. open is os.Open, or
// the method Open of an fs.FS. A *SizeError has the name in front.
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
