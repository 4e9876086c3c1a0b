package arrowfile

import (
	"encoding/binary"
	"fmt"
)

// cursor walks over the fields and buffers of a batch, column by column.
type cursor struct {
	r     *Reader
	body  int64 // where the body begins in the file
	size  int64 // of the body
	nodes []int64
	spans []span
}

// node takes the next field, which must have that many values.
func (c *cursor) node(values int) error {
	if len(c.nodes) == 0 || c.nodes[0] != int64(values) {
		return fmt.Errorf("damaged: %d values expected in %v", values, c.nodes[:min(1, len(c.nodes))])
	}
	c.nodes = c.nodes[1:]
	return nil
}

// span takes the next buffer.
func (c *cursor) span() (span, error) {
	if len(c.spans) == 0 {
		return span{}, fmt.Errorf("damaged: buffers are missing")
	}
	s := c.spans[0]
	c.spans = c.spans[1:]
	if s.offset < 0 || s.length < 0 || s.length > c.size || s.offset > c.size-s.length {
		return s, fmt.Errorf("damaged: buffer of %d bytes at %d of %d", s.length, s.offset, c.size)
	}
	return s, nil
}

// validity takes the next buffer, which must be empty.
func (c *cursor) validity() error {
	s, err := c.span()
	if err == nil && s.length != 0 {
		err = fmt.Errorf("damaged: nulls")
	}
	return err
}

// column reads one column into d, or passes over it if d is nil.
func (c *cursor) column(col Column, d *Data, rows int) error {
	if err := c.field(rows); err != nil {
		return err
	}
	values := rows * col.Values()
	if len(col.Shape) > 0 {
		if err := c.field(values); err != nil {
			return err
		}
	}
	if col.Width() > 0 {
		if d == nil {
			_, err := c.span()
			return err
		}
		if col.Type == Bool {
			return c.bools(d.Fixed[:rows])
		}
		return c.fill(d.Fixed[:rows*col.Width()])
	}
	return c.lists(col, d, values)
}

func (c *cursor) field(values int) error {
	if err := c.node(values); err != nil {
		return err
	}
	return c.validity()
}

// lists reads the ends and values of lists or texts.
func (c *cursor) lists(col Column, d *Data, values int) error {
	if d == nil {
		return c.passLists(col)
	}
	d.Ends = d.Ends[:values+1]
	if err := c.fill(bytesOf(d.Ends)); err != nil {
		return err
	}
	for i, e := range d.Ends {
		if i == 0 && e != 0 || i > 0 && e < d.Ends[i-1] {
			return fmt.Errorf("damaged: ends of lists go back at %d", i)
		}
	}
	last := int(d.Ends[values])
	size := max(col.Type.size(), 1)
	if last > maxBuffer/size {
		return fmt.Errorf("damaged: %d values in lists", last)
	}
	if col.List {
		if err := c.field(last); err != nil {
			return err
		}
	}
	return c.values(d, last*size)
}

func (c *cursor) passLists(col Column) error {
	if _, err := c.span(); err != nil {
		return err
	}
	if col.List {
		if len(c.nodes) > 0 {
			c.nodes = c.nodes[1:]
		}
		if err := c.validity(); err != nil {
			return err
		}
	}
	_, err := c.span()
	return err
}

// values reads n bytes of lists. So as not to allocate what a damaged file
// asks for, what is compressed is believed to be so at most ratio times.
func (c *cursor) values(d *Data, n int) error {
	const ratio = 1 << 16
	if len(c.spans) > 0 && int64(n) > 1<<20 && int64(n)/ratio > c.spans[0].length {
		return fmt.Errorf("damaged: %d bytes of lists in %d", n, c.spans[0].length)
	}
	d.Bytes = d.Bytes[:0]
	d.grow(n)
	d.Bytes = d.Bytes[:n]
	return c.fill(d.Bytes)
}

// fill reads the next buffer, whose content must be as long as dst.
func (c *cursor) fill(dst []byte) error {
	s, err := c.span()
	if err != nil {
		return err
	}
	if len(dst) == 0 && s.length == 0 {
		return nil
	}
	if c.r.codec == None {
		if s.length != int64(len(dst)) {
			return fmt.Errorf("damaged: %d bytes, expected %d", s.length, len(dst))
		}
		_, err := c.r.r.ReadAt(dst, c.body+s.offset)
		return err
	}
	if c.r.raw, err = c.r.readAt(c.r.raw, c.body+s.offset, s.length); err != nil {
		return err
	}
	if s.length < 8 || binary.LittleEndian.Uint64(c.r.raw) != uint64(len(dst)) {
		return fmt.Errorf("damaged: length of the content, expected %d", len(dst))
	}
	if err := c.r.unpack.fill(dst, c.r.raw[8:]); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	return nil
}

// bools reads bits into bytes.
func (c *cursor) bools(dst []byte) error {
	packed := make([]byte, (len(dst)+7)/8)
	if err := c.fill(packed); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = packed[i/8] >> (i % 8) & 1
	}
	return nil
}
