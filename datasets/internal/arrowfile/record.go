package arrowfile

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Part returns the schema of the columns for which want is true, or of all if want is
// nil.
func (s Schema) Part(want func(name string) bool) Schema {
	if want == nil {
		return s
	}
	s.Columns = slices.DeleteFunc(slices.Clone(s.Columns), func(c Column) bool { return !want(c.Name) })
	return s
}

// Record returns the rows as arrow-go's record batch. as is the Arrow schema of the
// columns in r. The buffers of the record are the memory of r, but for bools, which are
// packed into bits: r may not be used while the record is in use.
func (r *RecordBatch) Record(as *arrow.Schema) arrow.Record {
	var columns []arrow.Array
	for _, d := range r.Data {
		if d != nil {
			columns = append(columns, array.MakeFromData(d.array(as.Field(len(columns)).Type, r.Rows)))
		}
	}
	return array.NewRecord(as, columns, int64(r.Rows))
}

// array returns the first rows of the column as data of an Arrow array.
func (d *Data) array(typ arrow.DataType, rows int) *array.Data {
	c := d.Column
	n := rows * c.Values()
	switch typ := typ.(type) {
	case *arrow.FixedSizeListType:
		return array.NewData(typ, rows, []*memory.Buffer{nil}, []arrow.ArrayData{d.values(typ.Elem(), n)}, 0, 0)
	case *arrow.ListType:
		child := d.values(typ.Elem(), int(d.Ends[rows]))
		return array.NewData(typ, rows, []*memory.Buffer{nil, buffer(Bytes(d.Ends[:rows+1]))}, []arrow.ArrayData{child}, 0, 0)
	}
	return d.values(typ, n)
}

// values returns the first n single values of the column.
func (d *Data) values(typ arrow.DataType, n int) *array.Data {
	var buffers []*memory.Buffer
	switch {
	case d.Column.Type == Utf8:
		buffers = []*memory.Buffer{nil, buffer(Bytes(d.Ends[:n+1])), buffer(d.Bytes)}
	case d.Column.Type == Bool:
		buffers = []*memory.Buffer{nil, buffer(packed(d.Fixed[:n]))}
	case d.Fixed == nil:
		buffers = []*memory.Buffer{nil, buffer(d.Bytes)}
	default:
		buffers = []*memory.Buffer{nil, buffer(d.Fixed[:n*d.Column.Type.size()])}
	}
	return array.NewData(typ, n, buffers, nil, 0, 0)
}

// buffer returns a buffer of Go's memory, which no allocator frees.
func buffer(b []byte) *memory.Buffer {
	if b == nil {
		b = []byte{}
	}
	return memory.NewBufferBytes(b)
}
