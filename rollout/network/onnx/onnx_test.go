package onnx

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// file returns a model with a graph.
func file(graph message) message {
	return message(nil).number(1, 8).text(2, "test").text(3, "1.0").bytes(7, graph...).bytes(8, message(nil).number(2, 17)...)
}

// initializer returns a graph with one tensor.
func initializer(t message) message {
	return message(nil).bytes(5, t.text(8, "w")...)
}

func parseFile(t *testing.T, b message) *Graph {
	t.Helper()
	g, err := Parse(b)
	require.NoError(t, err)
	return g
}

// TestTensors: all types of elements, as raw data, packed and one by one.
func TestTensors(t *testing.T) {
	tensor := func(typ Type, dims ...int64) message {
		m := message(nil).number(2, int64(typ))
		for _, d := range dims {
			m = m.number(1, d)
		}
		return m
	}
	double := func(x float64) []byte { return protowire.AppendFixed64(nil, math.Float64bits(x)) }
	for _, c := range []struct {
		name   string
		m      message
		floats []float32
		ints   []int64
	}{
		{"float32 raw", tensor(Float32, 2).bytes(9, 0, 0, 128, 63, 0, 0, 0, 192), []float32{1, -2}, nil},
		{"float32 one by one", tensor(Float32, 2).fixed(4, 1.5).fixed(4, 3), []float32{1.5, 3}, nil},
		{"float32 packed", tensor(Float32, 1, 1).bytes(4, 0, 0, 128, 63), []float32{1}, nil},
		{"float64 raw", tensor(Float64, 1).bytes(9, double(0.1)...), []float32{0.1}, nil},
		{"float64 one by one", protowire.AppendFixed64(protowire.AppendTag(tensor(Float64, 1), 10, protowire.Fixed64Type), math.Float64bits(2.5)), []float32{2.5}, nil},
		{"float64 packed", tensor(Float64, 1).bytes(10, double(-7)...), []float32{-7}, nil},
		{"float16 raw", tensor(Float16, 4).bytes(9, 0, 0x3c, 1, 0, 0xff, 0x7b, 0, 0xfc), []float32{1, 0x1p-24, 65504, float32(math.Inf(-1))}, nil},
		{"float16 as int32", tensor(Float16, 1).number(5, 0xc000), []float32{-2}, nil},
		{"bfloat16 raw", tensor(BFloat16, 2).bytes(9, 0x80, 0x3f, 0x20, 0xc1), []float32{1, -10}, nil},
		{"bfloat16 packed", tensor(BFloat16, 2).bytes(5, 0x80, 0x7f, 0xa0, 0x82, 0x03), []float32{1, -10}, nil},
		{"uint16 raw", tensor(Uint16, 2).bytes(9, 1, 0, 0xff, 0xff), nil, []int64{1, 65535}},
		{"int16 raw", tensor(Int16, 2).bytes(9, 1, 0, 0xff, 0xff), nil, []int64{1, -1}},
		{"uint16 one by one", tensor(Uint16, 2).number(5, 1).number(5, 65535), nil, []int64{1, 65535}},
		{"uint32 raw", tensor(Uint32, 2).bytes(9, 1, 0, 0, 0, 255, 255, 255, 255), nil, []int64{1, math.MaxUint32}},
		{"uint32 one by one", tensor(Uint32, 2).number(11, 1).number(11, math.MaxUint32), nil, []int64{1, math.MaxUint32}},
		{"uint64 raw", tensor(Uint64, 1).bytes(9, 255, 255, 255, 255, 255, 255, 255, 127), nil, []int64{math.MaxInt64}},
		{"uint64 packed", tensor(Uint64, 2).bytes(11, 7, 8), nil, []int64{7, 8}},
		{"int64 raw", tensor(Int64, 1).bytes(9, 255, 255, 255, 255, 255, 255, 255, 255), nil, []int64{-1}},
		{"int64 packed", tensor(Int64, 3).bytes(7, 1, 2, 0x80, 1), nil, []int64{1, 2, 128}},
		{"int32 raw", tensor(Int32, 1).bytes(9, 254, 255, 255, 255), nil, []int64{-2}},
		{"int32 one by one", tensor(Int32, 2).number(5, 5).number(5, -5), nil, []int64{5, -5}},
		{"uint8 raw", tensor(Uint8, 2).bytes(9, 0, 255), nil, []int64{0, 255}},
		{"int8 raw", tensor(Int8, 1).bytes(9, 255), nil, []int64{-1}},
		{"bool", tensor(Bool, 2).bytes(5, 0, 1), nil, []int64{0, 1}},
		{"a single number", tensor(Int64).number(7, 4), nil, []int64{4}},
		{"no numbers", tensor(Int64, 0), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := parseFile(t, file(initializer(c.m)))
			got := g.Initializers[0]
			assert.Truef(t, slices.Equal(got.Floats, c.floats) && slices.Equal(got.Ints, c.ints) && got.Len() == len(c.floats)+len(c.ints), "%v %v %v, want %v %v", got.Dims, got.Floats, got.Ints, c.floats, c.ints)
		})
	}
}

