// Package replay reads and writes the replay files of C1 Terminal's official engine: a config
// line and then the frames of a match. It extracts the orders of a recorded match, writes the
// replay of a match that is given by its orders, and verifies recordings by playing them
// again.
package replay

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/unzip"
)

// maxBlank bounds the bytes of consecutive blank lines. A small compressed file can hold
// gigabytes of them.
const maxBlank = 1 << 16

// Reader reads a replay file line by line: the config, then the frames. It holds one line in
// memory.
type Reader struct {
	Config config.Config // the first line; Config.Style is the style of the whole file

	name string
	in   *bufio.Reader
	long []byte // a line longer than the buffer of in
	text []byte
	line int
	err  error
}

// NewReader opens a replay, compressed with gzip or not, and reads its config line. The Reader
// skips blank lines. Errors contain the name; they have the form
// "replay NAME: line N: column C: KEY: expected …, found …".
func NewReader(name string, in io.Reader) (*Reader, error) {
	text, err := unzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("replay %s: gzip: %w", name, err)
	}
	r := &Reader{name: name, in: text}
	err = r.next()
	if err == io.EOF {
		err = fmt.Errorf("expected the config, found the end of the file: %w", io.ErrUnexpectedEOF)
	}
	if err == nil {
		r.Config, err = config.Parse(r.text)
	}
	if err != nil {
		return nil, r.fail(err)
	}
	return r, nil
}

// Next reads the next frame into f and reuses the memory of its lists, as frame.Parse does. At
// the end of the file it returns io.EOF, even if the match was not recorded to its end. After
// an error all further calls return the same error.
func (r *Reader) Next(f *frame.Frame) error {
	if r.err != nil {
		return r.err
	}
	err := r.next()
	if err == nil {
		err = frame.Parse(f, r.text)
	}
	if err == io.EOF {
		r.err = io.EOF
	} else if err != nil {
		r.err = r.fail(err)
	}
	return r.err
}

// Line returns the number of the last line read, from 1.
func (r *Reader) Line() int { return r.line }

// Text returns the last line read, without the end of line. It is valid until the next line is
// read.
func (r *Reader) Text() []byte { return r.text }

// fail adds the name and the line to an error.
func (r *Reader) fail(err error) error {
	return fmt.Errorf("replay %s: line %d: %w", r.name, r.line, err)
}

// next reads the next line that is not blank into text.
func (r *Reader) next() error {
	blank := 0
	for {
		line, err := r.readLine()
		if err != nil && (err != io.EOF || len(line) == 0) {
			if err != io.EOF {
				r.line++
			}
			return err
		}
		r.line++
		size := len(line)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			r.text = line
			return nil
		}
		if blank += size; blank > maxBlank {
			return fmt.Errorf("expected a line or the end of the file, found more than %d bytes of blank lines", maxBlank)
		}
	}
}

// readLine reads a line with its end of line. If the last line of the file has no end of line,
// readLine returns it together with io.EOF.
func (r *Reader) readLine() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.long = r.long[:0]
		for err == bufio.ErrBufferFull && len(r.long)+len(line) <= frame.MaxLine {
			r.long = append(r.long, line...)
			line, err = r.in.ReadSlice('\n')
		}
		r.long = append(r.long, line...)
		line = r.long
	}
	if len(line) > frame.MaxLine {
		return nil, fmt.Errorf("expected at most %d bytes in a line, found more", frame.MaxLine)
	}
	return line, err
}
