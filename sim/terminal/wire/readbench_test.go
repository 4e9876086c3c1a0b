package wire

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"moonfarm/sim/simtest"
)

// BenchmarkParseFrame reads the frames of one recording from memory.
func BenchmarkParseFrame(b *testing.B) {
	text := simtest.Text(b, simtest.Shared(b, "replays", "terminal", "2026-001.replay.gz"))
	lines := nonBlank(text)[1:]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var f Frame
	for b.Loop() {
		for _, line := range lines {
			if err := ParseFrame(&f, line); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "frames/s")
}

// BenchmarkAppendFrame writes them again, each alone and one after the other.
func BenchmarkAppendFrame(b *testing.B) {
	text := simtest.Text(b, simtest.Shared(b, "replays", "terminal", "2026-001.replay.gz"))
	lines := nonBlank(text)[1:]
	frames := make([]Frame, len(lines))
	for i, line := range lines {
		if err := ParseFrame(&frames[i], line); err != nil {
			b.Fatal(err)
		}
	}
	var w FrameWriter
	for name, appendFrame := range map[string]func([]byte, *Frame) []byte{"alone": AppendFrame, "FrameWriter": w.Append} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var line []byte
			bytes := 0
			for b.Loop() {
				for i := range frames {
					line = appendFrame(line[:0], &frames[i])
					bytes += len(line)
				}
			}
			b.ReportMetric(float64(len(frames)*b.N)/b.Elapsed().Seconds(), "frames/s")
			b.Logf("%d bytes written", bytes)
		})
	}
}

// BenchmarkReader reads all recordings, compressed as they are, once in each
// round; MB are those of the plain text.
func BenchmarkReader(b *testing.B) {
	files := map[string][]byte{}
	for _, path := range recordings(b) {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		files[filepath.Base(path)] = text
	}
	plain, frames := 0, 0
	var f Frame
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
