package network

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/network/onnx"
)

// hostile reads a file that may be damaged, and runs it if it can be read and is
// small. The allocations of Read are bounded by the size of the file.
func hostile(t *testing.T, b []byte) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := Read(b)
	runtime.ReadMemStats(&after)
	got, most := after.TotalAlloc-before.TotalAlloc, uint64(256<<20+200*len(b))
	assert.LessOrEqualf(t, got, most, "a file of %d bytes made Read allocate %d, want at most %d", len(b), got, most)
	if err != nil {
		text := err.Error()
		assert.Truef(t, (strings.HasPrefix(text, "onnx: ") || strings.HasPrefix(text, "network: ")) && len(text) <= 4000+2*len(b), "error %q", text)
		return
	}
	size := m.scratch
	for _, s := range m.slots {
		size += s.size
	}
	loops := int64(0)
	for _, s := range m.steps {
		if p, ok := s.task.(*poolTask); ok {
			loops += int64(p.windows.h*p.windows.w*p.channels) * int64(p.kh*p.kw)
		}
	}
	if size > 1<<20 || m.FLOPs()+loops > 1<<24 {
		return
	}
	r := m.NewRunner(2)
	r.Run(2)
}

func models(t testing.TB) (all [][]byte) {
	files, err := filepath.Glob("testdata/*.onnx")
	require.NoErrorf(t, err, "%d networks", len(files))
	require.GreaterOrEqualf(t, len(files), 12, "%d networks", len(files))
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		all = append(all, b)
	}
	return all
}

// FuzzRead begins with networks of some hundred bytes, since the fuzzer minimizes inputs
// byte by byte, which takes minutes for a file of 20 kB.
func FuzzRead(f *testing.F) {
	for _, draw := range []func(s *sketch) string{
		func(s *sketch) string { return s.node("Add", list(s.input(onnx.Float32, 3), s.weights(3))) },
		func(s *sketch) string {
			return s.node("Relu", list(s.node("MatMul", list(s.input(onnx.Float32, 3), s.weights(3, 2)))))
		},
		func(s *sketch) string {
			return s.node("Conv", list(s.input(onnx.Float32, 2, 4, 4), s.weights(2, 2, 3, 3)), "pads", []int64{1, 1, 1, 1})
		},
		func(s *sketch) string {
			return s.node("MaxPool", list(s.input(onnx.Float32, 1, 4, 4)), "kernel_shape", []int64{2, 2})
		},
		func(s *sketch) string {
			return s.node("Reshape", list(s.input(onnx.Float32, 3, 4), s.ints(-1, 12)))
		},
		func(s *sketch) string {
			in := s.input(onnx.Float32, 4)
			return s.node("Concat", list(in, s.node("Softmax", list(in), "axis", 1)), "axis", 1)
		},
		func(s *sketch) string {
			return s.node("GatherElements", list(s.input(onnx.Float32, 3, 2), s.input(onnx.Uint8, 2, 2)), "axis", 1)
		},
		func(s *sketch) string { return s.node("ReduceSum", list(s.input(onnx.Float32, 3, 2), s.ints(2))) },
	} {
		s := newSketch(13)
		s.output(draw(s))
		f.Add(onnx.Encode(&s.Graph))
	}
	f.Fuzz(func(t *testing.T, b []byte) { hostile(t, b) })
}

// TestDamaged: files with random damage give errors, or networks that run.
func TestDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 40
	if testing.Short() {
		rounds = 4
	}
	for _, b := range models(t) {
		// Most bytes are weights, whose damage has no effect. Damage the structure, which
		// is near texts.
		var places []int
		for i := range b {
			if i+4 < len(b) && isWord(b[i:i+4]) {
				places = append(places, i)
			}
		}
		for range rounds {
			c := slices.Clone(b)
			for range 1 + random.IntN(4) {
				at := min(max(0, places[random.IntN(len(places))]+random.IntN(40)-20), len(c)-1)
				switch random.IntN(4) {
				case 0:
					c[at] = byte(random.Uint32())
				case 1:
					c[at] ^= 1 << random.IntN(8)
				case 2:
					c = slices.Delete(c, at, min(at+1+random.IntN(8), len(c)))
				default:
					c = slices.Insert(c, at, c[at:min(at+random.IntN(30), len(c))]...)
				}
			}
			hostile(t, c)
		}
		hostile(t, b[:random.IntN(len(b))])
	}
}

