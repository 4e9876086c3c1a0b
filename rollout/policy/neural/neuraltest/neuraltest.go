// Package neuraltest makes small untrained networks for tests, as ONNX files for any game.
package neuraltest

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"moonfarm/env"
	"moonfarm/features"
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
	r := prng.New(seed)
	m := &maker{random: &r}
	choices := features.Choices(s.Heads)
	m.value(11, "planes", typeUint8, s.Shape.Planes, s.Shape.Height, s.Shape.Width)
	m.node("Cast", []string{"planes"}, "numbers", integer("to", typeFloat))
	m.node("GlobalAveragePool", []string{"numbers"}, "means", nil)
	m.node("Flatten", []string{"means"}, "seen", nil)
	n := s.Shape.Planes
	if s.Shape.Scalars > 0 {
		m.value(11, "scalars", typeFloat, s.Shape.Scalars)
		m.node("Concat", []string{"seen", "scalars"}, "all", integer("axis", 1))
		n += s.Shape.Scalars
	} else {
		m.node("Identity", []string{"seen"}, "all", nil)
	}
	m.weights("first", n, hidden, 0.02)
	m.node("MatMul", []string{"all", "first"}, "inner", nil)
	m.node("Tanh", []string{"inner"}, "bent", nil)
	m.weights("second", hidden, choices, 1)
	last := "logits"
	m.node("MatMul", []string{"bent", "second"}, last, nil)
	for i, op := range operators {
		next := fmt.Sprintf("end%d", i)
		var attribute []byte
		if op == "Cast" {
			attribute = integer("to", typeFloat)
		}
		m.node(op, []string{last}, next, attribute)
		last = next
	}
	m.value(12, last, typeFloat, choices)
	if value {
		m.weights("third", hidden, 1, 1)
		m.node("MatMul", []string{"bent", "third"}, "worth", nil)
		m.node("Tanh", []string{"worth"}, "value", nil)
		m.value(12, "value", typeFloat, 1)
	}
	return m.file()
}

// Types of elements, as ONNX numbers them.
const (
	typeFloat = 1
	typeUint8 = 2
)

// maker writes a GraphProto.
type maker struct {
	random *prng.Rand
	graph  []byte
}

func text(dst []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, field, protowire.BytesType), s)
}

func number(dst []byte, field protowire.Number, x uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.VarintType), x)
}

func message(dst []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), m)
}

// integer returns an AttributeProto.
func integer(name string, x uint64) []byte {
	const kindInt = 2
	return number(number(text(nil, 1, name), 3, x), 20, kindInt)
}

// node adds a NodeProto with one output.
func (m *maker) node(operator string, inputs []string, output string, attribute []byte) {
	var n []byte
	for _, name := range inputs {
		n = text(n, 1, name)
	}
	n = text(text(text(n, 2, output), 3, output), 4, operator)
	if attribute != nil {
		n = message(n, 5, attribute)
	}
	m.graph = message(m.graph, 1, n)
}

// value adds a ValueInfoProto, an input or an output depending on the field. Its first
// dimension is the batch.
func (m *maker) value(field protowire.Number, name string, typ uint64, dims ...int) {
	shape := message(nil, 1, text(nil, 2, "batch"))
	for _, d := range dims {
		shape = message(shape, 1, number(nil, 1, uint64(d)))
	}
	tensor := message(number(nil, 1, typ), 2, shape)
	m.graph = message(m.graph, field, message(text(nil, 1, name), 2, message(nil, 1, tensor)))
}

// weights adds a TensorProto of random numbers from −scale to scale.
func (m *maker) weights(name string, rows, columns int, scale float64) {
	var raw []byte
	for range rows * columns {
		x := float32((float64(2*float64(m.random.Float64())) - 1) * scale)
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	t := number(number(nil, 1, uint64(rows)), 1, uint64(columns))
	m.graph = message(m.graph, 5, message(text(number(t, 2, typeFloat), 8, name), 9, raw))
}

// file returns the ModelProto.
func (m *maker) file() []byte {
	opset := number(text(nil, 1, ""), 2, 13)
	return message(message(number(nil, 1, 8), 7, text(m.graph, 2, "test")), 8, opset)
}

// Split moves the weights of a model of Model to another file, as PyTorch does; the rest refers
// to them by that location. Each tensor begins at a multiple of 64 bytes.
func Split(model []byte, location string) (rest, data []byte) {
	rest = rewrite(model, 7, func(graph []byte) []byte {
		return rewrite(graph, 5, func(t []byte) []byte {
			var raw []byte
			t = rewrite(t, 9, func(b []byte) []byte { raw = b; return nil })
			for _, e := range [][2]string{{"location", location}, {"offset", fmt.Sprint(len(data))}, {"length", fmt.Sprint(len(raw))}} {
				t = message(t, 13, text(text(nil, 1, e[0]), 2, e[1]))
			}
			data = append(append(data, raw...), make([]byte, -len(raw)&63)...)
			return number(t, 14, 1)
		})
	})
	return rest, data
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
