package network

import (
	"fmt"
	"math"
	"testing"

	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// convolve adds a convolution that keeps the board's size.
func (s *sketch) convolve(x string, in, out, size int) string {
	edge := int64(size / 2)
	return s.node("Conv", list(x, s.weights(out, in, size, size), s.weights(out)), "pads", []int64{edge, edge, edge, edge})
}

// tower is three to four convolutions, or residual blocks, with heads.
func tower(height, width, blocks, choices int) []byte {
	const c = 64
	s := newSketch(13)
	x := s.node("Relu", list(s.convolve(s.input(onnx.Float32, 9, height, width), 9, c, 3)))
	for range 2 {
		if blocks == 0 {
			x = s.node("Relu", list(s.convolve(x, c, c, 3)))
		}
	}
	for range blocks {
		y := s.node("Relu", list(s.convolve(x, c, c, 3)))
		x = s.node("Relu", list(s.node("Add", list(s.convolve(y, c, c, 3), x))))
	}
	if choices == 0 { // a head for each cell
		x = s.node("Relu", list(s.convolve(x, c, c, 3)))
		s.output(s.node("Flatten", list(s.convolve(x, c, 8, 1))))
	} else {
		p := s.node("Flatten", list(s.node("Relu", list(s.convolve(x, c, 4, 1)))))
		s.output(s.node("Gemm", list(p, s.weights(4*height*width, choices), s.weights(choices))))
	}
	v := s.node("Flatten", list(s.node("GlobalAveragePool", list(x))))
	s.output(s.node("Tanh", list(s.node("Gemm", list(v, s.weights(c, 1), s.weights(1))))))
	return encode(&s.Graph)
}

// BenchmarkRun evaluates towers of 64 channels. The checksum is of the answers.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name string
		file []byte
	}{{"small", tower(8, 16, 0, 322)}, {"medium", tower(8, 16, 6, 322)}, {"28x28", tower(28, 28, 0, 0)}, {"80x80", tower(80, 80, 0, 0)}} {
		m, err := Read(c.file)
		if err != nil {
			b.Fatal(err)
		}
		for _, batch := range []int{1, 32, 256} {
			b.Run(fmt.Sprintf("%s/%d", c.name, batch), func(b *testing.B) {
				r := m.NewRunner(batch)
				in := r.Floats("in0")
				for i := range in {
					in[i] = float32(i*7%13) / 13
				}
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					r.Run(batch)
				}
				b.StopTimer()
				sum := uint32(0)
				for _, x := range r.Output(m.outputs[0].Name)[:m.outputs[0].Len()] {
					sum = sum*31 + math.Float32bits(x)
				}
				each := b.Elapsed().Seconds() / float64(b.N*batch)
				b.ReportMetric(1/each, "evaluations/s")
				b.ReportMetric(float64(m.FLOPs())/each/1e9, "GFLOP/s")
				b.Logf("%s, %.1f MFLOP, checksum %08x", kernel.Features(), float64(m.FLOPs())/1e6, sum)
			})
		}
	}
}

// BenchmarkRead loads files.
func BenchmarkRead(b *testing.B) {
	for name, file := range map[string][]byte{"small": tower(8, 16, 0, 322), "medium": tower(8, 16, 6, 322)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for range b.N {
				if _, err := Read(file); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPeak is what a core can do at most.
func BenchmarkPeak(b *testing.B) {
	peak := 0.0
	for range b.N {
		peak = max(peak, kernel.Peak())
	}
	b.ReportMetric(peak/1e9, "GFLOP/s")
}
