// Package unzip reads files that may be compressed with gzip, and text files
// with a byte order mark.
package unzip

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"

	"moonfarm/sim/texts"
)

// buffer is the size of the buffers in bytes.
const buffer = 1 << 16

// NewReader returns a reader of the text of r: decompressed if r begins as a
// gzip file, else as it is without a byte order mark. Zero bytes after the
// compressed data are padding; the reader fails on anything else there.
// NewReader fails if the gzip header is damaged.
func NewReader(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, buffer)
	if isGzip(in) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		z.Multistream(false)
		in = bufio.NewReaderSize(&members{in: in, z: z}, buffer)
	}
	if first, _ := in.Peek(1); len(first) == 1 && first[0] == texts.Mark[0] {
		if head, _ := in.Peek(len(texts.Mark) + 1); texts.MarkedText(head) {
			in.Discard(len(texts.Mark)) // the mark was read already, so this cannot fail
		}
	}
	return in, nil
}

// isGzip reports whether a gzip file follows.
func isGzip(in *bufio.Reader) bool {
	magic, _ := in.Peek(2)
	return len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b
}

// members reads the members of a gzip file, each followed by zero bytes or
// none.
type members struct {
	in  *bufio.Reader
	z   *gzip.Reader // of the current member
	err error        // returned by all further reads
}

// Read implements io.Reader.
func (m *members) Read(p []byte) (n int, err error) {
	for m.err == nil && n == 0 && len(p) > 0 {
		if n, m.err = m.z.Read(p); m.err == io.EOF {
			m.err = m.next()
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, m.err
}

// next begins the next member. It returns io.EOF if there is none.
func (m *members) next() error {
	for {
		first, err := m.in.ReadByte()
		if err != nil {
			return err // usually io.EOF
		}
		if first == 0 {
			continue
		}
		if err := m.in.UnreadByte(); err != nil {
			return err
		}
		if !isGzip(m.in) {
			head, _ := m.in.Peek(16)
			return fmt.Errorf("expected the end of the file, zero bytes or more gzip data behind the compressed data, found %q", head)
		}
		if err := m.z.Reset(m.in); err != nil {
			return err
		}
		m.z.Multistream(false)
		return nil
	}
}
