package arrowfile

import (
	"encoding/binary"
	"fmt"
)

// cursor goes through the fields and buffers of a batch, column by column. It
// keeps its first error, and reads no buffer after that.
type cursor struct {
	r     *Reader
	body  int64 // offset of the body in the file
	size  int64 // of the body
	nodes []int64
	spans []span
	table *RecordBatch
	bytes int // of lists and texts read so far
	err   error
}

// fail keeps the first error.
func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("damaged: "+format, args...)
	}
}

// field takes the next field and its validity buffer. It fails unless the field has
// that number of values, or any number if values is negative, and no nulls.
func (c *cursor) field(values int) {
	switch {
	case len(c.nodes) == 0:
		c.fail("fields are missing")
	case values >= 0 && c.nodes[0] != int64(values):
		c.fail("%d values, expected %d", c.nodes[0], values)
	default:
		c.nodes = c.nodes[1:]
	}
	if c.span().length != 0 {
		c.fail("nulls")
	}
}

// span takes the next buffer.
func (c *cursor) span() span {
	if len(c.spans) == 0 {
		c.fail("buffers are missing")
		return span{}
	}
	s := c.spans[0]
	c.spans = c.spans[1:]
	if s.offset < 0 || s.length < 0 || s.length > c.size || s.offset > c.size-s.length {
		c.fail("buffer of %d bytes at %d of %d", s.length, s.offset, c.size)
	}
	return s
}

// column reads one column into d, or passes over it if d is nil.
func (c *cursor) column(col Column, d *Data, rows int) error {
	c.field(rows)
	values := rows * col.Values()
	if len(col.Shape) > 0 {
		c.field(values)
	}
	switch {
	case d == nil:
		c.span()
		if col.List {
			c.field(-1)
		}
		if col.Width() == 0 {
			c.span()
		}
	case col.Width() == 0:
		c.lists(d, values)
	case col.Type == Bool:
		c.bools(d.Fixed[:rows])
	default:
		c.fill(d.Fixed[:rows*col.Width()])
	}
	return c.err
}

// lists reads the ends and values of lists or texts.
func (c *cursor) lists(d *Data, n int) {
	d.Ends = d.Ends[:n+1]
	c.fill(Bytes(d.Ends))
	if c.err != nil {
		return
	}
	for i, e := range d.Ends {
		if i == 0 && e != 0 || i > 0 && e < d.Ends[i-1] {
			c.fail("ends of lists go back at %d", i)
			return
		}
	}
	last, size := int(d.Ends[n]), max(d.Column.Type.size(), 1)
	most := maxBuffer / size
	if d.Most > 0 && n > 0 && d.Most < most/n {
		most = d.Most * n
	}
	if last > most {
		c.fail("%d values in %d lists, at most %d belong", last, n, most)
		return
	}
	if d.Column.List {
		c.field(last)
	}
	c.values(d, last*size)
}

// values reads n bytes of lists. Before it makes room for them, it checks n against the
// bound for all lists of the batch, and against the length of the frame: a damaged file
// may ask for any number.
func (c *cursor) values(d *Data, n int) {
	c.bytes += n
	if most := c.table.MostLists; most > 0 && c.bytes > most {
		c.fail("%d bytes of lists in one batch, at most %d belong", c.bytes, most)
	}
	if len(c.spans) > 0 && n > freeLists && int64(n)/maxRatio > c.spans[0].length {
		c.fail("%d bytes of lists in %d", n, c.spans[0].length)
	}
	if c.err == nil {
		c.table.room(d, n, c.bytes)
		c.fill(d.Bytes)
	}
}

// fill reads the next buffer, whose content must have the length of dst.
func (c *cursor) fill(dst []byte) {
	s := c.span()
	if c.err == nil && (len(dst) != 0 || s.length != 0) {
		c.err = c.r.fill(dst, c.body+s.offset, s.length)
	}
}

// bools reads bits into bytes.
func (c *cursor) bools(dst []byte) {
	packed := make([]byte, (len(dst)+7)/8)
	c.fill(packed)
	for i := range dst {
		dst[i] = packed[i/8] >> (i % 8) & 1
	}
}

// fill fills dst with the content of a buffer of the file.
func (r *Reader) fill(dst []byte, at, length int64) (err error) {
	if r.codec == None {
		if length != int64(len(dst)) {
			return fmt.Errorf("damaged: %d bytes, expected %d", length, len(dst))
		}
		_, err := r.r.ReadAt(dst, at)
		return err
	}
	if length > int64(len(dst)+len(dst)/16+1024) {
		return fmt.Errorf("damaged: %d compressed bytes where %d belong uncompressed", length, len(dst))
	}
	if r.raw, err = r.readAt(r.raw, at, length); err != nil {
		return err
	}
	if length < 8 || binary.LittleEndian.Uint64(r.raw) != uint64(len(dst)) {
		return fmt.Errorf("damaged: length of the content, expected %d", len(dst))
	}
	if err := r.unpack(dst, r.raw[8:]); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	return nil
}
