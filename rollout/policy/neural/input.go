package neural

import (
	"moonfarm/env"
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
)

// input fills the inputs of a runner from rows of a Batch.
type input struct {
	runner *network.Runner
	wants  env.Want
	parts  []part
	planes int // uint8 values of an observation
	masked int // words of a mask
	packed int // words of a packed observation
}

// slabs has the slab of each part of an observation.
var slabs = map[Part]env.Want{Planes: env.WantPlanes, Packed: env.WantPacked, Scalars: env.WantScalars, Mask: env.WantMask}

// part is an input of the model. Either floats or bytes is nil.
type part struct {
	of     Part
	floats []float32
	bytes  []uint8
	n      int // numbers in a row
	at     int // of a tensor: its first value in a row
}

func newInput(m *network.Model, f Fit, s env.Spec, rows int) *input {
	x := &input{runner: m.NewRunner(rows), planes: s.Shape.PlaneBytes(), masked: s.MaskWords, packed: s.Shape.Words}
	for _, in := range f.Inputs {
		x.parts = append(x.parts, part{of: in.Part, floats: x.runner.Floats(in.Name), bytes: x.runner.Bytes(in.Name), n: in.Width, at: in.At})
		want, ok := slabs[in.Part]
		if !ok { // a tensor
			want = env.WantPlanes
		}
		x.wants |= want
	}
	return x
}

// heads returns the logits of all heads.
func (x *input) heads(f Fit, rows int) (all []logits) {
	for _, h := range f.Heads {
		out := x.runner.Output(h.Output)
		l := logits{numbers: out[h.Offset:], stride: len(out) / rows, choices: h.Choices}
		if h.Scale == onnx.Probability {
			l.logs = make([]float32, h.Choices)
		}
		all = append(all, l)
	}
	return all
}

// logits are the logits of one head for all rows.
type logits struct {
	numbers []float32
	stride  int // from row to row
	choices int
	logs    []float32 // scratch for one row if the numbers are probabilities; else nil
}

// of returns the logits of a row; for probabilities, their logarithms. They are valid until
// the next call.
func (l *logits) of(row int) []float32 {
	numbers := l.numbers[row*l.stride:][:l.choices]
	if l.logs == nil {
		return numbers
	}
	network.Log(l.logs, numbers)
	return l.logs
}

// copy copies a row of the Batch to row i of the runner's inputs.
func (x *input) copy(i int, b *env.Batch, row int) {
	for k := range x.parts {
		p := &x.parts[k]
		switch p.of {
		case Planes:
			p.put(i, b.Planes[row*p.n:][:p.n])
		case Scalars:
			copy(p.floats[i*p.n:][:p.n], b.Scalars[row*p.n:])
		case Mask:
			p.bits(i, b.Mask[row*x.masked:][:x.masked])
		case Packed:
			p.bits(i, b.Packed[row*x.packed:][:x.packed])
		default:
			p.put(i, b.Planes[row*x.planes+p.at:][:p.n])
		}
	}
}

// put writes bytes to row i, as bytes or as floats.
func (p *part) put(i int, from []uint8) {
	if p.bytes != nil {
		copy(p.bytes[i*p.n:], from)
		return
	}
	for k, c := range from {
		p.floats[i*p.n+k] = float32(c)
	}
}

// bits writes 0 or 1 for each bit to row i.
func (p *part) bits(i int, words []uint64) {
	for k := range p.n {
		bit := words[k>>6] >> (k & 63) & 1
		if p.bytes != nil {
			p.bytes[i*p.n+k] = uint8(bit)
		} else {
			p.floats[i*p.n+k] = float32(bit)
		}
	}
}
