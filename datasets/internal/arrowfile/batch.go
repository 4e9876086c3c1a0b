package arrowfile

import (
	"fmt"
	"sync"
	"unsafe"
)

// littleEndian reports whether the machine is little endian, as the files are: batches
// are written as they lie in memory.
var littleEndian = *(*byte)(unsafe.Pointer(&[]uint16{1}[0])) == 1

// Number is a type of the numbers in a RecordBatch.
type Number interface {
	~uint8 | ~int32 | ~uint64 | ~float32 | ~float64
}

// View returns the memory of b as a slice of T, whose size must divide len(b). b must
// be aligned as the memory of a RecordBatch is.
func View[T Number](b []byte) []T {
	var t T
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}

// Bytes returns the memory of a slice of numbers.
func Bytes[T Number](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// Aligned returns n bytes at an address that is a multiple of 8.
func Aligned(n int) []byte {
	return Bytes(make([]uint64, (n+7)/8))[:n:n]
}

// Data is the memory of one column.
type Data struct {
	Column Column
	// Fixed holds the rows of a column of fixed shape, Width bytes each. Its length is
	// that of Cap rows.
	Fixed []byte
	// Ends and Bytes hold lists and texts: value k of the column (row k of a list, text
	// k%Values of row k/Values) is Bytes[Ends[k]*size : Ends[k+1]*size].
	Ends  []int32
	Bytes []byte
	// Most bounds the average number of values of the lists, or of bytes of the texts,
	// in a batch that is read; 0: any number.
	Most int
}

// RecordBatch is memory for up to Cap rows of some columns. Columns of fixed shape have
// all their memory from the beginning, and the caller writes into it; lists and texts
// grow.
type RecordBatch struct {
	Rows int // in use
	Cap  int
	Data []*Data // in the order of the schema; nil for columns not wanted

	// MostLists bounds the bytes of lists and texts of a batch that is read, all
	// columns together; 0: 1 GiB each.
	MostLists int
	// Turn, if not nil, is locked while the batch has more than wideLists bytes of
	// lists and texts from a file. So only one of the batches that share it is so large
	// at a time.
	Turn sync.Locker
	held bool // Turn is locked
}

// NewRecordBatch returns memory for rows of the columns of the schema for which want
// is true; a nil want is true for all.
func NewRecordBatch(s Schema, rows int, want func(name string) bool) (*RecordBatch, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if !littleEndian {
		return nil, fmt.Errorf("arrow files are written and read on little-endian machines only")
	}
	t := &RecordBatch{Cap: rows}
	for _, c := range s.Columns {
		if want != nil && !want(c.Name) {
			t.Data = append(t.Data, nil)
			continue
		}
		if w := c.Width(); w > maxBuffer/max(rows, 1) {
			return nil, fmt.Errorf("column %s: %d rows of %d bytes are more than one batch may hold", c.Name, rows, w)
		}
		t.Data = append(t.Data, NewData(c, rows))
	}
	return t, nil
}

// NewData returns memory for rows of a column.
func NewData(c Column, rows int) *Data {
	if w := c.Width(); w > 0 {
		return &Data{Column: c, Fixed: Aligned(rows * w)}
	}
	return &Data{Column: c, Ends: make([]int32, 1, rows*c.Values()+1)}
}

// Col returns the data of the named column, nil if the batch does not have it.
func (r *RecordBatch) Col(name string) *Data {
	for _, d := range r.Data {
		if d != nil && d.Column.Name == name {
			return d
		}
	}
	return nil
}

// Reset removes all rows. The memory is kept, unless Turn was needed for it.
func (r *RecordBatch) Reset() {
	r.Rows = 0
	for _, d := range r.Data {
		if d != nil && d.Ends != nil {
			d.Ends, d.Bytes = d.Ends[:1], d.Bytes[:0]
			if r.held {
				d.Bytes = nil
			}
		}
	}
	if r.held {
		r.held = false
		r.Turn.Unlock()
	}
}

// room makes room for n bytes of lists of a column. all is the number of bytes of
// lists of this column and those before it.
func (r *RecordBatch) room(d *Data, n, all int) {
	if r.Turn != nil && !r.held && all > wideLists {
		r.held = true
		r.Turn.Lock()
	}
	if cap(d.Bytes) < n {
		d.Bytes = nil // so that the old memory can be freed before the new is made
		d.Bytes = Aligned(n)
	}
	d.Bytes = d.Bytes[:n]
}

// ListBytes is the number of bytes in lists and texts.
func (r *RecordBatch) ListBytes() int {
	n := 0
	for _, d := range r.Data {
		if d != nil {
			n += len(d.Bytes)
		}
	}
	return n
}

// Values returns the bytes of the first rows; of lists and texts, the bytes of all
// rows.
func (d *Data) Values(rows int) []byte {
	if d.Fixed == nil {
		return d.Bytes
	}
	return d.Fixed[:rows*d.Column.Width()]
}

// Row returns the bytes of row i of a column of fixed shape.
func (d *Data) Row(i int) []byte {
	w := d.Column.Width()
	return d.Fixed[i*w : (i+1)*w : (i+1)*w]
}

// AppendList appends one list to the column.
func AppendList[T Number](d *Data, values []T) {
	d.appendBytes(Bytes(values))
}

// AppendLists appends lists that follow one another. ends has the end of each list,
// counted from a place begin values before values[0].
func AppendLists[T Number](d *Data, values []T, begin int, ends []int32) {
	b := Bytes(values)
	d.grow(len(b))
	shift := int32(len(d.Bytes)/max(d.Column.Type.size(), 1) - begin)
	d.Bytes = append(d.Bytes, b...)
	for _, end := range ends {
		d.Ends = append(d.Ends, end+shift)
	}
}

// AppendText appends one text to the column.
func (d *Data) AppendText(s string) {
	d.appendBytes([]byte(s))
}

func (d *Data) appendBytes(b []byte) {
	d.grow(len(b))
	d.Bytes = append(d.Bytes, b...)
	d.Ends = append(d.Ends, int32(len(d.Bytes)/max(d.Column.Type.size(), 1)))
}

// grow makes room for n more bytes of lists, aligned.
func (d *Data) grow(n int) {
	if need := len(d.Bytes) + n; need > cap(d.Bytes) {
		b := Bytes(make([]uint64, max(need+need/2, 256)/8+1))
		d.Bytes = b[:copy(b, d.Bytes)]
	}
}

// List returns list or text number k as bytes.
func (d *Data) List(k int) []byte {
	size := max(d.Column.Type.size(), 1)
	from, to := int(d.Ends[k])*size, int(d.Ends[k+1])*size
	return d.Bytes[from:to:to]
}

// Text returns text number k.
func (d *Data) Text(k int) string { return string(d.List(k)) }

// AppendRow copies row i of the same column of another batch to row at.
func (d *Data) AppendRow(at int, from *Data, i int) {
	if d.Fixed != nil {
		copy(d.Row(at), from.Row(i))
		return
	}
	n := d.Column.Values()
	for k := i * n; k < (i+1)*n; k++ {
		d.appendBytes(from.List(k))
	}
}
