package frame

import (
	"testing"

	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// size returns the bytes of lines with their ends.
func size(lines [][]byte) (n int64) {
	for _, line := range lines {
		n += int64(len(line)) + 1
	}
	return n
}

// BenchmarkParse reads the frames of one recording from memory.
func BenchmarkParse(b *testing.B) {
	lines := wiretest.Recording(b, "2026-001.replay.gz")[1:]
	b.SetBytes(size(lines))
	b.ReportAllocs()
	var f Frame
	for b.Loop() {
		for _, line := range lines {
			if err := Parse(&f, line); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "frames/s")
}

// BenchmarkAppend writes the same frames with Frame.Append and with a Writer.
func BenchmarkAppend(b *testing.B) {
	lines := wiretest.Recording(b, "2026-001.replay.gz")[1:]
	frames := make([]Frame, len(lines))
	for i, line := range lines {
		if err := Parse(&frames[i], line); err != nil {
			b.Fatal(err)
		}
	}
	var w Writer
	for name, appendFrame := range map[string]func([]byte, *Frame) []byte{
		"Frame":  func(dst []byte, f *Frame) []byte { return f.Append(dst, config.Local) },
		"Writer": w.Append,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size(lines))
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
