// Package benchnets makes networks such as play board games, as ONNX files, for benchmarks:
// convolutions or residual blocks of 64 channels with a policy and a value. They are
// untrained; their weights are the same on every machine.
package benchnets

import (
	"math"

	"moonfarm/rollout/network/onnx"
	"moonfarm/sim/prng"
)

// Net describes a network. Its input "planes" is float32 [batch, 9, Height, Width];
// its outputs are "policy", float32 logits, and "value", float32 [batch, 1] from −1 to 1.
type Net struct {
	Name          string
	Height, Width int
	Blocks        int // residual blocks of two 3×3 convolutions each, after the first convolution; 0: two more convolutions
	Choices       int // logits of a dense layer; 0: a further 3×3 convolution and one of 1×1 make 8 logits a cell
}

// All are the networks of the benchmarks, the smallest first.
var All = []Net{
	{"small", 8, 16, 0, 322},
	{"medium", 8, 16, 6, 322},
	{"28x28", 28, 28, 0, 0},
	{"80x80", 80, 80, 0, 0},
}

const (
	planes   = 9
	channels = 64
)

// File returns the network as an ONNX file.
func (n Net) File() []byte {
	random := prng.New(uint64(n.Height*n.Width + n.Blocks))
	b := &builder{random: &random}
	b.Producer, b.Opset = "moonfarm", 13
	x := b.node("Relu", b.convolve(b.Input("planes", onnx.Float32, planes, n.Height, n.Width), planes, channels, 3))
	if n.Blocks == 0 {
		for range 2 {
			x = b.node("Relu", b.convolve(x, channels, channels, 3))
		}
	}
	for range n.Blocks {
		y := b.node("Relu", b.convolve(x, channels, channels, 3))
		x = b.node("Relu", b.node("Add", b.convolve(y, channels, channels, 3), x))
	}
	if n.Choices == 0 {
		x = b.node("Relu", b.convolve(x, channels, channels, 3))
		b.Result("policy", b.node("Flatten", b.convolve(x, channels, 8, 1)))
	} else {
		p := b.node("Flatten", b.node("Relu", b.convolve(x, channels, 4, 1)))
		b.Result("policy", b.dense(p, 4*n.Height*n.Width, n.Choices))
	}
	value := b.node("Flatten", b.node("GlobalAveragePool", x))
	b.Result("value", b.node("Tanh", b.dense(value, channels, 1)))
	return onnx.Encode(&b.Graph)
}

// builder adds to a graph.
type builder struct {
	onnx.Sketch
	random *prng.Rand
}

// weights adds a constant of random numbers, scaled so that sums of `terms` products are about
// as large as the inputs.
func (b *builder) weights(terms int, dims ...int) string {
	t := &onnx.Tensor{Type: onnx.Float32, Dims: dims}
	most := math.Sqrt(6 / float64(terms))
	for range t.Len() {
		t.Floats = append(t.Floats, float32(float64(2*float64(b.random.Float64()))-1)*float32(most))
	}
	return b.Constant(t)
}

func (b *builder) node(op string, inputs ...string) string { return b.Op(op, inputs) }

// convolve adds a convolution that keeps the board's size.
func (b *builder) convolve(x string, in, out, size int) string {
	terms, edge := in*size*size, int64(size/2)
	return b.Op("Conv", []string{x, b.weights(terms, out, in, size, size), b.weights(terms, out)}, "pads", []int64{edge, edge, edge, edge})
}

// dense adds a dense layer.
func (b *builder) dense(x string, in, out int) string {
	return b.node("Gemm", x, b.weights(in, in, out), b.weights(in, out))
}
