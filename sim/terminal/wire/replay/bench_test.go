package replay

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// BenchmarkReader reads all recordings, which are compressed, once per iteration. The MB/s
// count uncompressed text.
func BenchmarkReader(b *testing.B) {
	files := map[string][]byte{}
	for _, path := range wiretest.Recordings(b) {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		files[filepath.Base(path)] = text
	}
	plain, frames := 0, 0
	var f frame.Frame
	for b.Loop() {
		plain = 0
		for name, text := range files {
			r, err := NewReader(name, bytes.NewReader(text))
			if err != nil {
				b.Fatal(err)
			}
			for err = r.Next(&f); err == nil; err = r.Next(&f) {
				plain += len(r.Text()) + 1
				frames++
			}
			if err != io.EOF {
				b.Fatal(err)
			}
		}
	}
	b.SetBytes(int64(plain))
	b.ReportMetric(float64(frames)/b.Elapsed().Seconds(), "frames/s")
}
