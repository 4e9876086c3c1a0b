package arrowfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// maxMetadata bounds a schema message, the message of a batch and the footer.
const maxMetadata = 64 << 20

// Reader reads the batches of files of one schema, one file after the other,
// and keeps its memory. Whatever the bytes are, it returns an error or what a
// Writer of the same schema may have written; it does not panic and allocates
// no more than the Table's rows can need. It does not look for changes of the
// content: checksums do. It is not safe for concurrent use.
type Reader struct {
	schema Schema
	head   []byte // of files of the schema as a Writer writes them
	codec  Codec
	unpack decompressor

	r      io.ReaderAt
	size   int64
	blocks []block

	meta  []byte
	raw   []byte
	nodes []int64
	spans []span
}

// NewReader returns a Reader. It fails on a schema that cannot be and on an
// unknown codec.
func NewReader(s Schema, c Codec) (*Reader, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	unpack, err := newDecompressor(c)
	if err != nil {
		return nil, err
	}
	return &Reader{schema: s, head: fileHead(s.Arrow()), codec: c, unpack: unpack}, nil
}

// Close lets go of the decoder.
func (r *Reader) Close() {
	if z, ok := r.unpack.(*zstdContent); ok {
		z.d.Close()
	}
}

// Open reads the head and the footer of a file of that size and tells how many
// batches it holds. It fails if the file is damaged or of another schema.
func (r *Reader) Open(f io.ReaderAt, size int64) (batches int, err error) {
	defer guard(&err)
	r.r, r.size, r.blocks = f, size, r.blocks[:0]
	head, err := r.openSchema()
	if err != nil {
		return 0, err
	}
	err = r.openFooter(head)
	return len(r.blocks), err
}

// guard turns a panic of the flatbuffers or arrow-go code, which index into
// what they are given, into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged: %v", p)
	}
}

// readAt reads n bytes into buf, enlarged if need be.
func (r *Reader) readAt(buf []byte, at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > r.size-n {
		return buf, fmt.Errorf("truncated: %d bytes at %d of a file of %d", n, at, r.size)
	}
	if int64(cap(buf)) < n {
		buf = aligned(int(n))
	}
	buf = buf[:n]
	if _, err := r.r.ReadAt(buf, at); err != nil {
		return buf, err
	}
	return buf, nil
}

// openSchema compares the schema message with the schema and returns where the
// message ends.
func (r *Reader) openSchema() (end int64, err error) {
	if r.meta, err = r.readAt(r.meta, 0, 16); err != nil {
		return 0, err
	}
	if string(r.meta[:8]) != magic+"\x00\x00" || binary.LittleEndian.Uint32(r.meta[8:]) != continuation {
		return 0, fmt.Errorf("not an Arrow file")
	}
	n := int64(binary.LittleEndian.Uint32(r.meta[12:]))
	if n > maxMetadata {
		return 0, fmt.Errorf("damaged: a schema of %d bytes", n)
	}
	if r.meta, err = r.readAt(r.meta, 8, 8+n); err != nil {
		return 0, err
	}
	if bytes.Equal(r.meta, r.head[8:]) {
		return 16 + n, nil
	}
	got, want := describe(r.meta), describe(r.head[8:])
	for i := range max(len(got), len(want)) {
		if g, w := line(got, i), line(want, i); g != w {
			return 0, fmt.Errorf("schema: found %s; expected %s", g, w)
		}
	}
	return 16 + n, nil
}

// line i, or that there is none.
func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing more"
}

// openFooter reads the places of the batches, which must lie one after the
// other from at on.
func (r *Reader) openFooter(at int64) error {
	const tail = 4 + int64(len(magic))
	var err error
	if r.meta, err = r.readAt(r.meta, r.size-tail, tail); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(r.meta))
	if string(r.meta[4:]) != magic || n < 8 || n > maxMetadata {
		return fmt.Errorf("truncated or damaged: no footer at the end")
	}
	end := r.size - tail - n
	if r.meta, err = r.readAt(r.meta, end, n); err != nil {
		return err
	}
	footer := root(r.meta)
	list, length := vector(footer, footerBatches)
	for i := range length {
		b := list[i*blockSize:]
		k := block{int64(binary.LittleEndian.Uint64(b)), int32(binary.LittleEndian.Uint32(b[8:])), int64(binary.LittleEndian.Uint64(b[16:]))}
		if k.offset != at || k.meta < 16 || k.meta > maxMetadata || k.body < 0 || k.body > end-at {
			return fmt.Errorf("damaged: batch %d lies at %d, %d and %d bytes", i, k.offset, k.meta, k.body)
		}
		r.blocks = append(r.blocks, k)
		at += int64(k.meta) + k.body
	}
	if at != end && at+int64(len(endOfStream)) != end { // some writers leave out the end of the stream
		return fmt.Errorf("damaged: batches end at %d, the footer begins at %d", at, end)
	}
	return nil
}

