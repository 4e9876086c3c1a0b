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
	m := onnx.Sketch{Graph: onnx.Graph{Opset: 13}}
	choices, random := features.Choices(s.Heads), prng.New(seed)
	weights := func(rows, columns int, scale float64) string {
		t := &onnx.Tensor{Type: onnx.Float32, Dims: []int{rows, columns}}
		for range t.Len() {
			t.Floats = append(t.Floats, float32((float64(2*float64(random.Float64()))-1)*scale))
		}
		return m.Constant(t)
	}
	node := func(operator string, inputs ...string) string {
		if operator == "Cast" {
			return m.Op(operator, inputs, "to", int(onnx.Float32))
		}
		return m.Op(operator, inputs)
	}
	planes := m.Input("planes", onnx.Uint8, s.Shape.Planes, s.Shape.Height, s.Shape.Width)
	all, n := node("Flatten", node("GlobalAveragePool", node("Cast", planes))), s.Shape.Planes
	if s.Shape.Scalars > 0 {
		all = m.Op("Concat", []string{all, m.Input("scalars", onnx.Float32, s.Shape.Scalars)}, "axis", 1)
		n += s.Shape.Scalars
	}
	bent := node("Tanh", node("MatMul", all, weights(n, hidden, 0.02)))
	last := node("MatMul", bent, weights(hidden, choices, 1))
	for _, op := range operators {
		last = node(op, last)
	}
	m.Result("logits", last)
	if value {
		m.Result("value", node("Tanh", node("MatMul", bent, weights(hidden, 1, 1))))
	}
	return onnx.Encode(&m.Graph)
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
