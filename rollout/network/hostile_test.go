package network

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/network/onnx"
	"moonfarm/sim/texts"
)

// hostile reads a file that may be damaged, and runs it if it can be read and is
// small. The allocations of Read are bounded by the size of the file.
func hostile(t *testing.T, b []byte) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := Read(b, 0)
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
	if size > 1<<20 || m.Operations > 1<<24 {
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
		func(s *sketch) string { return s.Op("Add", list(s.input(onnx.Float32, 3), s.weights(3))) },
		func(s *sketch) string {
			return s.Op("Relu", list(s.Op("MatMul", list(s.input(onnx.Float32, 3), s.weights(3, 2)))))
		},
		func(s *sketch) string {
			return s.Op("Conv", list(s.input(onnx.Float32, 2, 4, 4), s.weights(2, 2, 3, 3)), "pads", []int64{1, 1, 1, 1})
		},
		func(s *sketch) string {
			return s.Op("MaxPool", list(s.input(onnx.Float32, 1, 4, 4)), "kernel_shape", []int64{2, 2})
		},
		func(s *sketch) string {
			return s.Op("Reshape", list(s.input(onnx.Float32, 3, 4), s.ints(-1, 12)))
		},
		func(s *sketch) string {
			in := s.input(onnx.Float32, 4)
			return s.Op("Concat", list(in, s.Op("Softmax", list(in), "axis", 1)), "axis", 1)
		},
		func(s *sketch) string {
			return s.Op("GatherElements", list(s.input(onnx.Float32, 3, 2), s.input(onnx.Uint8, 2, 2)), "axis", 1)
		},
		func(s *sketch) string { return s.Op("ReduceSum", list(s.input(onnx.Float32, 3, 2), s.ints(2))) },
		func(s *sketch) string {
			return s.Op("GatherND", list(s.input(onnx.Float32, 3, 2), s.input(onnx.Uint8, 3, 1)), "batch_dims", 2)
		},
		func(s *sketch) string {
			x := s.input(onnx.Float32, 3, 2)
			return s.Op("Gather", list(s.Op("Reshape", list(x, s.ints(-1, 2))), s.Op("Mul", list(s.rows(x), s.ints(3)))))
		},
		func(s *sketch) string {
			return s.Op("ScatterElements", list(s.input(onnx.Float32, 3), s.input(onnx.Uint8, 2), s.input(onnx.Float32, 2)), "axis", 1, "reduction", "add")
		},
		func(s *sketch) string {
			x := s.input(onnx.Float32, 3)
			index := s.Op("Concat", list(s.Op("Unsqueeze", list(s.rows(x), s.ints(1))), s.Op("Cast", list(s.input(onnx.Uint8, 1)), "to", 7)), "axis", 1)
			return s.Op("ScatterND", list(x, index, s.Op("Squeeze", list(s.input(onnx.Float32, 1), s.ints(1)))))
		},
		func(s *sketch) string { return s.Op("TopK", list(s.input(onnx.Float32, 5), s.ints(2)), "axis", 1) },
		func(s *sketch) string {
			return s.Op("CumSum", list(s.input(onnx.Float32, 5), s.whole(1)), "reverse", 1)
		},
		func(s *sketch) string { return s.Op("ArgMax", list(s.input(onnx.Float32, 5)), "axis", 1) },
		func(s *sketch) string {
			return s.Op("OneHot", list(s.input(onnx.Uint8, 2), s.whole(3), s.weights(2)), "axis", 1)
		},
		func(s *sketch) string {
			return s.Op("Einsum", list(s.input(onnx.Float32, 2, 3), s.input(onnx.Float32, 3)), "equation", "bij,bj->bi")
		},
		func(s *sketch) string {
			return s.Op("Tile", list(s.Op("Trilu", list(s.input(onnx.Float32, 2, 3))), s.ints(1, 2, 1)))
		},
		func(s *sketch) string {
			x := s.Op("Unsqueeze", list(s.input(onnx.Float32, 3), s.ints(0)))
			return s.Op("GRU", list(x, s.weights(1, 6, 3), s.weights(1, 6, 2)), "hidden_size", 2)
		},
		func(s *sketch) string {
			return s.Op("Mul", list(s.input(onnx.Float32, 3), s.Op("Range", list(s.float(1), s.float(4), s.float(1)))))
		},
		func(s *sketch) string {
			return s.Op("Gather", list(s.input(onnx.Float32, 3), s.Op("NonZero", list(s.ints(0, 1, 2)))), "axis", 1)
		},
		func(s *sketch) string {
			return s.Op("Mod", list(s.input(onnx.Uint8, 3), s.input(onnx.Uint8, 3)))
		},
	} {
		s := newSketch(13)
		s.Output(draw(s))
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
		{`operators that are missing here: node "Loop_0" (Loop), node "BitwiseAnd_1" (BitwiseAnd); there are: Abs, Add,`, func(s *sketch) {
			s.Op("BitwiseAnd", list(s.Op("Loop", list(s.input(onnx.Float32, 3)))))
		}},
		{`expected at most 4096 inputs and outputs each, found 4097`, func(s *sketch) {
			for range 4097 {
				s.Output(s.Op("Relu", list(s.input(onnx.Float32, 1))))
			}
		}},
		{`input "in0": expected elements of float32, uint8 or bool, found int64`, func(s *sketch) { s.input(onnx.Int64, 3) }},
		{`input "in0": expected a number as dimension 1, found the name ""`, func(s *sketch) { s.input(onnx.Float32, -1) }},
		{`input "in0": expected an array of 1 to 16777216 elements, found [batch, 5000, 5000]`, func(s *sketch) { s.input(onnx.Float32, 5000, 5000) }},
		{`input "in0": expected an array of 1 to 16777216 elements, found [batch, 65536, 65536]`, func(s *sketch) { s.input(onnx.Float32, 65536, 65536) }},
		{`node "MaxPool_0" (MaxPool): expected windows, strides, dilations and pads below 4096 cells`, func(s *sketch) {
			s.Op("MaxPool", list(s.input(onnx.Float32, 3, 4, 4)), "kernel_shape", []int64{3, 3}, "dilations", []int64{1, 1 << 20})
		}},
		{`input "in0": expected a batch of any size or of 1 as first dimension, found 8`, func(s *sketch) {
			s.input(onnx.Float32, 3)
			s.Inputs[0].Dims[0] = onnx.Dim{Size: 8}
		}},
		{`node "Add_0" (Add): expected compatible shapes, found [batch, 3] and [4]`, func(s *sketch) {
			s.Op("Add", list(s.input(onnx.Float32, 3), s.weights(4)))
		}},
		{`node "Add_0" (Add): expected compatible shapes, found [batch, 1] and [5, 1]`, func(s *sketch) {
			s.Op("Add", list(s.input(onnx.Float32, 1), s.weights(5, 1)))
		}},
		{`node "ReduceSum_0" (ReduceSum): expected an axis within a row, found the batch, 0 of [batch, 3]`, func(s *sketch) {
			s.Op("ReduceSum", list(s.input(onnx.Float32, 3), s.ints(0)))
		}},
		{`node "Reshape_0" (Reshape): expected a shape that keeps the rows of the batch apart, found [batch, 3, 4] made [2, 6·batch]`, func(s *sketch) {
			s.Op("Reshape", list(s.input(onnx.Float32, 3, 4), s.ints(2, -1)))
		}},
		{`node "Reshape_0" (Reshape): expected a shape of as many elements as [batch, 3, 4], found [batch, 13]`, func(s *sketch) {
			s.Op("Reshape", list(s.input(onnx.Float32, 3, 4), s.ints(-1, 13)))
		}},
		{`output "Reshape_0.0": expected the batch as first dimension, found [3·batch, 4]`, func(s *sketch) {
			s.Output(s.Op("Reshape", list(s.input(onnx.Float32, 3, 4), s.ints(-1, 4))))
		}},
		{`output "constant0": expected an array that depends on the inputs, found a constant`, func(s *sketch) { s.Output(s.weights(3)) }},
		{`node "Conv_0" (Conv): weights: expected 3 channels in 1 groups, found weights [4, 2, 3, 3]`, func(s *sketch) {
			s.Op("Conv", list(s.input(onnx.Float32, 3, 8, 8), s.weights(4, 2, 3, 3)))
		}},
		{`node "Conv_0" (Conv): expected boards of at least 5×5 cells with their padding, found 4×4`, func(s *sketch) {
			s.Op("Conv", list(s.input(onnx.Float32, 3, 4, 4), s.weights(4, 3, 5, 5)))
		}},
		{`node "Conv_0" (Conv): weights (input 1): expected a constant, found an array computed from the inputs`, func(s *sketch) {
			s.Op("Conv", list(s.input(onnx.Float32, 3, 4, 4), s.input(onnx.Float32, 3, 1, 1)))
		}},
		{`node "Relu_0" (Relu): expected attributes that are known, found "slope"`, func(s *sketch) {
			s.Op("Relu", list(s.input(onnx.Float32, 3)), "slope", 1)
		}},
		{`node "Concat_0" (Concat): attribute "axis": expected a whole number, found a text`, func(s *sketch) {
			s.Op("Concat", list(s.input(onnx.Float32, 3)), "axis", "one")
		}},
		{`node "Relu_0" (Relu): expected an input 0, found none`, func(s *sketch) { s.Op("Relu", nil) }},
		{`node "ConstantOfShape_0" (ConstantOfShape): expected constants of about the file's size`, func(s *sketch) {
			s.Op("ConstantOfShape", list(s.ints(4000, 4000)))
		}},
		{`node "Expand_0" (Expand): expected an array of 1 to 16777216 elements, found [batch, 100000, 100000]`, func(s *sketch) {
			s.Op("Expand", list(s.input(onnx.Float32, 1, 1), s.ints(1, 100000, 100000)))
		}},
		{`node "NonZero_0" (NonZero): expected a constant, found an array computed from the inputs: the size of the result would depend`, func(s *sketch) {
			s.Op("NonZero", list(s.input(onnx.Float32, 3)))
		}},
		{`node "Range_0" (Range): expected constants, found [batch]: the size of an array must not depend on the data`, func(s *sketch) {
			s.Op("Range", list(s.whole(0), s.input(onnx.Uint8), s.whole(1)))
		}},
		{`node "Range_0" (Range): expected an array of 1 to 16777216 elements, found [16777217]`, func(s *sketch) {
			s.Op("Range", list(s.whole(0), s.whole(1<<39), s.whole(1)))
		}},
		{`node "Range_0" (Range): expected a range of constants or from 0 to a multiple of the batch, found 0 to 5 by 0`, func(s *sketch) {
			s.Op("Range", list(s.whole(0), s.whole(5), s.whole(0)))
		}},
		{`node "Relu_5" (Relu): expected numbers that do not depend on the position of a row in the batch, found numbers counted from its first row`, func(s *sketch) {
			s.Op("Identity", list(s.Op("Relu", list(s.Op("Identity", list(s.rows(s.input(onnx.Float32, 3))))))))
		}},
		{`output "Range_3.0": expected numbers that do not depend on the position of a row in the batch`, func(s *sketch) {
			s.Output(s.rows(s.input(onnx.Float32, 3)))
		}},
		{`node "Gather_5" (Gather): expected an axis within a row, found the batch, 0 of [3·batch]`, func(s *sketch) {
			x := s.input(onnx.Float32, 3)
			s.Output(s.Op("Gather", list(s.Op("Reshape", list(x, s.ints(-1))), s.rows(x)))) // row 1 would read row 0
		}},
		{`node "Gather_4" (Gather): expected indices of elements within a row, found numbers counted from the first row`, func(s *sketch) {
			x := s.input(onnx.Float32, 3)
			s.Output(s.Op("Gather", list(x, s.rows(x)), "axis", 1))
		}},
		{`node "GatherND_5" (GatherND): expected numbers that do not depend on the position of a row`, func(s *sketch) {
			rows := s.rows(s.input(onnx.Float32, 3))
			s.Output(s.Op("GatherND", list(rows, s.Op("Unsqueeze", list(rows, s.ints(1))))))
		}},
		{`node "TopK_0" (TopK): K: expected a number from 1 to 3, found 4`, func(s *sketch) {
			s.Op("TopK", list(s.input(onnx.Float32, 3), s.ints(4)), "axis", 1)
		}},
		{`node "TopK_0" (TopK): expected an axis within a row, found the batch, 0 of [batch, 3]`, func(s *sketch) {
			s.Op("TopK", list(s.input(onnx.Float32, 3), s.ints(1)), "axis", 0)
		}},
		{`node "CumSum_0" (CumSum): expected an axis from -2 to 1, found 9`, func(s *sketch) {
			s.Op("CumSum", list(s.input(onnx.Float32, 3), s.whole(9)))
		}},
		{`node "GatherND_0" (GatherND): expected an array and indices with coordinates in their last dimension, found [batch, 3] and [batch, 3]`, func(s *sketch) {
			s.Op("GatherND", list(s.input(onnx.Float32, 3), s.input(onnx.Uint8, 3)))
		}},
		{`node "GatherND_0" (GatherND): expected indices of elements within a row of the batch, found [batch, 2] for the array [batch, 3]`, func(s *sketch) {
			s.Op("GatherND", list(s.input(onnx.Float32, 3), s.input(onnx.Uint8, 2)))
		}},
		{`node "ScatterND_0" (ScatterND): expected indices of elements within a row of the batch, found [batch, 2] for the array [3, 4]`, func(s *sketch) {
			s.Op("ScatterND", list(s.weights(3, 4), s.input(onnx.Uint8, 2), s.input(onnx.Float32)))
		}},
		{`node "ScatterND_0" (ScatterND): expected updates of the shape [1, 3], found [batch, 3]`, func(s *sketch) {
			point := s.Constant(&onnx.Tensor{Type: onnx.Int64, Dims: []int{1, 1}, Ints: []int64{0}})
			s.Op("ScatterND", list(s.weights(2, 3), point, s.input(onnx.Float32, 3)))
		}},
		{`node "ScatterElements_0" (ScatterElements): reduction: expected none, add, mul, min or max, found "mean"`, func(s *sketch) {
			x := s.input(onnx.Float32, 3)
			s.Op("ScatterElements", list(x, s.input(onnx.Uint8, 3), x), "axis", 1, "reduction", "mean")
		}},
		{`node "OneHot_0" (OneHot): depth: expected a number from 1 to 16777216, found -1`, func(s *sketch) {
			s.Op("OneHot", list(s.input(onnx.Uint8, 3), s.whole(-1), s.weights(2)))
		}},
		{`node "OneHot_0" (OneHot): expected an array of 1 to 16777216 elements, found [batch, 4096, 16777216]`, func(s *sketch) {
			s.Op("OneHot", list(s.input(onnx.Uint8, 4096), s.whole(1<<24), s.weights(2)))
		}},
		{`node "Tile_0" (Tile): repeats: expected numbers from 1 to 16777216, found [1 0]`, func(s *sketch) {
			s.Op("Tile", list(s.input(onnx.Float32, 3), s.ints(1, 0)))
		}},
		{`node "Tile_0" (Tile): expected an array of 1 to 16777216 elements, found [batch, 16777217]`, func(s *sketch) {
			s.Op("Tile", list(s.input(onnx.Float32, 3), s.ints(1, 1<<24)))
		}},
		{`node "Einsum_0" (Einsum): equation: expected terms of different letters, found "bii->bi"`, func(s *sketch) {
			s.Op("Einsum", list(s.input(onnx.Float32, 3, 3)), "equation", "bii->bi")
		}},
		{`node "Einsum_0" (Einsum): expected an axis within a row, found the batch, 0 of [batch, 3]`, func(s *sketch) {
			s.Op("Einsum", list(s.input(onnx.Float32, 3)), "equation", "bi->i")
		}},
		{`node "LSTM_1" (LSTM): expected weights [directions, 16, 2], found [1, 16, 3]`, func(s *sketch) {
			x := s.Op("Transpose", list(s.input(onnx.Float32, 3, 2)), "perm", []int64{1, 0, 2})
			s.Op("LSTM", list(x, s.weights(1, 16, 3), s.weights(1, 16, 4)), "hidden_size", 4)
		}},
		{`node "GRU_0" (GRU): expected [steps, batch, inputs] and weights of three dimensions, found [batch, 3, 2] and [1, 12, 2]`, func(s *sketch) {
			s.Op("GRU", list(s.input(onnx.Float32, 3, 2), s.weights(1, 12, 2), s.weights(1, 12, 4)), "hidden_size", 4)
		}},
		{`expected operators of version 7 or later (opset_import), found 6`, func(s *sketch) { s.Opset = 6 }},
		{`expected an output, found none`, func(s *sketch) {}},
	} {
		t.Run(c.want, func(t *testing.T) {
			s := newSketch(13)
			c.sketch(s)
			if len(s.Nodes) > 0 && len(s.Outputs) == 0 {
				s.Output(s.Nodes[0].Outputs[0])
			}
			_, err := Read(onnx.Encode(&s.Graph), 0)
			require.ErrorContains(t, err, "network: "+c.want)
		})
	}
}