// root is the root table of a flatbuffer.
func root(b []byte) *flatbuffers.Table {
	return &flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
}

// slot is the place of a slot's value in the buffer, 0 if it has the default.
func slot(t *flatbuffers.Table, n flatbuffers.VOffsetT) flatbuffers.UOffsetT {
	if o := flatbuffers.UOffsetT(t.Offset(4 + 2*n)); o != 0 {
		return o + t.Pos
	}
	return 0
}

// vector returns a vector of structs: its bytes, and how many there are.
func vector(t *flatbuffers.Table, n flatbuffers.VOffsetT) ([]byte, int) {
	o := t.Offset(4 + 2*n)
	if o == 0 {
		return nil, 0
	}
	return t.Bytes[t.Vector(flatbuffers.UOffsetT(o)):], t.VectorLen(flatbuffers.UOffsetT(o))
}

// Read reads batch i into the table, which must be of the schema; columns that
// it has not are passed over. It fails, and the table is then of no use, if the
// batch is damaged or has more rows than the table has room for.
func (r *Reader) Read(i int, t *Table) (err error) {
	defer guard(&err)
	t.Reset()
	k := r.blocks[i]
	rows, err := r.batch(k)
	if err != nil {
		return err
	}
	if rows < 1 || rows > int64(t.Cap) {
		return fmt.Errorf("damaged: a batch of %d rows, expected 1 to %d", rows, t.Cap)
	}
	if len(t.Data) != len(r.schema.Columns) {
		return fmt.Errorf("a table of %d columns for a schema of %d", len(t.Data), len(r.schema.Columns))
	}
	c := cursor{r: r, body: k.offset + int64(k.meta), size: k.body, nodes: r.nodes, spans: r.spans}
	for i, d := range t.Data {
		if err := c.column(r.schema.Columns[i], d, int(rows)); err != nil {
			return fmt.Errorf("column %s: %w", r.schema.Columns[i].Name, err)
		}
	}
	if len(c.nodes)+len(c.spans) != 0 {
		return fmt.Errorf("damaged: %d fields and %d buffers too many", len(c.nodes), len(c.spans))
	}
	t.Rows = int(rows)
	return nil
}

// batch reads the message of a batch.
func (r *Reader) batch(k block) (rows int64, err error) {
	if r.meta, err = r.readAt(r.meta, k.offset, int64(k.meta)); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(r.meta) != continuation || int32(binary.LittleEndian.Uint32(r.meta[4:])) != k.meta-8 {
		return 0, fmt.Errorf("damaged: no message at %d", k.offset)
	}
	msg := root(r.meta[8:])
	header := slot(msg, messageHeader)
	kind := slot(msg, messageKind)
	if header == 0 || kind == 0 || msg.GetByte(kind) != kindRecordBatch {
		return 0, fmt.Errorf("damaged: not a batch at %d", k.offset)
	}
	if b := slot(msg, messageBodyLength); b == 0 && k.body != 0 || b != 0 && msg.GetInt64(b) != k.body {
		return 0, fmt.Errorf("damaged: length of the batch at %d", k.offset)
	}
	batch := &flatbuffers.Table{Bytes: msg.Bytes, Pos: msg.Indirect(header)}
	if c := codecOf(batch); c != r.codec {
		return 0, fmt.Errorf("compressed with %s, expected %s", c, r.codec)
	}
	r.nodes, r.spans = r.nodes[:0], r.spans[:0]
	list, n := vector(batch, batchNodes)
	for i := range n {
		b := list[i*nodeSize:]
		if binary.LittleEndian.Uint64(b[8:]) != 0 {
			return 0, fmt.Errorf("damaged: nulls in field %d", i)
		}
		r.nodes = append(r.nodes, int64(binary.LittleEndian.Uint64(b)))
	}
	list, n = vector(batch, batchBuffers)
	for i := range n {
		b := list[i*bufferSize:]
		r.spans = append(r.spans, span{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))})
	}
	if o := slot(batch, batchLength); o != 0 {
		rows = batch.GetInt64(o)
	}
	return rows, nil
}

func codecOf(batch *flatbuffers.Table) Codec {
	o := slot(batch, batchCompression)
	if o == 0 {
		return None
	}
	t := &flatbuffers.Table{Bytes: batch.Bytes, Pos: batch.Indirect(o)}
	if c := slot(t, 0); c != 0 && t.GetByte(c) == codecZstd {
		return Zstd
	}
	return LZ4
}
