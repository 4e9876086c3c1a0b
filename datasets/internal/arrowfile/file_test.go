package arrowfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/stretchr/testify/require"
)

var codecs = []Codec{Zstd, LZ4, None}

func testSchema() Schema {
	return Schema{
		Columns: []Column{
			{Name: "id", Type: Uint64, Doc: "number"},
			{Name: "planes", Type: Uint8, Shape: []int{3, 4, 5}, Dims: []string{"plane", "y", "x"}, Tensor: true, Doc: "observation"},
			{Name: "scalars", Type: Float32, Shape: []int{3}, Dims: []string{"scalar"}, Tensor: true},
			{Name: "orders", Type: Uint64, List: true},
			{Name: "ends", Type: Int32, List: true},
			{Name: "done", Type: Bool},
			{Name: "names", Type: Utf8, Shape: []int{2}, Dims: []string{"seat"}},
			{Name: "note", Type: Utf8},
			{Name: "score", Type: Float64, Shape: []int{2}, Dims: []string{"seat"}},
			{Name: "turn", Type: Int32},
		},
		Keys: []string{"a", "b"}, Texts: []string{"1", "zwei"}, Tensors: true, Stride: 2,
	}
}

// fill fills the batch with random rows, in which consecutive rows are alike.
func fill(t *RecordBatch, rows int, r *rand.Rand) {
	t.Reset()
	for i := range rows {
		for _, d := range t.Data {
			switch {
			case d.Column.Type == Bool:
				d.Fixed[i] = byte(r.IntN(2))
			case d.Fixed != nil:
				if i >= 2 {
					copy(d.Row(i), d.Row(i-2))
				}
				row := d.Row(i)
				for range r.IntN(4) {
					row[r.IntN(len(row))] = byte(r.IntN(256))
				}
			case d.Column.Type == Utf8:
				for range d.Column.Values() {
					d.AppendText(fmt.Sprint("t", r.IntN(1000)))
				}
			case d.Column.Type == Uint64:
				AppendList(d, make([]uint64, r.IntN(4)))
			default:
				AppendList(d, []int32{int32(r.IntN(9)), 7}[:r.IntN(3)])
			}
		}
	}
	t.Rows = rows
}

func writeTest(t testing.TB, c Codec, batches ...int) ([]byte, []*RecordBatch) {
	s := testSchema()
	w, err := NewWriter(s, c)
	require.NoError(t, err)
	var buf bytes.Buffer
	require.NoError(t, w.Start(&buf))
	r := rand.New(rand.NewPCG(1, 2))
	var tables []*RecordBatch
	for _, n := range batches {
		tab, err := NewRecordBatch(s, n+3, nil)
		require.NoError(t, err)
		fill(tab, n, r)
		require.NoError(t, w.Write(tab))
		tables = append(tables, tab)
	}
	require.NoError(t, w.Finish())
	require.EqualValues(t, buf.Len(), w.Bytes())
	return buf.Bytes(), tables
}

