package arrowfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/stretchr/testify/require"
)

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

// fill fills rows of the table at random, consecutive rows alike.
func fill(t *Table, rows int, r *rand.Rand) {
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

func writeTest(t testing.TB, c Codec, batches ...int) ([]byte, []*Table) {
	s := testSchema()
	w, err := NewWriter(s, c)
	require.NoError(t, err)
	var buf bytes.Buffer
	require.NoError(t, w.Start(&buf))
	r := rand.New(rand.NewPCG(1, 2))
	var tables []*Table
	for _, n := range batches {
		tab, err := NewTable(s, n+3, nil)
		require.NoError(t, err)
		fill(tab, n, r)
		require.NoError(t, w.Write(tab))
		tables = append(tables, tab)
	}
	require.NoError(t, w.Finish())
	require.EqualValues(t, buf.Len(), w.Bytes())
	return buf.Bytes(), tables
}

func requireSame(t *testing.T, want, got *Table) {
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
	for _, c := range Codecs() {
		t.Run(string(c), func(t *testing.T) {
			file, tables := writeTest(t, c, 100, 1, 57)
			again, _ := writeTest(t, c, 100, 1, 57)
			require.Equal(t, file, again)
			r, err := NewReader(testSchema(), c)
			require.NoError(t, err)
			defer r.Close()
			n, err := r.Open(bytes.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			require.Equal(t, 3, n)
			all, err := NewTable(testSchema(), 100, nil)
			require.NoError(t, err)
			some, err := NewTable(testSchema(), 100, func(s string) bool { return s == "planes" || s == "note" })
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
	for _, c := range Codecs() {
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
				require.EqualValues(t, tab.Rows, rec.NumRows())
				for k, d := range tab.Data {
					col := rec.Column(k)
					require.Zero(t, col.NullN())
					requireColumn(t, d, tab.Rows, col)
				}
				rec.Release()
			}
		})
	}
}

func requireColumn(t *testing.T, d *Data, rows int, col arrow.Array) {
	values := col
	switch a := col.(type) {
	case *array.FixedSizeList:
		values = a.ListValues()
	case *array.List:
		require.Equal(t, d.Ends, a.Offsets())
		values = a.ListValues()
	}
	switch a := values.(type) {
	case *array.Boolean:
		for i := range rows {
			require.Equal(t, d.Fixed[i] == 1, a.Value(i))
		}
		return
	case *array.String:
		for i := range rows * d.Column.Values() {
			require.Equal(t, d.Text(i), a.Value(i))
		}
		return
	}
	want := d.Bytes
	if d.Fixed != nil {
		want = d.Fixed[:rows*d.Column.Width()]
	}
	require.True(t, bytes.Equal(want, values.Data().Buffers()[1].Bytes()[:len(want)]), d.Column.Name)
}

// TestReadsArrowGo reads a file that arrow-go's own writer made: the layout of
// the metadata is another, the meaning the same.
func TestReadsArrowGo(t *testing.T) {
	for _, c := range Codecs() {
		ours, _ := writeTest(t, c, 100, 1, 57)
		in, err := ipc.NewFileReader(bytes.NewReader(ours))
		require.NoError(t, err)
		f, err := os.Create(filepath.Join(t.TempDir(), "a.arrow"))
		require.NoError(t, err)
		defer f.Close()
		opts := []ipc.Option{ipc.WithSchema(in.Schema())}
		switch c {
		case Zstd:
			opts = append(opts, ipc.WithZstd())
		case LZ4:
			opts = append(opts, ipc.WithLZ4())
		}
		out, err := ipc.NewFileWriter(f, opts...)
		require.NoError(t, err)
		for i := range in.NumRecords() {
			rec, err := in.Record(i)
			require.NoError(t, err)
			require.NoError(t, out.Write(rec))
		}
		require.NoError(t, out.Close())
		theirs, err := os.ReadFile(f.Name())
		require.NoError(t, err)
		require.NotEqual(t, ours, theirs)
		rows, err := readAll(t, c, theirs)
		require.NoError(t, err)
		require.Equal(t, 158, rows)
	}
}