// TestGraph: Parse reads all parts of a graph.
func TestGraph(t *testing.T) {
	value := func(name string, dims ...message) []byte {
		shape := message(nil)
		for _, d := range dims {
			shape = shape.bytes(1, d...)
		}
		return message(nil).text(1, name).bytes(2, message(nil).bytes(1, message(nil).number(1, 1).bytes(2, shape...)...)...)
	}
	attribute := func(name string, kind Kind) message { return message(nil).text(1, name).number(20, int64(kind)) }
	n := message(nil).text(1, "x").text(1, "").text(1, "w").text(2, "y").text(3, "first").text(4, "Op").
		bytes(5, attribute("f", KindFloat).fixed(2, 0.5)...).
		bytes(5, attribute("i", KindInt).number(3, -3)...).
		bytes(5, attribute("s", KindText).text(4, "text")...).
		bytes(5, attribute("fs", KindFloats).fixed(7, 1).fixed(7, 2)...).
		bytes(5, attribute("is", KindInts).bytes(8, 1, 2, 3)...).
		bytes(5, attribute("t", KindTensor).bytes(5, message(nil).number(2, int64(Bool)).number(5, 1)...)...).
		bytes(5, message(nil).text(1, "old").number(3, 9)...)
	graph := message(nil).bytes(1, n...).bytes(5, message(nil).number(2, 1).number(1, 1).fixed(4, 2).text(8, "w")...).
		bytes(11, value("x", message(nil).text(2, "batch"), message(nil).number(1, 7), nil)...).
		bytes(11, value("w", message(nil).number(1, 1))...). // as old files list them
		bytes(12, value("y")...)
	g := parseFile(t, file(graph))
	want := &Graph{
		Producer: "test 1.0", Opset: 17,
		Inputs:       []Value{{"x", Float32, []Dim{{-1, "batch"}, {7, ""}, {-1, ""}}}},
		Outputs:      []Value{{"y", Float32, nil}},
		Initializers: []*Tensor{{Name: "w", Type: Float32, Dims: []int{1}, Floats: []float32{2}}},
		Nodes: []*Node{{Name: "first", Op: "Op", Inputs: []string{"x", "", "w"}, Outputs: []string{"y"}, Attributes: []Attribute{
			{Name: "f", Kind: KindFloat, Float: 0.5}, {Name: "i", Kind: KindInt, Int: -3}, {Name: "s", Kind: KindText, Text: "text"},
			{Name: "fs", Kind: KindFloats, Floats: []float32{1, 2}}, {Name: "is", Kind: KindInts, Ints: []int64{1, 2, 3}},
			{Name: "t", Kind: KindTensor, Tensor: &Tensor{Type: Bool, Ints: []int64{1}}}, {Name: "old", Kind: KindInt, Int: 9},
		}}},
	}
	assert.Equalf(t, want, g, "%+v\nwant %+v\nnode %+v\nwant %+v", g, want, g.Nodes[0], want.Nodes[0])
	a := g.Nodes[0].Attribute("i")
	assert.Truef(t, a != nil && a.Int == -3 && g.Nodes[0].Attribute("none") == nil, "attribute %v", a)
}

