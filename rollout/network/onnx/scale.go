package onnx

import "cmp"

// Scale says what the numbers of an output are, as far as the operators that make them
// tell.
type Scale uint8

// The scales of outputs.
const (
	Linear         Scale = iota // any numbers, such as logits
	Probability                 // from 0 to 1, of Softmax or Sigmoid
	LogProbability              // logarithms of such, of LogSoftmax
	Mixed                       // numbers of several scales, joined
)

// String names the scale as messages do.
func (s Scale) String() string {
	return [...]string{"logits", "probabilities", "log-probabilities", "numbers of several scales"}[s]
}

// scaled is the scale of an array.
type scaled struct {
	scale Scale
	by    *Node // what sets the scale; nil of Linear
	given bool  // made of inputs and constants without any arithmetic, such as a mask
}

// moves are the operators that leave numbers as they are, but for their order, type or
// range.
var moves = map[string]bool{
	"Identity": true, "Reshape": true, "Cast": true, "CastLike": true, "Flatten": true, "Squeeze": true, "Unsqueeze": true,
	"Transpose": true, "Dropout": true, "Slice": true, "Gather": true, "GatherElements": true, "Split": true, "Expand": true, "Clip": true,
}

// tests are the operators that make masks, and constants.
var tests = map[string]bool{
	"Constant": true, "ConstantOfShape": true, "Shape": true, "Not": true, "Equal": true, "Greater": true, "Less": true,
	"GreaterOrEqual": true, "LessOrEqual": true, "And": true, "Or": true,
}

// Scales finds the scale of each of the Outputs, and the node that sets it, nil where none
// does. It follows what numbers pass through on their way from that node: a change of shape
// or type, a mask, the sum that makes probabilities of parts sum to one again.
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

// scaled is the scale of what a node makes of its inputs.
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

// joined is the scale of arrays one after the other.
func joined(in []scaled) scaled {
	all := in0(in)
	for _, x := range in[min(1, len(in)):] {
		all.given = all.given && x.given
		switch {
		case x.scale == all.scale:
		case x.scale == Mixed, x.scale == Probability, all.scale == Probability:
			all = scaled{scale: Mixed, by: cmp.Or(all.by, x.by)}
		case all.scale == LogProbability: // joined with logits it is one of them
			all = scaled{}
		}
	}
	return all
}

// masked is the scale of numbers that a mask or a constant changes: the one scale that is
// there among arrays that are given. Of two arrays that are computed nothing is known.
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