// TestWork: a network that takes more operations than the bound is refused, by the node that takes most of them.
func TestWork(t *testing.T) {
	const giga = 1_000_000_000
	for _, c := range []struct {
		found  int64 // in thousands of millions
		sketch func(s *sketch) string
	}{
		{512_513, func(s *sketch) string {
			return s.Op("MaxPool", list(s.input(onnx.Float32, 1, 4000, 4000)), "kernel_shape", []int64{2000, 2000})
		}},
		{512_513, func(s *sketch) string {
			return s.Op("AveragePool", list(s.input(onnx.Float32, 1, 4000, 4000)), "kernel_shape", []int64{2000, 2000})
		}},
		{129, func(s *sketch) string {
			tile := s.Op("Tile", list(s.input(onnx.Float32, 1, 1), s.ints(1, 4000, 4000)))
			return s.Op("ReduceMean", list(s.Op("MatMul", list(tile, tile)), s.ints(1, 2)))
		}},
		{129, func(s *sketch) string {
			wide := s.Op("Expand", list(s.input(onnx.Float32, 1, 1), s.ints(1, 4000, 4000)))
			return s.Op("Einsum", list(wide, wide), "equation", "...ij,...jk->...ik")
		}},
		{35, func(s *sketch) string {
			small := s.Op("Resize", list(s.input(onnx.Float32, 1, 1, 1), "", "", s.ints(4096, 512)), "axes", []int64{2, 3}, "mode", "linear")
			long := s.Op("Reshape", list(small, s.ints(0, 4096, 512)))
			return s.Op("Slice", list(s.Op("Attention", list(long, long, long), "q_num_heads", 1, "kv_num_heads", 1), s.ints(0), s.ints(1), s.ints(1)))
		}},
		{21, func(s *sketch) string {
			x := s.Op("Expand", list(s.input(onnx.Float32, 1, 1), s.ints(1, 4000, 4000)))
			for range 12 {
				x = s.Op("Pow", list(x, x))
			}
			return s.Op("Slice", list(x, s.ints(0), s.ints(1), s.ints(1)))
		}},
	} {
		s := newSketch(18)
		s.Output(c.sketch(s))
		file := onnx.Encode(&s.Graph)
		begin := time.Now()
		_, err := Read(file, 0)
		want := fmt.Sprintf("network: expected at most 20 G operations an evaluation, found %s G, of which node ", texts.Group(c.found))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "; the option work=N allows N G")
		_, err = Read(file, (c.found-1)*giga)
		require.Error(t, err)
		m, err := Read(file, c.found*giga)
		require.NoError(t, err)
		assert.InDelta(t, c.found, float64(m.Operations)/giga, 1)
		assert.Lessf(t, time.Since(begin), 20*time.Second, "%d bytes are read slowly", len(file))
	}
}