func requireSame(t *testing.T, want, got *RecordBatch) {
	t.Helper()
	require.Equal(t, want.Rows, got.Rows)
	for i, d := range want.Data {
		g := got.Data[i]
		if g == nil {
			continue
		}
		w := d.Column.Width()
		require.Equal(t, d.Fixed[:want.Rows*w], g.Fixed[:want.Rows*w], d.Column.Name)
		require.Equal(t, d.Ends, g.Ends, d.Column.Name)
		require.True(t, bytes.Equal(d.Bytes, g.Bytes), d.Column.Name)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, c := range codecs {
		t.Run(string(c), func(t *testing.T) {
			file, tables := writeTest(t, c, 100, 1, 57)
			again, _ := writeTest(t, c, 100, 1, 57)
			require.Equal(t, file, again)
			r, err := NewReader(testSchema(), c)
			require.NoError(t, err)
			n, err := r.Open(bytes.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			require.Equal(t, 3, n)
			all, err := NewRecordBatch(testSchema(), 100, nil)
			require.NoError(t, err)
			some, err := NewRecordBatch(testSchema(), 100, func(s string) bool { return s == "planes" || s == "note" })
			require.NoError(t, err)
			for i := range n {
				require.NoError(t, r.Read(i, all))
				requireSame(t, tables[i], all)
				require.NoError(t, r.Read(i, some))
				requireSame(t, tables[i], some)
			}
		})
	}
}

// TestArrowGo reads the files with arrow-go's own reader.
func TestArrowGo(t *testing.T) {
	for _, c := range codecs {
		t.Run(string(c), func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			file, tables := writeTest(t, c, 100, 1, 57)
			f, err := ipc.NewFileReader(bytes.NewReader(file), ipc.WithAllocator(mem))
			require.NoError(t, err)
			defer f.Close()
			require.True(t, f.Schema().Equal(testSchema().Arrow()), "%v", f.Schema())
			require.Equal(t, len(tables), f.NumRecords())
			for i, tab := range tables {
				rec, err := f.RecordAt(i)
				require.NoError(t, err)
				require.True(t, array.RecordEqual(tab.Record(f.Schema()), rec), "batch %d", i)
				rec.Release()
			}
		})
	}
}

func TestSchemasThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*Schema){
		"a column without a name":                     func(s *Schema) { s.Columns[0].Name = "" },
		`column id: no type "int9"`:                   func(s *Schema) { s.Columns[0].Type = "int9" },
		"column done: only single numbers are listed": func(s *Schema) { s.Columns[5].List = true },
		"column done: bools have no shape":            func(s *Schema) { s.Columns[5].Shape = []int{2} },
		"column planes: 2 names for 3 dimensions":     func(s *Schema) { s.Columns[1].Dims = []string{"y", "x"} },
		"column scalars: shape [0]":                   func(s *Schema) { s.Columns[2].Shape = []int{0} },
		"column id twice":                             func(s *Schema) { s.Columns[9].Name = "id" },
		"a schema with 2 keys, 2 texts, stride 0":     func(s *Schema) { s.Stride = 0 },
	} {
		t.Run(want, func(t *testing.T) {
			s := testSchema()
			change(&s)
			_, err := NewWriter(s, None)
			require.EqualError(t, err, want)
			_, err = NewRecordBatch(s, 10, nil)
			require.EqualError(t, err, want)
		})
	}
	_, err := NewRecordBatch(testSchema(), 1<<25, nil)
	require.EqualError(t, err, "column planes: 33554432 rows of 60 bytes are more than one batch may hold")
}

// TestTooManyBatches: the Writer writes no footer that a Reader would refuse.
func TestTooManyBatches(t *testing.T) {
	w, err := NewWriter(testSchema(), None)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, w.Start(&out))
	before := out.Len()
	w.blocks = make([]block, maxMetadata/16)
	require.ErrorContains(t, w.Finish(), "at most 16777216 can be read")
	require.Equal(t, before, out.Len())
}

// TestAppendLists: appending several lists at once is the same as appending them one by
// one, also after other lists and from the middle of a slice.
func TestAppendLists(t *testing.T) {
	values, ends := []uint64{9, 1, 2, 3, 4, 5, 6}, []int32{3, 3, 7, 7}
	var tables [2]*RecordBatch
	for i := range tables {
		var err error
		tables[i], err = NewRecordBatch(testSchema(), 8, nil)
		require.NoError(t, err)
		AppendList(tables[i].Col("orders"), []uint64{7, 8})
	}
	at := int32(1)
	for _, end := range ends {
		AppendList(tables[0].Col("orders"), values[at:end])
		at = end
	}
	AppendLists(tables[1].Col("orders"), values[1:], 1, ends)
	one, all := tables[0].Col("orders"), tables[1].Col("orders")
	require.Equal(t, one.Ends, all.Ends)
	require.Equal(t, one.Bytes, all.Bytes)
	require.Equal(t, []uint64{3, 4, 5, 6}, View[uint64](all.List(3)))
}
