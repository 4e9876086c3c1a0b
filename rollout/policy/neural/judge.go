package neural

import (
	"math"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
	"moonfarm/sim"
)

// Judge evaluates states of a game for two in batches, each state from both seats.
type Judge[S any] struct {
	form   features.Form[S]
	batch  *env.Batch
	input  *input
	values []float32
	half   float64 // factor from the network's value to half of the expected result, up to a constant
	heads  []logits
	shape  features.Shape
	words  int
	action []int32
	scores []float32
}

// NewJudge makes a judge of batches of up to `states` states, for a model that fits the games.
// Value may only be called if the model has a value.
func NewJudge[S any](m *network.Model, f Fit, form features.Form[S], s env.Spec, states int) *Judge[S] {
	j := &Judge[S]{form: form, input: newInput(m, f, s, 2*states), shape: s.Shape, words: s.MaskWords, action: make([]int32, len(s.Heads))}
	j.batch = env.NewBatch(s, states, j.input.wants)
	j.values, j.half = j.input.runner.Output(f.Value), 0.5
	if f.ValueScale == onnx.Probability { // p of winning is 2p−1
		j.half = 1
	}
	j.heads = j.input.heads(f, 2*states)
	return j
}

// Put stores s as state i of the batch.
func (j *Judge[S]) Put(i int, s *S) {
	b := j.batch
	for p := range sim.Player(2) {
		row := 2*i + int(p)
		if n := j.shape.PlaneBytes(); b.Planes != nil {
			j.form.Encoder.Planes(b.Planes[row*n:][:n], s, p)
		}
		if n := j.shape.Words; b.Packed != nil {
			j.form.Encoder.Packed(b.Packed[row*n:][:n], s, p)
		}
		if n := j.shape.Scalars; b.Scalars != nil {
			j.form.Encoder.Scalars(b.Scalars[row*n:][:n], s, p)
		}
		if b.Mask != nil {
			j.form.Actions.Mask(b.Mask[row*j.words:][:j.words], s, p)
		}
		j.input.copy(row, b, row)
	}
}

// Run evaluates the first n states of the batch.
func (j *Judge[S]) Run(n int) { j.input.runner.Run(2 * n) }

// Value returns the value of state i for seat 0, −1 … 1: half of the difference between the
// results that seat 0 and seat 1 expect.
func (j *Judge[S]) Value(i int) float64 {
	v := (float64(j.values[2*i]) - float64(j.values[2*i+1])) * j.half
	if v != v {
		return 0
	}
	return min(max(v, -1), 1)
}

// Network returns the number of evaluations of state i, one for each seat, and the number of
// those whose value is NaN or infinite.
func (j *Judge[S]) Network(i int) rollout.NetworkCounts {
	c := rollout.NetworkCounts{Evaluations: 2}
	if j.values == nil {
		return c
	}
	for _, v := range j.values[2*i : 2*i+2] {
		if !finite(v) {
			c.NotFinite++
		}
	}
	return c
}

// Score appends exp(logit − largest logit) for each move of seat p in state i; move k has the
// orders from ends[k-1] to ends[k]. It is for games of one head. For moves that no choice
// encodes it appends 0.
func (j *Judge[S]) Score(dst []float64, i int, s *S, p sim.Player, orders []sim.Order, ends []int32) []float64 {
	logits := j.heads[0].of(2*i + int(p))
	most, first := math.Inf(-1), int32(0)
	j.scores = j.scores[:0]
	for _, end := range ends {
		x := math.Inf(-1)
		if j.form.Actions.Action(j.action, orders[first:end], s, p); j.action[0] >= 0 {
			x = float64(logits[j.action[0]])
		}
		j.scores = append(j.scores, float32(x))
		most, first = max(most, x), end
	}
	if math.IsInf(most, -1) { // no choice encodes any of the moves
		return append(dst, make([]float64, len(ends))...)
	}
	for k, x := range j.scores {
		j.scores[k] = float32(float64(x) - most)
	}
	network.Exp(j.scores, j.scores)
	for _, x := range j.scores {
		dst = append(dst, float64(x))
	}
	return dst
}
