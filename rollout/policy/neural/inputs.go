package neural

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
)

// words are fragments of input names that mean a part of the observation. An input with such a
// name can only be that part; among parts of the same shape the name decides.
var words = map[Part][]string{
	Planes:  {"plane", "board", "image", "spatial"},
	Packed:  {"packed", "bits", "words"},
	Scalars: {"scalar", "global", "stats", "vector"},
	Mask:    {"mask", "legal", "valid", "avail", "allowed"},
}

// nameless matches names without a meaning, such as x, input.1 and onnx::Cast_0. For such an
// input the shape decides.
var nameless = regexp.MustCompile(`^(onnx::.*|(l_)?(x|xs|in|inp|input|inputs|arg|args|data|obs|observations?|features?|tensor|[abd-gi-z])_?[._:]*[0-9]*(_[._:]*[0-9]*)?)$`)

// parts are all parts, in the order in which they are tried.
var parts = []Part{Planes, Packed, Scalars, Mask}

// takes reports whether an input of a shape and type can be a part of the
// observation.
func takes(v network.Value, p Part, spec env.Spec) bool {
	s := spec.Shape
	switch p {
	case Planes:
		return v.Type != onnx.Bool && s.PlaneBytes() > 0 &&
			(slices.Equal(v.Dims, []int{s.Planes, s.Height, s.Width}) || slices.Equal(v.Dims, []int{s.PlaneBytes()}))
	case Packed:
		return s.Words > 0 && (slices.Equal(v.Dims, []int{s.Words, 64}) || slices.Equal(v.Dims, []int{64 * s.Words}))
	case Scalars:
		return v.Type == onnx.Float32 && s.Scalars > 0 && slices.Equal(v.Dims, []int{s.Scalars})
	}
	return slices.Equal(v.Dims, []int{features.Choices(spec.Heads)})
}

// named reports whether a name means a part.
func named(name string, p Part) bool {
	return slices.ContainsFunc(words[p], func(w string) bool { return strings.Contains(strings.ToLower(name), w) })
}

// findTensor returns the tensor with the name and the shape of an input, and where its values begin in
// an observation; nil if there is no such tensor.
func findTensor(v network.Value, tensors []features.Tensor) (found *features.Tensor, at int) {
	for i := range tensors {
		t := &tensors[i]
		if strings.EqualFold(t.Name, v.Name) && v.Type != onnx.Bool && (slices.Equal(v.Dims, t.Dims) || slices.Equal(v.Dims, []int{t.Len()})) {
			return t, at
		}
		at += t.Len()
	}
	return nil, 0
}

// matchInputs finds the part of the observation for each input: by its name and shape, or, if
// its name has no meaning, by its shape. The shapes of boards are unique. But a vector with a
// name that means something else could be anything, and is refused.
func (f *Fit) matchInputs(inputs []network.Value, spec env.Spec) error {
	taken := map[Part]string{}
	for _, v := range inputs {
		if of, at := findTensor(v, spec.Description.Tensors); of != nil {
			if other, ok := taken[Part(of.Name)]; ok {
				return fmt.Errorf("inputs %q and %q are both the tensor %s", other, v.Name, of.Name)
			}
			taken[Part(of.Name)] = v.Name
			f.Inputs = append(f.Inputs, Input{v.Name, v.Type, Part(of.Name), v.Len(), at})
			f.Reasons = append(f.Reasons, Reason{v.Name, of.Name, "by its name and shape"})
			continue
		}
		var can []Part
		for _, p := range parts {
			if takes(v, p, spec) {
				can = append(can, p)
			}
		}
		if len(can) == 0 {
			return fmt.Errorf("input %s is no part of an observation%s", describe(v), stateHint(v.Name))
		}
		p, why := can[0], "by its shape, which no other part has"
		says := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return !named(v.Name, p) })
		by := slices.DeleteFunc(slices.Clone(can), func(p Part) bool { return !slices.Contains(says, p) })
		switch {
		case len(by) > 0:
			p, why = by[0], "by its name and shape"
		case len(says) > 0:
			return fmt.Errorf("input %s has the shape of the %s, and its name says %s; name it %q if it takes them", describe(v), p, says[0], p)
		case (p == Scalars || p == Mask) && !nameless.MatchString(strings.ToLower(v.Name)):
			return fmt.Errorf("input %s has the shape of the %s, and its name says something else; name it %q if it takes them, or export the model without it%s", describe(v), p, p, stateHint(v.Name))
		}
		if other, ok := taken[p]; ok {
			return fmt.Errorf("inputs %q and %q are both the %s", other, v.Name, p)
		}
		taken[p] = v.Name
		f.Inputs = append(f.Inputs, Input{v.Name, v.Type, p, v.Len(), 0})
		f.Reasons = append(f.Reasons, Reason{v.Name, string(p), why})
	}
	return nil
}
