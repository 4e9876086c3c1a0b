package network

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moonfarm/rollout/network/onnx"
)

// call is a node of the file that an operator translates. Its methods fail by a panic with a
// failure, which compiler.add recovers.
type call struct {
	*onnx.Node
	compiler *compiler
	at       string   // the part of the file, for messages
	in       []*value // nil for an omitted input
	taken    map[string]bool
}

// failure is the error for which a call ends.
type failure struct{ error }

// must fails for an error.
func (k *call) must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// broadcast returns the common shape of several arrays.
func (k *call) broadcast(s shape, others ...shape) shape {
	for _, other := range others {
		var err error
		s, err = broadcast(s, other)
		k.must(err)
	}
	return s
}

func (k *call) fail(format string, args ...any) {
	k.must(fmt.Errorf(format, args...))
}

// refuse fails if the node is wrong. It is not for loops over numbers, as it allocates memory for its arguments.
func (k *call) refuse(wrong bool, format string, args ...any) {
	if wrong {
		k.fail(format, args...)
	}
}

// opset returns the version of the operators.
func (k *call) opset() int { return cmp.Or(k.Node.Opset, k.compiler.graph.Opset) }

// latest is a version in which the operators that others are made of have the forms that `with` uses.
const latest = 20

// with applies another operator, with onnx.Attributes: many operators are made of others.
func (k *call) with(op string, in []*value, attributes ...any) *value {
	node := &onnx.Node{Name: k.Name, Op: op, Outputs: k.Outputs[:1], Attributes: onnx.Attributes(attributes...), Opset: latest}
	c := &call{Node: node, compiler: k.compiler, at: k.at, in: in, taken: map[string]bool{}}
	return k.compiler.operators[op](c)[0]
}

// list returns a constant of whole numbers.
func (k *call) list(numbers ...int) *value {
	out := make([]whole, len(numbers))
	for i, x := range numbers {
		out[i].n = int64(x)
	}
	return k.wholeOut(onnx.Int64, constantShape(len(out)), out)
}

// floatsOut returns a constant of these dimensions.
func (k *call) floatsOut(floats []float32, dims ...int) *value {
	return &value{name: k.Outputs[0], typ: onnx.Float32, shape: constantShape(dims...), constant: true, floats: floats}
}

// arg returns a required input.
func (k *call) arg(i int) *value {
	if !k.has(i) {
		k.fail("expected an input %d, found none", i)
	}
	return k.in[i]
}

// has reports whether the call has an input i.
func (k *call) has(i int) bool { return i < len(k.in) && k.in[i] != nil }

