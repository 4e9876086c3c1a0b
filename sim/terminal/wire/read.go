package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"moonfarm/sim/unzip"
)

// Reader reads a replay file line by line: the config, then the frames. It
// holds no more than one line in memory.
type Reader struct {
	Config Config // the first line; Config.Style is that of the file

	name string
	in   *bufio.Reader
	long []byte // a line longer than the buffer of in
	text []byte
	line int
	err  error
}

// NewReader opens a replay, compressed with gzip or not, and reads its config
// line. Blank lines are skipped. The name is for errors, which have the form
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
		r.Config, err = ParseConfig(r.text)
	}
	if err != nil {
		return nil, r.fail(err)
	}
	return r, nil
}

// Next reads the next frame, keeping the memory of f's lists: see ParseFrame.
// At the end of the file the error is io.EOF, whether the match was recorded to
// its end or not. After an error all further calls give the same one.
func (r *Reader) Next(f *Frame) error {
	if r.err != nil {
		return r.err
	}
	err := r.next()
	if err == nil {
		err = ParseFrame(f, r.text)
	}
	if err == io.EOF {
		r.err = io.EOF
	} else if err != nil {
		r.err = r.fail(err)
	}
	return r.err
}

// Line is the number of the last line read, from 1.
func (r *Reader) Line() int { return r.line }

// Text is the last line read, without its end, valid until the next is read.
func (r *Reader) Text() []byte { return r.text }

// fail adds to an error where it happened.
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

// readLine reads a line with its end, which the last one may not have: io.EOF
// comes with it.
func (r *Reader) readLine() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.long = r.long[:0]
		for err == bufio.ErrBufferFull && len(r.long)+len(line) <= MaxLine {
			r.long = append(r.long, line...)
			line, err = r.in.ReadSlice('\n')
		}
		r.long = append(r.long, line...)
		line = r.long
	}
	if len(line) > MaxLine {
		return nil, fmt.Errorf("expected at most %d bytes in a line, found more", MaxLine)
	}
	return line, err
}
