package arrowfile

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// readAll reads a file as a consumer would: all batches, until the first error.
func readAll(t testing.TB, c Codec, file []byte) (int, error) {
	r, err := NewReader(testSchema(), c)
	require.NoError(t, err)
	table, err := NewRecordBatch(testSchema(), 100, nil)
	require.NoError(t, err)
	return readInto(r, table, file)
}

func readInto(r *Reader, table *RecordBatch, file []byte) (int, error) {
	n, err := r.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, err
	}
	rows := 0
	for i := range n {
		if err := r.Read(i, table); err != nil {
			return rows, err
		}
		rows += table.Rows
		for _, d := range table.Data {
			if d.Ends != nil {
				_ = d.ValueText(table.Rows*d.Column.Values() - 1)
			}
		}
	}
	return rows, nil
}

// TestTruncated: every shorter file is refused.
func TestTruncated(t *testing.T) {
	for _, c := range codecs {
		file, _ := writeTest(t, c, 20, 5)
		for n := range file {
			_, err := readAll(t, c, file[:n])
			require.Error(t, err, "%d of %d bytes", n, len(file))
		}
	}
}

// TestDamaged: with any damage the reader returns, and takes no memory that the rows do
// not need.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, c := range codecs {
		good, _ := writeTest(t, c, 100, 57)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rounds := 3000
		for range rounds {
			file := bytes.Clone(good)
			for range 1 + r.IntN(3) {
				switch at := r.IntN(len(file) - 8); r.IntN(3) {
				case 0:
					file[at] ^= 1 << r.IntN(8)
				case 1: // lengths and offsets are at multiples of 8 or 4
					binary.LittleEndian.PutUint64(file[at&^7:], r.Uint64()>>r.IntN(64))
				case 2:
					binary.LittleEndian.PutUint32(file[at&^3:], r.Uint32()>>r.IntN(32))
				}
			}
			rows, err := readAll(t, c, file)
			require.True(t, err != nil || rows == 157)
		}
		runtime.ReadMemStats(&after)
		perFile := (after.TotalAlloc - before.TotalAlloc) / uint64(rounds)
		t.Logf("%s: %d bytes allocated per file", c, perFile)
		require.Less(t, perFile, uint64(8<<20))
	}
}

func TestOtherSchema(t *testing.T) {
	file, _ := writeTest(t, Zstd, 5)
	for name, change := range map[string]func(*Schema){
		"type":    func(s *Schema) { s.Columns[0].Type = Float64 },
		"shape":   func(s *Schema) { s.Columns[1].Shape = []int{4, 3, 5} },
		"name":    func(s *Schema) { s.Columns[2].Name = "numbers" },
		"fewer":   func(s *Schema) { s.Columns = s.Columns[:9] },
		"text":    func(s *Schema) { s.Texts[0] = "2" },
		"tensors": func(s *Schema) { s.Tensors = false },
	} {
		t.Run(name, func(t *testing.T) {
			s := testSchema()
			change(&s)
			r, err := NewReader(s, Zstd)
			require.NoError(t, err)
			_, err = r.Open(bytes.NewReader(file), int64(len(file)))
			require.ErrorContains(t, err, "another schema", name)
		})
	}
	_, err := readAll(t, LZ4, file)
	require.ErrorContains(t, err, "compressed with zstd, expected lz4")
	_, err = readAll(t, Zstd, []byte("a text that is longer than the magic"))
	require.ErrorContains(t, err, "not an Arrow file")
}

// Use -fuzzminimizetime 10x: the files are long for the minimizer.
func FuzzReader(f *testing.F) {
	var readers []*Reader
	for i, c := range codecs {
		file, _ := writeTest(f, c, 3, 1)
		f.Add(uint8(i), file)
		r, err := NewReader(testSchema(), c)
		require.NoError(f, err)
		readers = append(readers, r)
	}
	table, err := NewRecordBatch(testSchema(), 100, nil)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, codec uint8, file []byte) {
		_, _ = readInto(readers[int(codec)%len(readers)], table, file)
	})
}

// TestLongFooter: a footer of many batches takes the memory of its text and of their
// places. A footer that claims more batches than it has takes no memory for them.
func TestLongFooter(t *testing.T) {
	good, _ := writeTest(t, Zstd, 5)
	head := 16 + int(binary.LittleEndian.Uint32(good[12:]))
	const most = 600_000
	long := func(says uint32) []byte {
		footer := make([]byte, 64, 64+most*blockSize)
		binary.LittleEndian.PutUint32(footer, 24)                     // the root table
		binary.LittleEndian.PutUint16(footer[8:], 12)                 // the sizes of its list of slots
		binary.LittleEndian.PutUint16(footer[10:], 8)                 // and of itself
		binary.LittleEndian.PutUint16(footer[12+2*footerBatches:], 4) // the place of the batches in it
		binary.LittleEndian.PutUint32(footer[24:], 24-8)
		binary.LittleEndian.PutUint32(footer[28:], 60-28)
		binary.LittleEndian.PutUint32(footer[60:], says)
		for i := range most {
			var b [blockSize]byte
			binary.LittleEndian.PutUint64(b[:], uint64(head+16*i))
			binary.LittleEndian.PutUint32(b[8:], 16)
			footer = append(footer, b[:]...)
		}
		file := append(bytes.Clone(good[:head]), make([]byte, 16*most+len(endOfStream))...)
		file = append(file, footer...)
		return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), magic...)
	}
	open := func(file []byte) (batches int, took uint64, err error) {
		r, e := NewReader(testSchema(), Zstd)
		require.NoError(t, e)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		batches, err = r.Open(bytes.NewReader(file), int64(len(file)))
		runtime.ReadMemStats(&after)
		return batches, after.TotalAlloc - before.TotalAlloc, err
	}
	n, took, err := open(long(most))
	require.NoError(t, err)
	require.Equal(t, most, n)
	require.Less(t, took, uint64(36<<20))
	_, took, err = open(long(1 << 30))
	require.ErrorContains(t, err, "damaged: 1073741824 batches")
	require.Less(t, took, uint64(20<<20))
}

// TestWriterKeepsItsMemory: after the first file nothing grows.
func TestWriterKeepsItsMemory(t *testing.T) {
	if raced {
		t.Skip("the race detector makes pools forget what they hold, at random")
	}
	for _, c := range codecs {
		s := testSchema()
		w, err := NewWriter(s, c)
		require.NoError(t, err)
		table, err := NewRecordBatch(s, 1000, nil)
		require.NoError(t, err)
		fill(table, 1000, rand.New(rand.NewPCG(1, 1)))
		var out bytes.Buffer
		file := func() {
			out.Reset()
			require.NoError(t, w.Start(&out))
			for range 5 {
				require.NoError(t, w.Write(table))
			}
			require.NoError(t, w.Finish())
		}
		file()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			file()
		}
		runtime.ReadMemStats(&after)
		perFile := (after.TotalAlloc - before.TotalAlloc) / 10
		t.Logf("%s: %d bytes allocated per file of %d", c, perFile, out.Len())
		require.Less(t, perFile, uint64(1<<20), "a new zstd encoder alone takes more")
	}
}