func isWord(b []byte) bool {
	for _, c := range b {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// TestRefused: networks that cannot run are refused, with the node and the reason.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		want   string
		sketch func(s *sketch)
	}{
		{`operators that are missing here: node "Loop_0" (Loop), node "Unique_1" (Unique); there are: Abs, Add,`, func(s *sketch) {
			s.node("Unique", list(s.node("Loop", list(s.input(onnx.Float32, 3)))))
		}},
		{`input "in0": expected elements of float32, uint8 or bool, found int64`, func(s *sketch) { s.input(onnx.Int64, 3) }},
		{`input "in0": expected a number as dimension 1, found the name ""`, func(s *sketch) { s.input(onnx.Float32, -1) }},
		{`input "in0": expected an array of 1 to 16777216 elements, found [batch, 5000, 5000]`, func(s *sketch) { s.input(onnx.Float32, 5000, 5000) }},
		{`input "in0": expected an array of 1 to 16777216 elements, found [batch, 65536, 65536]`, func(s *sketch) { s.input(onnx.Float32, 65536, 65536) }},
		{`node "MaxPool_0" (MaxPool): expected windows, strides, dilations and pads below 4096 cells`, func(s *sketch) {
			s.node("MaxPool", list(s.input(onnx.Float32, 3, 4, 4)), "kernel_shape", []int64{3, 3}, "dilations", []int64{1, 1 << 20})
		}},
		{`input "in0": expected a batch of any size or of 1 as first dimension, found 8`, func(s *sketch) {
			s.input(onnx.Float32, 3)
			s.Inputs[0].Dims[0] = onnx.Dim{Size: 8}
		}},
		{`node "Add_0" (Add): expected compatible shapes, found [batch, 3] and [4]`, func(s *sketch) {
			s.node("Add", list(s.input(onnx.Float32, 3), s.weights(4)))
		}},
		{`node "Add_0" (Add): expected compatible shapes, found [batch, 1] and [5, 1]`, func(s *sketch) {
			s.node("Add", list(s.input(onnx.Float32, 1), s.weights(5, 1)))
		}},
		{`node "ReduceSum_0" (ReduceSum): expected an axis within a row, found the batch, 0 of [batch, 3]`, func(s *sketch) {
			s.node("ReduceSum", list(s.input(onnx.Float32, 3), s.ints(0)))
		}},
		{`node "Reshape_0" (Reshape): expected a shape that keeps the rows of the batch apart, found [batch, 3, 4] made [2, 6·batch]`, func(s *sketch) {
			s.node("Reshape", list(s.input(onnx.Float32, 3, 4), s.ints(2, -1)))
		}},
		{`node "Reshape_0" (Reshape): expected a shape of as many elements as [batch, 3, 4], found [batch, 13]`, func(s *sketch) {
			s.node("Reshape", list(s.input(onnx.Float32, 3, 4), s.ints(-1, 13)))
		}},
		{`output "Reshape_0.0": expected the batch as first dimension, found [3·batch, 4]`, func(s *sketch) {
			s.output(s.node("Reshape", list(s.input(onnx.Float32, 3, 4), s.ints(-1, 4))))
		}},
		{`output "constant0": expected an array that depends on the inputs, found a constant`, func(s *sketch) { s.output(s.weights(3)) }},
		{`node "Conv_0" (Conv): weights: expected 3 channels in 1 groups, found weights [4, 2, 3, 3]`, func(s *sketch) {
			s.node("Conv", list(s.input(onnx.Float32, 3, 8, 8), s.weights(4, 2, 3, 3)))
		}},
		{`node "Conv_0" (Conv): expected boards of at least 5×5 cells with their padding, found 4×4`, func(s *sketch) {
			s.node("Conv", list(s.input(onnx.Float32, 3, 4, 4), s.weights(4, 3, 5, 5)))
		}},
		{`node "Conv_0" (Conv): weights (input 1): expected a constant, found an array computed from the inputs`, func(s *sketch) {
			s.node("Conv", list(s.input(onnx.Float32, 3, 4, 4), s.input(onnx.Float32, 3, 1, 1)))
		}},
		{`node "Relu_0" (Relu): expected attributes that are known, found "slope"`, func(s *sketch) {
			s.node("Relu", list(s.input(onnx.Float32, 3)), "slope", 1)
		}},
		{`node "Concat_0" (Concat): attribute "axis": expected a whole number, found a text`, func(s *sketch) {
			s.node("Concat", list(s.input(onnx.Float32, 3)), "axis", "one")
		}},
		{`node "Relu_0" (Relu): expected an input 0, found none`, func(s *sketch) { s.node("Relu", nil) }},
		{`node "ConstantOfShape_0" (ConstantOfShape): expected constants of about the file's size`, func(s *sketch) {
			s.node("ConstantOfShape", list(s.ints(4000, 4000)))
		}},
		{`node "Expand_0" (Expand): expected an array of 1 to 16777216 elements, found [batch, 100000, 100000]`, func(s *sketch) {
			s.node("Expand", list(s.input(onnx.Float32, 1, 1), s.ints(1, 100000, 100000)))
		}},
		{`expected operators of version 7 or later (opset_import), found 6`, func(s *sketch) { s.Opset = 6 }},
		{`expected an output, found none`, func(s *sketch) {}},
	} {
		t.Run(c.want, func(t *testing.T) {
			s := newSketch(13)
			c.sketch(s)
			if len(s.Nodes) > 0 && len(s.Outputs) == 0 {
				s.output(s.Nodes[0].Outputs[0])
			}
			_, err := Read(onnx.Encode(&s.Graph))
			require.ErrorContains(t, err, "network: "+c.want)
		})
	}
}
