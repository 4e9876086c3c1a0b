// Package neuraltest makes small untrained networks for tests, as ONNX files for any game.
package neuraltest

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout/network/onnx"
	"moonfarm/sim/prng"
)

// hidden is the width of the hidden layer.
const hidden = 8

// Model returns a network for games of the spec, with random weights from the seed. Its inputs
// are planes (uint8), of which it takes the means, and scalars; its outputs are the logits of
// all heads and, if value is set, a value.
func Model(s env.Spec, seed uint64, value bool) []byte { return Ending(s, seed, value) }

// Ending returns the network of Model with operators of one input appended to the logits, one
// after the other.
func Ending(s env.Spec, seed uint64, value bool, operators ...string) []byte {
	m := newMaker(seed)
	bent, choices := m.bent(s), features.Choices(s.Heads)
	last := m.node("MatMul", bent, m.weights(1, hidden, choices))
	for _, op := range operators {
		last = m.node(op, last)
	}
	m.Result("logits", last)
	if value {
		m.Result("value", m.node("Tanh", m.node("MatMul", bent, m.weights(1, hidden, 1))))
	}
	return onnx.Encode(&m.Graph)
}

// Recurrent returns a recurrent network: an LSTM between the layers of Model, with the states state_h
// and state_c, and state_count, to which each action adds 1. All of them change the logits.
func Recurrent(s env.Spec, seed uint64) []byte {
	m := newMaker(seed)
	ints := func(x int64) string {
		return m.Constant(&onnx.Tensor{Type: onnx.Int64, Dims: []int{1}, Ints: []int64{x}})
	}
	number := func(x float32) string {
		return m.Constant(&onnx.Tensor{Type: onnx.Float32, Dims: []int{1}, Floats: []float32{x}})
	}
	turned := func(x string) string { return m.Op("Transpose", []string{x}, "perm", []int64{1, 0, 2}) }
	steps := turned(m.node("Unsqueeze", m.bent(s), ints(1)))
	lstm := m.Ops("LSTM", 3, []string{steps, m.weights(3, 1, 4*hidden, hidden), m.weights(3, 1, 4*hidden, hidden), "", "",
		turned(m.Input("state_h", onnx.Float32, 1, hidden)), turned(m.Input("state_c", onnx.Float32, 1, hidden))}, "hidden_size", hidden)
	h, choices := turned(lstm[1]), features.Choices(s.Heads)
	count := m.Input("state_count", onnx.Float32, 1)
	phase := m.Op("Mod", []string{count, number(7)}, "fmod", 1)
	m.Result("logits", m.node("Add", m.node("MatMul", m.node("Flatten", h), m.weights(6, hidden, choices)), m.node("MatMul", phase, m.weights(1, 1, choices))))
	m.Result("next_state_count", m.node("Add", count, number(1)))
	m.Result("next_state_c", turned(lstm[2]))
	m.Result("next_state_h", h)
	return onnx.Encode(&m.Graph)
}

// maker makes a network with random weights.
type maker struct {
	onnx.Sketch
	random prng.Rand
}

func newMaker(seed uint64) *maker {
	return &maker{onnx.Sketch{Graph: onnx.Graph{Opset: 13}}, prng.New(seed)}
}

// weights adds an array of numbers within ±scale.
func (m *maker) weights(scale float64, dims ...int) string {
	t := &onnx.Tensor{Type: onnx.Float32, Dims: dims}
	for range t.Len() {
		t.Floats = append(t.Floats, float32((float64(2*float64(m.random.Float64()))-1)*scale))
	}
	return m.Constant(t)
}

func (m *maker) node(operator string, inputs ...string) string {
	if operator == "Cast" {
		return m.Op(operator, inputs, "to", int(onnx.Float32))
	}
	return m.Op(operator, inputs)
}

// bent adds the inputs and the hidden layer.
func (m *maker) bent(s env.Spec) string {
	planes := m.Input("planes", onnx.Uint8, s.Shape.Planes, s.Shape.Height, s.Shape.Width)
	all, n := m.node("Flatten", m.node("GlobalAveragePool", m.node("Cast", planes))), s.Shape.Planes
	if s.Shape.Scalars > 0 {
		all = m.Op("Concat", []string{all, m.Input("scalars", onnx.Float32, s.Shape.Scalars)}, "axis", 1)
		n += s.Shape.Scalars
	}
	return m.node("Tanh", m.node("MatMul", all, m.weights(0.02, n, hidden)))
}

// Split moves the weights of a model of Model to another file, as PyTorch does; the rest refers
// to them by that location. Each tensor begins at a multiple of 64 bytes.
func Split(model []byte, location string) (rest, data []byte) {
	rest = rewrite(model, 7, func(graph []byte) []byte {
		return rewrite(graph, 5, func(t []byte) []byte {
			var raw []byte
			t = rewrite(t, 9, func(b []byte) []byte { raw = b; return nil })
			for _, e := range [][2]string{{"location", location}, {"offset", fmt.Sprint(len(data))}, {"length", fmt.Sprint(len(raw))}} {
				t = message(t, 13, message(message(nil, 1, []byte(e[0])), 2, []byte(e[1])))
			}
			data = append(append(data, raw...), make([]byte, -len(raw)&63)...)
			return protowire.AppendVarint(protowire.AppendTag(t, 14, protowire.VarintType), 1)
		})
	})
	return rest, data
}

func message(dst []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), m)
}

// rewrite replaces the content of a message's fields with that number by change's result, and
// removes fields for which change returns nil.
func rewrite(b []byte, field protowire.Number, change func(content []byte) []byte) (out []byte) {
	for len(b) > 0 {
		n, _, size := protowire.ConsumeField(b)
		if n != field {
			out = append(out, b[:size]...)
		} else {
			_, _, tag := protowire.ConsumeTag(b)
			content, _ := protowire.ConsumeBytes(b[tag:])
			if content = change(content); content != nil {
				out = message(out, field, content)
			}
		}
		b = b[size:]
	}
	return out
}
