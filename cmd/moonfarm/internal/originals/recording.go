package originals

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
	"moonfarm/sim/unzip"
)

// Recording is an open recording: the uncompressed text of a file, or a folder.
type Recording struct {
	Game   Game
	Holds  string // what is in it: "games", or something else that can be verified
	In     io.Reader
	Folder fs.FS // nil: a file
	file   *os.File
}

// Close closes its file.
func (r *Recording) Close() {
	if r.file != nil {
		r.file.Close()
	}
}

// Open opens a recording and finds the game it is of and what it
// holds. What is neither a regular file nor a folder is refused: a pipe could
// be read but once, and never ends if nobody writes.
func Open(ctx context.Context, file string) (*Recording, error) {
	s, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: file, Err: errors.Unwrap(err)}
	case s.IsDir():
		return OpenFolder(file)
	case !s.Mode().IsRegular():
		return nil, fmt.Errorf("%s: expected a file or a folder, found a pipe, a socket or a device", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	text, err := Uncompressed(interruptibleReader{ctx, f})
	var head []byte
	if err == nil {
		if head, err = text.Peek(4096); err == io.EOF {
			err = nil
		}
	}
	if err == nil {
		for _, t := range Games {
			if holds := t.Holds(head); holds != "" {
				return &Recording{Game: t, Holds: holds, In: text, file: f}, nil
			}
		}
		if err = fmt.Errorf("not a recording of any game known here; it begins with %.40q", head); len(head) == 0 {
			err = errors.New("expected a recording, found an empty file")
		}
	}
	f.Close()
	return nil, fmt.Errorf("%s: %w", file, err)
}

// OpenFolder opens a recording that is a folder.
func OpenFolder(dir string) (*Recording, error) {
	for _, t := range Games {
		if t.Folder != nil && t.Folder.holds(os.DirFS(dir)) {
			return &Recording{Game: t, Holds: "games", Folder: os.DirFS(dir)}, nil
		}
	}
	var known []string
	for _, t := range Games {
		if t.Folder != nil {
			known = append(known, "the folder of a "+t.Folder.what+" of "+t.Game)
		}
	}
	return nil, fmt.Errorf("%s: expected a recording, or %s; it is a directory", dir, strings.Join(known, ", or "))
}

// readSmall reads a text file, or a pipe, of at most so many bytes.
func readSmall(name string, most int64) ([]byte, error) {
	text, err := bounded.ReadFile(os.Open, name, most)
	if err != nil {
		return nil, err
	}
	return texts.Unmarked(text), nil
}

// Uncompressed undoes gzip, if it is there, and skips a byte order mark.
func Uncompressed(r io.Reader) (*bufio.Reader, error) {
	in, err := unzip.NewReader(r)
	if err != nil {
		return nil, gzipError(err)
	}
	return bufio.NewReader(wholeGzip{in}), nil
}

// wholeGzip says of compressed data that ends too early what is wrong with it.
type wholeGzip struct{ io.Reader }

// Read implements io.Reader.
func (r wholeGzip) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	return n, gzipError(err)
}

// gzipError says what an early end means.
func gzipError(err error) error {
	if err == io.ErrUnexpectedEOF {
		return errors.New("the file ends in the middle of the compressed data")
	}
	return err
}

// interruptibleReader fails once the context is done.
type interruptibleReader struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r interruptibleReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}
