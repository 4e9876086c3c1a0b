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
	defer r.Close()
	table, err := NewTable(testSchema(), 100, nil)
	require.NoError(t, err)
	return readInto(r, table, file)
}

func readInto(r *Reader, table *Table, file []byte) (int, error) {
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
				_ = d.ListText(table.Rows*d.Column.Values() - 1)
			}
		}
	}
	return rows, nil
}

// TestTruncated: every shorter file is refused.
func TestTruncated(t *testing.T) {
	for _, c := range Codecs() {
		file, _ := writeTest(t, c, 20, 5)
		for n := range file {
			_, err := readAll(t, c, file[:n])
			require.Error(t, err, "%d of %d bytes", n, len(file))
		}
	}
}

// TestDamaged: whatever happens to the bytes, the reader returns, and does not
// take memory that the rows do not need.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, c := range Codecs() {
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
				case 1: // lengths and offsets stand at multiples of 8 or 4
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
	for want, change := range map[string]func(*Schema){
		"found column id: integer of 64 bits, signed false; expected column id: float":  func(s *Schema) { s.Columns[0].Type = Float64 },
		`found column planes, metadata "ARROW:extension:metadata": "{\"shape\":[3,4,5]`: func(s *Schema) { s.Columns[1].Shape = []int{4, 3, 5} },
		"found column scalars: list of 3; expected column numbers: list of 3":           func(s *Schema) { s.Columns[2].Name = "numbers" },
		"found column turn: integer of 32 bits, signed true; expected nothing more":     func(s *Schema) { s.Columns = s.Columns[:9] },
		`found schema, metadata "a": "1"; expected schema, metadata "a": "2"`:           func(s *Schema) { s.Texts[0] = "2" },
		`found column planes, metadata "ARROW:extension:name"`:                          func(s *Schema) { s.Tensors = false },
	} {
		s := testSchema()
		change(&s)
		r, err := NewReader(s, Zstd)
		require.NoError(t, err)
		_, err = r.Open(bytes.NewReader(file), int64(len(file)))
		require.ErrorContains(t, err, want)
	}
	_, err := readAll(t, LZ4, file)
	require.ErrorContains(t, err, "compressed with zstd, expected lz4")
}

// Use -fuzzminimizetime 10x: the files are long for the minimizer.
func FuzzReader(f *testing.F) {
	var readers []*Reader
	for i, c := range Codecs() {
		file, _ := writeTest(f, c, 3, 1)
		f.Add(uint8(i), file)
		r, err := NewReader(testSchema(), c)
		require.NoError(f, err)
		readers = append(readers, r)
	}
	table, err := NewTable(testSchema(), 100, nil)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, codec uint8, file []byte) {
		_, _ = readInto(readers[int(codec)%len(readers)], table, file)
	})
}

// TestWriterKeepsItsMemory: after the first file nothing grows.
func TestWriterKeepsItsMemory(t *testing.T) {
	if raced {
		t.Skip("the race detector makes pools forget what they hold, at random")
	}
	for _, c := range Codecs() {
		s := testSchema()
		w, err := NewWriter(s, c)
		require.NoError(t, err)
		table, err := NewTable(s, 1000, nil)
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
