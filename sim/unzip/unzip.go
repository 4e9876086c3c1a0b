// Package unzip reads files that may be compressed with gzip.
package unzip

import (
	"bufio"
	"compress/gzip"
	"io"
)

// buffer is the size of the buffers in bytes.
const buffer = 1 << 16

// NewReader returns a reader of the text of r: uncompressed if r begins as a
// gzip file does, else as it is. The error is that of a damaged gzip header.
func NewReader(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, buffer)
	if magic, _ := in.Peek(2); len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, buffer), nil
}