// TestErrors: errors state the place, the expected and the found content.
func TestErrors(t *testing.T) {
	node := func(in, out string) []byte { return message(nil).text(1, in).text(2, out).text(4, "Relu") }
	for _, c := range []struct {
		want string
		file message
	}{
		{"expected a graph (field 7 of an ONNX model), found none in 0 bytes", nil},
		{"expected fields of a protobuf message, found other bytes or the end", message("hello, world")},
		{"expected the version of the operators", message(nil).bytes(7)},
		{"expected one graph, found a second one", message(nil).bytes(7).bytes(7)},
		{"opset_import: expected a version from 1, found 0", message(nil).bytes(8, message(nil).number(2, 0)...)},
		{"field 7: expected a message or text, found wire type 0", message(nil).number(7, 1)},
		{`graph: initializer 0 "": expected a type of elements, found none`, file(message(nil).bytes(5))},
		{`expected elements of float32, float64, float16, bfloat16, whole numbers or bool, found string`, file(initializer(message(nil).number(2, 8)))},
		{"expected 12 bytes for 3 elements of float32, found 2", file(initializer(message(nil).number(2, 1).number(1, 3).bytes(9, 1, 2)))},
		{"expected 4 bytes for 2 elements of bfloat16, found 3", file(initializer(message(nil).number(2, 16).number(1, 2).bytes(9, 1, 2, 3)))},
		{"expected elements of uint64, at most 9223372036854775807, found 18446744073709551615", file(initializer(message(nil).number(2, 13).number(1, 1).number(11, -1)))},
		{"whole numbers or bool, found float8e4m3fn", file(initializer(message(nil).number(2, 17)))},
		{"field 4: expected float32 numbers of 4 bytes each, found 5 bytes", file(initializer(message(nil).number(2, 1).bytes(4, make([]byte, 5)...)))},
		{"field 10: expected float64 numbers of 8 bytes each, found 12 bytes", file(initializer(message(nil).number(2, 11).bytes(10, make([]byte, 12)...)))},
		{"expected 1000000 elements of float32, found 0", file(initializer(message(nil).number(2, 1).number(1, 1000000)))},
		{"expected at most 2147483647 elements", file(initializer(message(nil).number(2, 1).number(1, 1<<20).number(1, 1<<20)))},
		{"expected dimensions from 0 to 2147483647, found [-1]", file(initializer(message(nil).number(2, 1).number(1, -1)))},
		{"expected at most 8 dimensions, found 9", file(initializer(message(nil).number(2, 1).bytes(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)))},
		{"found a reference to another file (external data)", file(initializer(message(nil).number(2, 1).number(14, 1)))},
		{"sparse_initializer: expected dense tensors", file(message(nil).bytes(15))},
		{`graph: node 0 "" (): expected the name of an operator, found none`, file(message(nil).bytes(1))},
		{"expected an output, found none", file(message(nil).bytes(1, message(nil).text(4, "Relu")...))},
		{`node "y" (Relu): input 0: expected an input, an initializer or an output of a node before, found "x"`, file(message(nil).bytes(1, node("x", "y")...))},
		{`attribute 0 "value": expected a tensor, found none`, file(message(nil).bytes(1, append(message(nil).text(2, "y").text(4, "ConstantOfShape"), message(nil).bytes(5, message(nil).text(1, "value").number(20, int64(KindTensor))...)...)...))},
		{`expected a unique name, found "y", which Relu has`, file(message(nil).bytes(1, node("", "y")...).bytes(1, node("y", "y")...))},
		{`output "z": expected a value that a node makes, found none`, file(message(nil).bytes(12, message(nil).text(1, "z")...))},
		{`expected a tensor, found a sequence`, file(message(nil).bytes(11, message(nil).text(1, "z").bytes(2, message(nil).bytes(4)...)...))},
	} {
		t.Run(c.want, func(t *testing.T) {
			g, err := Parse(c.file)
			assert.Truef(t, err != nil && strings.HasPrefix(err.Error(), "onnx: ") && strings.Contains(err.Error(), c.want), "%v, error %v\nwant %s", g, err, c.want)
		})
	}
}

