package network

import (
	"fmt"
	"slices"
	"strings"

	"moonfarm/rollout/network/onnx"
)

// call is a node of the file that an operator translates. The first error sticks; after
// it all methods return harmless values.
type call struct {
	*onnx.Node
	compiler *compiler
	op       func(*call) []*value
	in       []*value // nil for an omitted input
	taken    map[string]bool
	err      error
}

func (k *call) fail(format string, args ...any) {
	if k.err == nil {
		k.err = fmt.Errorf(format, args...)
	}
}

// opset returns the version of the operators.
func (k *call) opset() int { return k.compiler.graph.Opset }

// arg returns a required input.
func (k *call) arg(i int) *value {
	if i < len(k.in) && k.in[i] != nil {
		return k.in[i]
	}
	k.fail("expected an input %d, found none", i)
	return &value{shape: constantShape(1), constant: true, floats: []float32{0}, typ: onnx.Float32}
}

// has reports whether the call has an input i.
func (k *call) has(i int) bool { return i < len(k.in) && k.in[i] != nil }

// attribute returns an attribute, which must be of a kind; nil if it is missing.
func (k *call) attribute(name string, kind onnx.Kind) *onnx.Attribute {
	k.taken[name] = true
	a := k.Attribute(name)
	if a != nil && a.Kind != kind {
		k.fail("attribute %q: expected %v, found %v", name, kind, a.Kind)
		return nil
	}
	return a
}

// ignore marks attributes that have no effect here as known.
func (k *call) ignore(names ...string) {
	for _, name := range names {
		k.taken[name] = true
	}
}

// integer returns an attribute that is a whole number within ±2^24.
func (k *call) integer(name string, or int) int {
	a := k.attribute(name, onnx.KindInt)
	if a == nil {
		return or
	}
	if a.Int < -maxArray || a.Int > maxArray {
		k.fail("attribute %q: expected a number within ±%d, found %d", name, maxArray, a.Int)
		return or
	}
	return int(a.Int)
}

func (k *call) float(name string, or float32) float32 {
	if a := k.attribute(name, onnx.KindFloat); a != nil {
		return a.Float
	}
	return or
}

func (k *call) text(name, or string) string {
	if a := k.attribute(name, onnx.KindText); a != nil {
		return a.Text
	}
	return or
}

// integers returns an attribute of n whole numbers (n < 0: any number of them), each from
// least to 2^24; nil if it is missing.
func (k *call) integers(name string, n, least int) []int {
	a := k.attribute(name, onnx.KindInts)
	if a == nil {
		return nil
	}
	if n >= 0 && len(a.Ints) != n {
		k.fail("attribute %q: expected %d numbers, found %d", name, n, len(a.Ints))
		return nil
	}
	out := make([]int, len(a.Ints))
	for i, x := range a.Ints {
		if x < int64(least) || x > maxArray {
			k.fail("attribute %q: expected numbers from %d to %d, found %v", name, least, maxArray, a.Ints)
			return nil
		}
		out[i] = int(x)
	}
	return out
}

// wholes returns the elements of an input that must be a constant of whole numbers.
func (k *call) wholes(i int, what string) []whole {
	v := k.arg(i)
	if k.err == nil && (!v.constant || v.whole == nil) {
		k.fail("%s (input %d): expected constant whole numbers, found %s computed from the inputs", what, i, v.typ)
	}
	return v.whole
}

// listed returns numbers that older operators have as attribute and newer ones as input
// i; nil if both are missing.
func (k *call) listed(name string, i int) []int64 {
	if a := k.attribute(name, onnx.KindInts); a != nil {
		return a.Ints
	}
	if !k.has(i) {
		return nil
	}
	var out []int64
	for _, w := range k.wholes(i, name) {
		if w.batch {
			k.fail("%s: expected numbers that are the same for any batch, found %v", name, w)
		}
		out = append(out, w.n)
	}
	return out
}

// axis normalizes an axis of an array of n dimensions to the range from 0 to n−1.
func (k *call) axis(x int64, n int) int {
	if x < -int64(n) || x >= int64(n) {
		k.fail("expected an axis from %d to %d, found %d", -n, n-1, x)
		return 0
	}
	if x < 0 {
		x += int64(n)
	}
	return int(x)
}

// axes normalizes several axes, each of which may occur once.
func (k *call) axes(list []int64, n int) []int {
	var out []int
	for _, x := range list {
		a := k.axis(x, n)
		if slices.Contains(out, a) {
			k.fail("expected each axis once, found %v", list)
		}
		out = append(out, a)
	}
	if n == 0 && k.err == nil && len(list) > 0 {
		k.fail("expected an array with dimensions, found a single number")
	}
	return out
}

// rows fails if one of the axes is that of the batch.
func (k *call) rows(s shape, axes ...int) {
	if slices.Contains(axes, s.axis) && s.axis >= 0 {
		k.fail("expected an axis within a row, found the batch, %d of %v", s.axis, s)
	}
}

// constant returns the elements of an input that must be a constant without a batch, of n
// elements (n < 0: any number of them).
func (k *call) constant(i, n int, what string) []float32 {
	v := k.arg(i)
	if k.err != nil {
		return nil
	}
	if !v.constant || v.shape.axis >= 0 {
		k.fail("%s (input %d): expected a constant, found an array computed from the inputs", what, i)
		return nil
	}
	floats, err := k.compiler.numbers(v)
	if err != nil {
		k.fail("%s (input %d): %w", what, i, err)
		return nil
	}
	if n >= 0 && len(floats) != n {
		k.fail("%s (input %d): expected %d elements, found %v", what, i, n, v.shape)
		return nil
	}
	return floats
}

// knowAll refuses a graph with unknown operators. The error lists them together.
func (c *compiler) knowAll() error {
	var missing []string
	for _, n := range c.graph.Nodes {
		if operators[n.Op] == nil || n.Domain != "" && n.Domain != "ai.onnx" {
			missing = append(missing, n.String())
		}
	}
	if len(missing) == 0 {
		return nil
	}
	more := ""
	if len(missing) > 8 {
		more = fmt.Sprintf(" and %d more", len(missing)-8)
		missing = missing[:8]
	}
	return fmt.Errorf("operators that are missing here: %s%s; there are: %s", strings.Join(missing, ", "), more, strings.Join(known(), ", "))
}

func unknown(n *onnx.Node) error { return fmt.Errorf("expected a known operator, found %q", n.Op) }

// known returns the names of all operators, sorted.
func known() []string {
	var names []string
	for name := range operators {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
