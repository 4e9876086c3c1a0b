package onnx

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Encode returns a graph as the bytes of an ONNX file, from which Parse reads the same graph
// again. Tensors of Float16 and Float64 become Float32, the type of their numbers in Tensor.
func Encode(g *Graph) []byte {
	var graph message
	for _, n := range g.Nodes {
		graph = graph.bytes(1, n.encode()...)
	}
	for _, t := range g.Initializers {
		graph = graph.bytes(5, t.encode()...)
	}
	for i := range g.Inputs {
		graph = graph.bytes(11, g.Inputs[i].encode()...)
	}
	for i := range g.Outputs {
		graph = graph.bytes(12, g.Outputs[i].encode()...)
	}
	const version = 8 // of the format, from 2021
	opset := message(nil).number(2, int64(g.Opset))
	return message(nil).number(1, version).text(2, g.Producer).bytes(7, graph...).bytes(8, opset...)
}

// message is a protobuf message to which fields are appended.
type message []byte

func (m message) number(field protowire.Number, x int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(x))
}

func (m message) fixed(field protowire.Number, x float32) message {
	return protowire.AppendFixed32(protowire.AppendTag(m, field, protowire.Fixed32Type), math.Float32bits(x))
}

func (m message) bytes(field protowire.Number, b ...byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

func (m message) text(field protowire.Number, s string) message { return m.bytes(field, []byte(s)...) }

func (n *Node) encode() (m message) {
	for _, s := range n.Inputs {
		m = m.text(1, s)
	}
	for _, s := range n.Outputs {
		m = m.text(2, s)
	}
	m = m.text(3, n.Name).text(4, n.Op)
	for i := range n.Attributes {
		m = m.bytes(5, n.Attributes[i].encode()...)
	}
	return m.text(7, n.Domain)
}

func (a *Attribute) encode() message {
	m := message(nil).text(1, a.Name).number(20, int64(a.Kind))
	switch a.Kind {
	case KindFloat:
		m = m.fixed(2, a.Float)
	case KindInt:
		m = m.number(3, a.Int)
	case KindText:
		m = m.text(4, a.Text)
	case KindTensor:
		m = m.bytes(5, a.Tensor.encode()...)
	case KindFloats:
		for _, x := range a.Floats {
			m = m.fixed(7, x)
		}
	case KindInts:
		for _, x := range a.Ints {
			m = m.number(8, x)
		}
	case KindTexts:
		for _, s := range a.Texts {
			m = m.text(9, s)
		}
	}
	return m
}

func (t *Tensor) encode() (m message) {
	for _, d := range t.Dims {
		m = m.number(1, int64(d))
	}
	if t.Type.IsFloat() {
		raw := make([]byte, 0, 4*len(t.Floats))
		for _, x := range t.Floats {
			raw = protowire.AppendFixed32(raw, math.Float32bits(x))
		}
		return m.number(2, int64(Float32)).text(8, t.Name).bytes(9, raw...)
	}
	field := protowire.Number(5)
	if t.Type == Int64 {
		field = 7
	}
	var packed []byte
	for _, x := range t.Ints {
		packed = protowire.AppendVarint(packed, uint64(x))
	}
	return m.number(2, int64(t.Type)).text(8, t.Name).bytes(field, packed...)
}

func (v *Value) encode() message {
	var shape message
	for _, d := range v.Dims {
		if d.Size >= 0 {
			shape = shape.bytes(1, message(nil).number(1, d.Size)...)
		} else {
			shape = shape.bytes(1, message(nil).text(2, d.Name)...)
		}
	}
	tensor := message(nil).number(1, int64(v.Type)).bytes(2, shape...)
	return message(nil).text(1, v.Name).bytes(2, message(nil).bytes(1, tensor...)...)
}