// attribute returns an attribute, which must be of a kind; nil if it is missing.
func (k *call) attribute(name string, kind onnx.Kind) *onnx.Attribute {
	k.taken[name] = true
	a := k.Attribute(name)
	if a != nil && a.Kind != kind {
		k.fail("attribute %q: expected %v, found %v", name, kind, a.Kind)
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
	k.refuse(n >= 0 && len(a.Ints) != n, "attribute %q: expected %d numbers, found %d", name, n, len(a.Ints))
	out := make([]int, len(a.Ints))
	for i, x := range a.Ints {
		if x < int64(least) || x > maxArray {
			k.fail("attribute %q: expected numbers from %d to %d, found %v", name, least, maxArray, a.Ints)
		}
		out[i] = int(x)
	}
	return out
}

// wholes returns the elements of an input that must be a constant of whole numbers.
func (k *call) wholes(i int, what string) []whole {
	v := k.arg(i)
	if !v.constant || v.whole == nil {
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
	}
	if x < 0 {
		x += int64(n)
	}
	return int(x)
}

// between returns the whole numbers from one to below another.
func between(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// axes normalizes several axes, each of which may occur once.
func (k *call) axes(list []int64, n int) []int {
	var out []int
	for _, x := range list {
		a := k.axis(x, n)
		k.refuse(slices.Contains(out, a), "expected each axis once, found %v", list)
		out = append(out, a)
	}
	k.refuse(n == 0 && len(list) > 0, "expected an array with dimensions, found a single number")
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
	if !v.constant || v.shape.axis >= 0 {
		k.fail("%s (input %d): expected a constant, found an array computed from the inputs", what, i)
	}
	floats, err := k.compiler.numbers(v)
	k.refuse(err != nil, "%s (input %d): %w", what, i, err)
	k.refuse(n >= 0 && len(floats) != n, "%s (input %d): expected %d elements, found %v", what, i, n, v.shape)
	return floats
}

// trackRows sets perRow of the results. Exporters write x[arange(x.shape[0])[:, None], indices] with the
// numbers of the batch's rows, which are not known here, where each row is computed alone. perRow tells by
// how much a number grows from row to row, and the array holds the number for the first row: perRow has one
// element for all numbers, or one for each index of the last dimension. Only operators that move, add and
// scale such numbers, and those that read or write elements by them, can use them.
func (k *call) trackRows(outs []*value) {
	if !slices.ContainsFunc(k.in, func(v *value) bool { return v != nil && v.perRow != nil }) {
		return
	}
	first := k.in[0].perRow
	switch k.Op {
	case "Shape", "Size":
	case "GatherND", "ScatterND": // only the indices may have such numbers
		for i, v := range k.in {
			if i != 1 && v.perRow != nil {
				k.setRows(outs, nil, false)
			}
		}
	case "Gather":
		k.setRows(outs, first, len(first) <= 1)
	case "Identity", "Cast", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Expand", "Transpose", "Slice", "Split":
		others := slices.ContainsFunc(k.in[1:], func(v *value) bool { return v != nil && v.perRow != nil })
		k.setRows(outs, first, len(first) == 1 && !others)
	case "Concat":
		k.concatRows(outs)
	case "Add", "Sub", "Mul":
		k.arithmeticRows(outs)
	default:
		k.setRows(outs, nil, false)
	}
}

// setRows sets perRow of all results if that is possible.
func (k *call) setRows(outs []*value, perRow []int, possible bool) {
	if !possible {
		k.fail("expected numbers that do not depend on the position of a row in the batch, found numbers counted from its first row")
	}
	for _, v := range outs {
		v.perRow = perRow
	}
}

// concatRows sets perRow of a Concat: along the last dimension, each input has its own.
func (k *call) concatRows(outs []*value) {
	dims := outs[0].shape.dims
	last := k.integer("axis", 0) == len(dims)-1 || k.integer("axis", 0) == -1
	var all []int
	for _, v := range k.in {
		n := v.shape.dims[len(dims)-1]
		switch {
		case last && n > 16, !last && v != k.in[0] && !slices.Equal(v.perRow, k.in[0].perRow):
			k.setRows(outs, nil, false)
			return
		case len(v.perRow) == n:
			all = append(all, v.perRow...)
		case v.perRow == nil:
			all = append(all, make([]int, n)...)
		default:
			all = append(all, slices.Repeat(v.perRow, n)...)
		}
	}
	if !last {
		all = k.in[0].perRow
	}
	k.setRows(outs, all, true)
}

// arithmeticRows sets perRow of a sum, a difference, or a product with a constant.
func (k *call) arithmeticRows(outs []*value) {
	a, b := k.in[0], k.in[1]
	if len(a.perRow) > 1 || len(b.perRow) > 1 || outs[0].typ.IsFloat() {
		k.setRows(outs, nil, false)
		return
	}
	n, m := a.grows(-1), b.grows(-1)
	switch k.Op {
	case "Add":
		n += m
	case "Sub":
		n -= m
	case "Mul":
		if b.perRow != nil {
			a, b, n = b, a, m
		}
		if b.perRow != nil || !b.constant || len(b.whole) == 0 || slices.ContainsFunc(b.whole, func(w whole) bool { return w != b.whole[0] || w.batch }) {
			k.setRows(outs, nil, false)
			return
		}
		if factor := b.whole[0].n; abs64(factor) <= maxArray {
			n *= int(factor)
		} else {
			n = maxArray + 1
		}
	}
	k.setRows(outs, []int{n}, n >= -maxArray && n <= maxArray)
	if n == 0 {
		outs[0].perRow = nil
	}
}

// ownRow reports whether the numbers at an index of the last dimension of an array, all of them for −1, select
// elements of their own row along the axis of the batch.
func (v *value) ownRow(s shape, axis, at int) bool {
	if s.axis != axis || axis < 0 || s.outer != 1 || v.shape.axis < 0 {
		return false
	}
	return v.grows(at) == s.dims[axis]
}

// grows returns by how much the numbers at an index of the last dimension grow from row to row; for −1 those of
// the whole array, 0 if they differ.
func (v *value) grows(at int) int {
	switch {
	case len(v.perRow) == 1:
		return v.perRow[0]
	case v.perRow == nil || at < 0:
		return 0
	}
	return v.perRow[at]
}

// knowAll refuses a graph with unknown operators. The error lists them together.
func (c *compiler) knowAll() error {
	var missing []string
	for _, n := range c.graph.Nodes {
		if operators[n.Op] == nil || n.Domain != "" {
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

// known returns the names of all operators, sorted.
func known() []string { return slices.Sorted(maps.Keys(operators)) }
