package onnx

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// chain returns a graph of nodes in a line: each uses the result of the previous one. All may
// use an input and a weight.
func chain(operators ...string) *Graph {
	g := &Graph{Inputs: []Value{{Name: "x"}, {Name: "mask"}}, Initializers: []*Tensor{{Name: "w"}}}
	last := "x"
	for i, op := range operators {
		next := string(rune('a' + i))
		in := []string{last}
		switch op {
		case "Gemm", "Add", "Reshape", "Gather", "GatherElements":
			in = append(in, "w")
		case "Mul":
			in = []string{"mask", last}
		case "Where":
			in = []string{"mask", last, "w"}
		case "ScatterND", "ScatterElements":
			in = []string{"w", "mask", last}
		case "Square":
			op, in = "Mul", []string{last, last}
		}
		g.Nodes = append(g.Nodes, &Node{Op: op, Inputs: in, Outputs: []string{next}})
		last = next
	}
	g.Outputs = []Value{{Name: last}}
	return g
}

// Scales finds the last operator that determines a scale, before others that keep it.
func TestScales(t *testing.T) {
	for _, c := range []struct {
		want      Scale
		operators []string
	}{
		{Linear, []string{"Gemm"}},
		{Probability, []string{"Gemm", "Softmax"}},
		{LogProbability, []string{"Gemm", "LogSoftmax"}},
		{Probability, []string{"Gemm", "Sigmoid"}},
		{Probability, []string{"Gemm", "Softmax", "Reshape", "Identity", "Cast", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Dropout", "Clip"}},
		{LogProbability, []string{"Gemm", "LogSoftmax", "Reshape", "Cast", "Transpose"}},
		{Probability, []string{"Gemm", "LogSoftmax", "Exp", "Identity"}},
		{LogProbability, []string{"Gemm", "Softmax", "Add", "Log"}},
		{Probability, []string{"Gemm", "Softmax", "Mul", "Div"}},
		{Probability, []string{"Gemm", "Softmax", "Where", "Gather", "GatherElements", "GatherND", "Tile"}},
		{Probability, []string{"Gemm", "Softmax", "ScatterND", "ScatterElements"}},
		{Linear, []string{"Softmax", "Gemm"}},
		{Linear, []string{"Softmax", "Gemm", "Reshape", "Exp"}},
		{Linear, []string{"Gemm", "Softmax", "Square"}},
		{Linear, []string{"Gemm", "Softmax", "ReduceSum"}},
		{Linear, nil},
	} {
		t.Run(strings.Join(c.operators, " "), func(t *testing.T) {
			scales, nodes := chain(c.operators...).Scales()
			assert.Truef(t, scales[0] == c.want && (nodes[0] == nil) == (c.want == Linear), "%v: %v by %v, want %v", c.operators, scales[0], nodes[0], c.want)
		})
	}
}

// Joined heads have a scale if all of them have it.
func TestScalesJoined(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want Scale
	}{
		{"Softmax", "Softmax", Probability}, {"Softmax", "LogSoftmax", Mixed}, {"Softmax", "Relu", Mixed}, {"Relu", "Softmax", Mixed},
		{"LogSoftmax", "LogSoftmax", LogProbability}, {"LogSoftmax", "Relu", Linear}, {"Relu", "LogSoftmax", Linear}, {"Relu", "Relu", Linear},
	} {
		t.Run(c.a+" and "+c.b, func(t *testing.T) {
			g := chain("Gemm", c.a)
			g.Nodes = append(g.Nodes, &Node{Op: c.b, Inputs: []string{"a"}, Outputs: []string{"other"}},
				&Node{Op: "Concat", Inputs: []string{"b", "other"}, Outputs: []string{"all"}})
			g.Outputs = append(g.Outputs, Value{Name: "all"})
			scales, _ := g.Scales()
			assert.Equalf(t, c.want, scales[1], "%s and %s", c.a, c.b)
		})
	}
}
