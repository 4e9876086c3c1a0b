package onnx

import "cmp"

// Scale is the kind of the numbers of an output, as far as the operators determine it.
type Scale uint8

// The scales of outputs.
const (
	Linear         Scale = iota // any numbers, such as logits
	Probability                 // from 0 to 1, of Softmax or Sigmoid
	LogProbability              // logarithms of probabilities, of LogSoftmax
	Mixed                       // numbers of several scales, joined
)

// String returns the name of the scale for messages.
func (s Scale) String() string {
	return [...]string{"logits", "probabilities", "log-probabilities", "numbers of several scales"}[s]
}

// scaled is the scale of an array.
type scaled struct {
	scale Scale
	by    *Node // the node that determines the scale; nil for Linear
	given bool  // made of inputs and constants without arithmetic, such as a mask
}

// moves are the operators that change only the order, type or range of numbers.
var moves = map[string]bool{
	"Identity": true, "Reshape": true, "Cast": true, "CastLike": true, "Flatten": true, "Squeeze": true, "Unsqueeze": true,
	"Transpose": true, "Dropout": true, "Slice": true, "Gather": true, "GatherElements": true, "GatherND": true, "Tile": true, "Split": true, "Expand": true, "Clip": true, "QuantizeLinear": true, "DequantizeLinear": true,
}

// tests are the operators that make masks, and constants.
var tests = map[string]bool{
	"Constant": true, "ConstantOfShape": true, "Shape": true, "Not": true, "Equal": true, "Greater": true, "Less": true,
	"GreaterOrEqual": true, "LessOrEqual": true, "And": true, "Or": true, "Xor": true, "IsNaN": true, "IsInf": true,
	"Size": true, "Range": true, "NonZero": true, "OneHot": true,
}

// Scales returns the scale of each of the Outputs, and the node that determines it, nil if none
// does. It follows the numbers from that node through changes of shape or type, masks, and the
// division that makes masked probabilities sum to one again.
func (g *Graph) Scales() ([]Scale, []*Node) {
	known := map[string]scaled{"": {given: true}}
	for _, v := range g.Inputs {
		known[v.Name] = scaled{given: true}
	}
	for _, t := range g.Initializers {
		known[t.Name] = scaled{given: true}
	}
	for _, n := range g.Nodes {
		in := make([]scaled, len(n.Inputs))
		for i, name := range n.Inputs {
			in[i] = known[name]
		}
		s := n.scaled(in)
		for _, name := range n.Outputs {
			known[name] = s
		}
	}
	scales, nodes := make([]Scale, len(g.Outputs)), make([]*Node, len(g.Outputs))
	for i, v := range g.Outputs {
		scales[i], nodes[i] = known[v.Name].scale, known[v.Name].by
	}
	return scales, nodes
}

// scaled returns the scale of a node's result.
func (n *Node) scaled(in []scaled) scaled {
	switch op := n.Op; {
	case op == "Softmax", op == "Sigmoid", op == "HardSigmoid":
		return scaled{scale: Probability, by: n}
	case op == "LogSoftmax":
		return scaled{scale: LogProbability, by: n}
	case op == "Exp" && in0(in).scale == LogProbability:
		return scaled{scale: Probability, by: in[0].by}
	case op == "Log" && in0(in).scale == Probability:
		return scaled{scale: LogProbability, by: in[0].by}
	case op == "Div" && in0(in).scale == Probability, moves[op]:
		return in0(in)
	case op == "Concat":
		return joined(in)
	case op == "Where" && len(in) == 3:
		return masked(in[1:])
	case (op == "ScatterElements" || op == "ScatterND") && len(in) == 3: // such as the choices of entities among all
		return masked([]scaled{in[0], in[2]})
	case op == "Mul", op == "Add", op == "Min", op == "Max":
		return masked(in)
	case tests[op]:
		for _, x := range in {
			if !x.given {
				return scaled{}
			}
		}
		return scaled{given: true}
	}
	return scaled{}
}

func in0(in []scaled) scaled {
	if len(in) == 0 {
		return scaled{}
	}
	return in[0]
}

// joined returns the scale of concatenated arrays.
func joined(in []scaled) scaled {
	all := in0(in)
	for _, x := range in[min(1, len(in)):] {
		all.given = all.given && x.given
		switch {
		case x.scale == all.scale:
		case x.scale == Mixed, x.scale == Probability, all.scale == Probability:
			all = scaled{scale: Mixed, by: cmp.Or(all.by, x.by)}
		case all.scale == LogProbability: // log-probabilities joined with logits are logits
			all = scaled{}
		}
	}
	return all
}

// masked returns the scale of numbers that a mask or a constant changes: that of the only array
// that is not given. For several such arrays it is Linear.
func masked(in []scaled) scaled {
	all, found := scaled{given: true}, false
	for _, x := range in {
		switch {
		case x.given:
		case found:
			return scaled{}
		default:
			all, found = x, true
		}
	}
	return all
}
