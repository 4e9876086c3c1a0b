package neural

import (
	"fmt"

	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
)

// scale stores the kind of numbers of the assigned outputs, which follows from their operators,
// and the reason for each assignment. It fails for an output that joins probabilities with
// other numbers.
func (f *Fit) scale(outputs []network.Value, head string) error {
	joined := len(f.Heads) > 0 && f.Heads[len(f.Heads)-1].Offset > 0 || len(f.Heads) == 1
	for _, v := range outputs {
		used := 0
		for i := range f.Heads {
			if f.Heads[i].Output == v.Name {
				f.Heads[i].Scale = v.Scale
				used++
			}
		}
		if v.Name == f.Value {
			why := "as an output of one number"
			if v.Scale == onnx.Probability {
				f.ValueScale = v.Scale
				why += "; " + v.By + " makes it the probability p of winning, and 2p−1 is the value"
			}
			f.Reasons = append(f.Reasons, Reason{v.Name, "value", why})
		}
		if used == 0 {
			continue
		}
		if v.Scale == onnx.Mixed {
			return fmt.Errorf("output %s joins probabilities, of %s, with other numbers; expected all of its heads alike", describe(v), v.By)
		}
		why := "as an output with the choices of its head"
		switch {
		case v.Name == head:
			why = "as head names it"
		case joined:
			why = fmt.Sprintf("as the output with %d numbers", v.Len())
		}
		switch v.Scale {
		case onnx.Linear:
			why += "; no Softmax or Sigmoid makes them"
		case onnx.Probability:
			why += "; " + v.By + " makes them, and their logarithms are the logits"
		case onnx.LogProbability:
			why += "; " + v.By + " makes them, and they are logits up to a constant"
		}
		f.Reasons = append(f.Reasons, Reason{v.Name, v.Scale.String(), why})
	}
	return nil
}
