package export

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/flate"

	"moonfarm/datasets"
	"moonfarm/datasets/internal/arrowfile"
)

// NPZ writes a compressed .npz file, as Dataset.export in Python does: an array for
// each column, and "metadata", the manifest as JSON. The arrays wait in files
// without a name in the folder temp, compressed, for as long as it is written. It
// fails if a column is wanted that is a list, or there are no rows.
func NPZ(ctx context.Context, w io.Writer, temp string, d *datasets.Dataset, o Options) (Written, error) {
	if len(o.Read.Columns) == 0 {
		all, err := d.ReadColumns(o.Read)
		if err != nil {
			return Written{}, err
		}
		for _, c := range withoutLists(all) {
			o.Read.Columns = append(o.Read.Columns, c.Name)
		}
	}
	s, err := newSource(ctx, d, o)
	if err != nil {
		return Written{}, err
	}
	for _, c := range s.columns {
		if c.List {
			return Written{}, fmt.Errorf("column %q: lists are not in .npz files", c.Name)
		}
	}
	if s.rows == 0 {
		return Written{}, errors.New("there are no rows of this split or part, or none that match")
	}
	z := &npz{s: s}
	defer z.close()
	if err := z.begin(temp); err != nil {
		return Written{}, err
	}
	if err := s.each(ctx, z.add); err != nil {
		return Written{}, err
	}
	return s.written(), z.finish(w)
}

// npz is an .npz file that is being written.
type npz struct {
	s       *source
	entries []*npyEntry // one for each column
	buf     []byte
}

// npyEntry is an array, compressed into a file of its own.
type npyEntry struct {
	file  *os.File
	flate *flate.Writer
	sum   uint32
	size  uint64 // before compression
}

// newEntry makes the file of an array, which disappears when it is closed.
func newEntry(temp string) (*npyEntry, error) {
	f, err := os.CreateTemp(temp, ".moonfarm-export-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // where that cannot be done yet, close does it
	e := &npyEntry{file: f}
	e.flate, err = flate.NewWriter(f, flate.DefaultCompression)
	return e, err
}

// Write implements io.Writer.
func (e *npyEntry) Write(p []byte) (int, error) {
	e.sum = crc32.Update(e.sum, crc32.IEEETable, p)
	e.size += uint64(len(p))
	return e.flate.Write(p)
}

// begin writes the heads of all arrays.
func (z *npz) begin(temp string) error {
	for _, c := range z.s.columns {
		e, err := newEntry(temp)
		if err != nil {
			return err
		}
		z.entries = append(z.entries, e)
		if _, err := e.Write(npyHead(npyTypes[c.Type], append([]int{int(z.s.rows)}, c.Shape...))); err != nil {
			return err
		}
	}
	return nil
}

// add writes the rows of a batch.
func (z *npz) add(b *datasets.Batch) (err error) {
	for i, c := range z.s.columns {
		if z.buf, err = binary.Append(z.buf[:0], binary.LittleEndian, values(b, c.Name)); err != nil {
			return err
		}
		if _, err = z.entries[i].Write(z.buf); err != nil {
			return err
		}
	}
	return nil
}

// finish puts the arrays into one file.
func (z *npz) finish(w io.Writer) error {
	archive := zip.NewWriter(w)
	for i, c := range z.s.columns {
		e := z.entries[i]
		if err := e.flate.Close(); err != nil {
			return err
		}
		size, err := e.file.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if _, err := e.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		to, err := archive.CreateRaw(&zip.FileHeader{
			Name: c.Name + ".npy", Method: zip.Deflate, CRC32: e.sum, CompressedSize64: uint64(size), UncompressedSize64: e.size,
		})
		if err != nil {
			return err
		}
		if _, err := io.Copy(to, e.file); err != nil {
			return err
		}
	}
	if err := writeMetadata(archive, z.s.d.Manifest()); err != nil {
		return err
	}
	return archive.Close()
}

// writeMetadata writes the manifest as an array that is one text.
func writeMetadata(archive *zip.Writer, m *datasets.Manifest) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	to, err := archive.Create("metadata.npy")
	if err != nil {
		return err
	}
	letters := []rune(string(text))
	if _, err := to.Write(npyHead(fmt.Sprintf("<U%d", len(letters)), nil)); err != nil {
		return err
	}
	return binary.Write(to, binary.LittleEndian, letters)
}

// close removes the files of the arrays.
func (z *npz) close() {
	for _, e := range z.entries {
		e.file.Close()
		os.Remove(e.file.Name())
	}
}

// npyTypes are numpy's names of the types.
var npyTypes = map[arrowfile.Type]string{
	arrowfile.Uint8: "|u1", arrowfile.Int32: "<i4", arrowfile.Uint64: "<u8", arrowfile.Float32: "<f4", arrowfile.Bool: "|b1",
}

// npyHead is the head of an array in numpy's format 1.0, padded to 64 bytes.
func npyHead(descr string, shape []int) []byte {
	var sizes strings.Builder
	for _, n := range shape {
		fmt.Fprintf(&sizes, "%d,", n)
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, sizes.String())
	const before = 10 // bytes before the text
	pad := 63 - (before+len(text))%64
	head := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(head[8:], uint16(len(text)+pad+1))
	return append(head, text+strings.Repeat(" ", pad)+"\n"...)
}