// attributesOf has attributes that random nodes may have, by operator.
var attributesOf = map[string][]string{
	"axis":        strings.Fields("ArgMax ArgMin Concat DequantizeLinear Flatten Gather GatherElements LogSoftmax OneHot QuantizeLinear RMSNormalization ScatterElements Softmax Split TopK"),
	"keepdims":    strings.Fields("ArgMax ArgMin ReduceSum ReduceMax ReduceProd ReduceL2"),
	"largest":     strings.Fields("TopK"),
	"exclusive":   strings.Fields("CumSum"),
	"reverse":     strings.Fields("CumSum"),
	"upper":       strings.Fields("Trilu"),
	"batch_dims":  strings.Fields("GatherND"),
	"blocksize":   strings.Fields("DepthToSpace SpaceToDepth"),
	"hidden_size": strings.Fields("LSTM GRU"),
	"to":          strings.Fields("Cast"),
	"fmod":        strings.Fields("Mod"),
	"block_size":  strings.Fields("DequantizeLinear QuantizeLinear"),
	"is_causal":   strings.Fields("Attention"),
	"num_groups":  strings.Fields("GroupNormalization"),
}

// randomGraph returns a graph of a few random nodes over inputs, constants and numbers of rows.
func randomGraph(random *rand.Rand, ops []string) *sketch {
	s := newSketch(18)
	s.random = random
	x := s.input(onnx.Float32, 3, 4)
	names := list(x, s.input(onnx.Float32, 2, 3, 4), s.input(onnx.Uint8, 3, 4), s.input(onnx.Uint8, 2), s.input(onnx.Bool, 3, 4))
	names = append(names, s.weights(3, 4), s.weights(4, 4), s.weights(2), s.float(2), s.whole(1), s.ints(1), s.ints(2, 1), s.ints(-1, 4), s.ints(0, 3, 2))
	names = append(names, s.rows(x), s.Op("Unsqueeze", list(s.rows(x), s.ints(1))), s.Op("Reshape", list(x, s.ints(-1, 4))), s.Op("Cast", list(names[3]), "to", 7))
	for range 1 + random.IntN(5) {
		op := ops[random.IntN(len(ops))]
		var in []string
		for range 1 + random.IntN(3) {
			in = append(in, names[random.IntN(len(names))])
		}
		var attributes []any
		for _, name := range slices.Sorted(maps.Keys(attributesOf)) {
			if slices.Contains(attributesOf[name], op) && random.IntN(3) > 0 {
				attributes = append(attributes, name, random.IntN(6)-2)
			}
		}
		switch op {
		case "ScatterND", "ScatterElements":
			attributes = append(attributes, "reduction", list("none", "add", "mul", "min", "max")[random.IntN(5)])
		case "Einsum":
			attributes = append(attributes, "equation", list("bij,bij->bi", "bij,jk->bik", "bij->bj", "bi,bj->bij", "bij,kj->bki", "...i,...i->...", "b...,b...->b", "...,ij->...j", "bij,bij,jk->bik")[random.IntN(9)])
		case "Pad":
			attributes = append(attributes, "mode", list("reflect", "edge", "wrap", "constant")[random.IntN(4)])
		case "Resize":
			attributes = append(attributes, "mode", list("nearest", "linear")[random.IntN(2)], "axes", []int64{1, 2})
		}
		names = append(names, s.Op(op, in, attributes...))
	}
	s.Output(names[len(names)-1])
	return s
}