// inBounds parses a file, and fails if Parse allocates much more than the size of the file.
func inBounds(t *testing.T, b []byte) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g, err := Parse(b)
	runtime.ReadMemStats(&after)
	got, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+200*len(b))
	assert.LessOrEqualf(t, got, most, "a file of %d bytes made Parse allocate %d, want at most %d", len(b), got, most)
	assert.Truef(t, (err == nil || strings.HasPrefix(err.Error(), "onnx: ")) && (err == nil) == (g != nil), "%v, error %v", g, err)
}

// TestMemory parses many copies of the smallest messages.
func TestMemory(t *testing.T) {
	const many = 20000
	repeat := func(m message) message { return slices.Repeat(m, many) }
	for name, graph := range map[string]message{
		"nodes":        repeat(message(nil).bytes(1, message(nil).text(2, "").text(4, "A")...)),
		"inputs":       message(nil).bytes(1, repeat(message(nil).text(1, ""))...),
		"attributes":   message(nil).bytes(1, message(nil).text(2, "").text(4, "A").bytes(5)...),
		"named":        message(nil).bytes(1, append(message(nil).text(2, "").text(4, "A"), repeat(message(nil).bytes(5, message(nil).text(1, "a")...))...)...),
		"initializers": repeat(message(nil).bytes(5, message(nil).number(2, 1).number(1, 0).text(8, "a")...)),
		"packed":       initializer(message(nil).number(2, 7).number(1, many).bytes(7, make([]byte, many)...)),
		"one by one":   initializer(append(message(nil).number(2, 7).number(1, many), repeat(message(nil).number(7, 1))...)),
		"many packed":  initializer(append(message(nil).number(2, 7).number(1, many), repeat(message(nil).bytes(7, 1))...)),
	} {
		t.Run(name, func(t *testing.T) { inBounds(t, file(graph)) })
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../testdata/*.onnx")
	if err != nil || len(files) < 12 {
		f.Fatal(fmt.Sprint(len(files), err))
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 20000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { inBounds(t, b) })
}

// TestEncode: Parse reads the graph that Encode has written.
func TestEncode(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.onnx")
	require.NoErrorf(t, err, "%v", len(files))
	require.GreaterOrEqualf(t, len(files), 12, "%v", len(files))
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		want := parseFile(t, b)
		assert.Equalf(t, want, parseFile(t, Encode(want)), "%s: written and read it is another graph", name)
	}
	want := parseFile(t, file(initializer(message(nil).number(1, 2).number(2, int64(Int8)).bytes(9, 0x80, 0x7f)).bytes(5, message(nil).
		number(1, 2).number(2, int64(Int64)).number(7, -1).number(7, 1<<62).text(8, "v")...)))
	got := parseFile(t, Encode(want))
	assert.Equalf(t, want, got, "whole numbers: %v, want %v", got.Initializers, want.Initializers)
}

// TestFunctions: calls of functions of the file become the nodes of the functions, with the attributes of the call.
func TestFunctions(t *testing.T) {
	node := func(op, domain string, in, out []string, attributes ...message) (m message) {
		for _, s := range in {
			m = m.text(1, s)
		}
		for _, s := range out {
			m = m.text(2, s)
		}
		for _, a := range attributes {
			m = m.bytes(5, a...)
		}
		return m.text(4, op).text(7, domain)
	}
	number := func(name string, x float32) message {
		return message(nil).text(1, name).number(20, int64(KindFloat)).fixed(2, x)
	}
	reference := func(name, of string) message {
		return message(nil).text(1, name).text(21, of).number(20, int64(KindFloat))
	}
	function := func(name string, in, out []string, rest ...message) message {
		m := message(nil).text(1, name).text(10, "local").bytes(9, message(nil).number(2, 18)...)
		for _, s := range in {
			m = m.text(4, s)
		}
		for _, s := range out {
			m = m.text(5, s)
		}
		for _, n := range rest {
			m = m.bytes(7, n...)
		}
		return m
	}
	list := func(names ...string) []string { return names }
	leaky := function("leaky", list("a"), list("b"), node("LeakyRelu", "", list("a"), list("b"), reference("alpha", "slope"))).bytes(11, number("slope", 0.25)...)
	twice := function("twice", list("a", "more"), list("d", "a"),
		node("leaky", "local", list("a"), list("b"), reference("slope", "first")), node("leaky", "local", list("b"), list("c")), node("Sum", "ai.onnx", list("c", "more"), list("d")))
	graph := message(nil).bytes(1, node("twice", "local", list("x"), list("y", "same"), number("first", 0.5))...).bytes(11, (&Value{Name: "x", Type: Float32}).encode()...).bytes(12, (&Value{Name: "y", Type: Float32}).encode()...)
	g := parseFile(t, file(graph).bytes(25, leaky...).bytes(25, twice...))
	var got []string
	for _, n := range g.Nodes {
		text := fmt.Sprint(n.Op, n.Opset, n.Inputs, n.Outputs)
		if a := n.Attribute("alpha"); a != nil {
			text += fmt.Sprint(a.Float)
		}
		got = append(got, text)
	}
	assert.Equal(t, list("LeakyRelu18 [x] [b@2]0.5", "Identity0 [b@2] [b@1]", "LeakyRelu18 [b@1] [b@3]0.25", "Identity0 [b@3] [c@1]", "Sum18 [c@1 ] [d@1]", "Identity0 [d@1] [y]", "Identity0 [x] [same]"), got)

	loop := function("twice", list("a"), list("b"), node("twice", "local", list("a"), list("b")))
	many := message(nil)
	for i := range 20 { // 3^20 nodes
		next := fmt.Sprint("level", i+1)
		many = many.bytes(25, function(fmt.Sprint("level", i), list("a"), list("b"), node(next, "local", list("a"), list("c")), node(next, "local", list("c"), list("d")), node(next, "local", list("d"), list("b")))...)
	}
	var names []string
	var defaults message
	for i := range 20_000 {
		name := fmt.Sprint("x", i)
		names, defaults = append(names, name), defaults.bytes(11, number(name, 0)...)
	}
	wide := message(nil) // a call takes time for all inputs, or for all attributes
	for i := range 100 {
		wide = wide.bytes(1, node("wide", "local", nil, list(fmt.Sprint("y", i)))...)
	}
	searched := node("Abs", "", list("x0"), list("y"))
	for range 1000 {
		searched = searched.bytes(5, reference("alpha", "none")...)
	}
	for want, m := range map[string]message{
		`node "y26" (wide): expected calls of functions whose nodes take at most 8388608 bytes`:      append(file(wide), message(nil).bytes(25, function("wide", names, list("x0"))...)...),
		`node "y0" (wide): function "wide": node "y" (Abs): expected calls of functions whose nodes`: append(file(wide), message(nil).bytes(25, append(function("wide", list("x0"), list("y"), searched), defaults...)...)...),
		"expected functions that call each other at most 32 deep":                                    file(graph).bytes(25, function("twice", list("a", "more"), list("d", "a"), node("twice", "local", list("a"), list("d", "a")))...),
		`function "twice": expected each function once`:                                              file(graph).bytes(25, loop...).bytes(25, loop...),
		`node "y" (twice): expected at most 1 inputs and 1 outputs of the function, found 1 and 2`:   file(graph).bytes(25, loop...),
		`expected calls of functions whose nodes take at most 8388608 bytes, found more`:             append(file(message(nil).bytes(1, node("level0", "local", list("x"), list("y"))...)), many...),
		`function "twice": node "d" (Abs): input 0: expected an input of the function or an output`:  file(graph).bytes(25, function("twice", list("a"), list("d", "a"), node("Abs", "", list("e"), list("d")))...),
		`function "twice": output "d": expected a value that a node makes, found none`:               file(graph).bytes(25, function("twice", list("a"), list("d", "a"), node("Abs", "", list("a"), list("e")))...),
	} {
		_, err := Parse(m)
		assert.ErrorContains(t, err, want)
	}
}