// TestRandomNodes: graphs of random nodes are refused, or give the same bits for a row in any batch, whatever the
// inputs are.
func TestRandomNodes(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	odd := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2.5, -7, 1e9, -3e38, 1e-40, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	ops := known()
	ran, rounds := map[string]bool{}, 15000
	if testing.Short() {
		rounds = 5000
	}
	for range rounds {
		s := randomGraph(random, ops)
		m, err := Read(onnx.Encode(&s.Graph), 0)
		if err != nil {
			continue
		}
		last := s.Nodes[len(s.Nodes)-1]
		ran[last.Op] = true
		const rows = 3
		all, single := m.NewRunner(rows), m.NewRunner(1)
		for i := range m.Inputs {
			for j := range all.floats[i] {
				all.floats[i][j] = odd[random.IntN(len(odd))]
			}
			for j := range all.bytes[i] {
				all.bytes[i][j] = uint8(random.IntN(5) * random.IntN(2))
			}
		}
		all.Run(rows)
		v := m.Outputs[0]
		for row := range rows {
			for i, in := range m.Inputs {
				copy(single.floats[i], all.floats[i][min(row*in.Len(), len(all.floats[i])):])
				copy(single.bytes[i], all.bytes[i][min(row*in.Len(), len(all.bytes[i])):])
			}
			single.Run(1)
			for i, x := range single.Output(v.Name)[:v.Len()] {
				y := all.Output(v.Name)[row*v.Len()+i]
				if math.Float32bits(x) != math.Float32bits(y) && (x == x || y == y) {
					t.Fatalf("number %d of row %d of %s is %g in a batch and %g alone, after %v", i, row, last, y, x, nodeList(s))
				}
			}
		}
	}
	t.Logf("%d of %d operators ran", len(ran), len(ops))
	assert.GreaterOrEqual(t, len(ran), 60)
}

// nodeList describes the nodes of a graph.
func nodeList(s *sketch) (all []string) {
	for _, n := range s.Nodes {
		all = append(all, fmt.Sprint(n.Op, n.Inputs, n.Outputs))
	}
	return all
}
