package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	x      uint64 // a number
	b      []byte // a message, a text or packed numbers
	all    []byte // the field with its tag
}

// fields calls f with each field of a message.
func fields(b []byte, f func(field) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return damaged(n)
		}
		v := field{number: number, kind: kind, all: b}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			v.x, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(b)
			v.x = uint64(x)
		case protowire.Fixed64Type:
			v.x, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			v.b, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return damaged(n)
		}
		b = b[n:]
		v.all = v.all[:len(v.all)-len(b)]
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}

// damaged returns the error for bytes that are not a message.
func damaged(n int) error {
	return fmt.Errorf("expected fields of a protobuf message, found other bytes or the end (%w)", protowire.ParseError(n))
}

// wrong returns the error for a field that has another kind than in the format.
func (f field) wrong(want string) error {
	return fmt.Errorf("field %d: expected %s, found wire type %d", f.number, want, f.kind)
}

// message returns the content of a field that is a message or a text.
func (f field) message() ([]byte, error) {
	if f.kind != protowire.BytesType {
		return nil, f.wrong("a message or text")
	}
	return f.b, nil
}

// fields calls f with each field of a field that is a message.
func (f field) fields(each func(field) error) error {
	b, err := f.message()
	if err != nil {
		return err
	}
	return fields(b, each)
}

func (f field) text(to *string) error {
	b, err := f.message()
	*to = string(b)
	return err
}

// texts appends a text.
func (f field) texts(to *[]string) error {
	s := ""
	err := f.text(&s)
	*to = append(*to, s)
	return err
}

func (f field) integer(to *int64) error {
	if f.kind != protowire.VarintType {
		return f.wrong("a whole number")
	}
	*to = int64(f.x)
	return nil
}

// integers appends whole numbers, packed or single. It allocates room for packed numbers
// once.
func (f field) integers(to *[]int64) error {
	if f.kind == protowire.VarintType {
		*to = append(*to, int64(f.x))
		return nil
	}
	b, err := f.message()
	if err != nil {
		return err
	}
	n := 0
	for _, c := range b {
		if c < 0x80 {
			n++
		}
	}
	*to = slices.Grow(*to, n)
	for len(b) > 0 {
		x, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return damaged(n)
		}
		*to, b = append(*to, int64(x)), b[n:]
	}
	return nil
}

// floats appends float32 numbers, packed or single.
func (f field) floats(to *[]float32) error {
	return f.numbers(to, protowire.Fixed32Type, 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) })
}

// doubles appends float64 numbers as float32, packed or single.
func (f field) doubles(to *[]float32) error {
	return f.numbers(to, protowire.Fixed64Type, 8, func(b []byte) float32 {
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	})
}

// numbers appends numbers of `size` bytes, packed or single.
func (f field) numbers(to *[]float32, single protowire.Type, size int, read func(b []byte) float32) error {
	if f.kind == single {
		*to = append(*to, read(binary.LittleEndian.AppendUint64(nil, f.x)))
		return nil
	}
	b, err := f.message()
	if err != nil {
		return err
	}
	if len(b)%size != 0 {
		return fmt.Errorf("field %d: expected float%d numbers of %d bytes each, found %d bytes", f.number, 8*size, size, len(b))
	}
	*to = slices.Grow(*to, len(b)/size)
	for ; len(b) > 0; b = b[size:] {
		*to = append(*to, read(b))
	}
	return nil
}

// Parse reads an ONNX file. The graph shares no memory with data.
func Parse(data []byte) (*Graph, error) {
	g := &Graph{}
	producer, version := "", ""
	found := false
	var functions []*function
	err := fields(data, func(f field) error {
		switch f.number {
		case 2:
			return f.text(&producer)
		case 3:
			return f.text(&version)
		case 7:
			if found {
				return errors.New("expected one graph, found a second one")
			}
			found = true
			if err := f.fields(g.parse); err != nil {
				return fmt.Errorf("graph: %w", err)
			}
		case 8:
			return parseOpset(f, &g.Opset)
		case 25:
			functions = append(functions, &function{})
			return functions[len(functions)-1].parse(f)
		}
		return nil
	})
	g.Producer = strings.TrimSpace(producer + " " + version)
	switch {
	case err != nil:
	case !found:
		err = fmt.Errorf("expected a graph (field 7 of an ONNX model), found none in %d bytes", len(data))
	case g.Opset == 0:
		err = errors.New("expected the version of the operators (opset_import), found none")
	default:
		if err = g.inline(functions); err == nil {
			err = g.check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	return g, nil
}

// parseOpset stores the version of the standard operators.
func parseOpset(f field, to *int) error {
	domain, version := "", int64(0)
	err := f.fields(func(f field) error {
		switch f.number {
		case 1:
			return f.text(&domain)
		case 2:
			return f.integer(&version)
		}
		return nil
	})
	if err == nil && plainDomain(domain) == "" {
		if version < 1 || version > 1<<20 {
			return fmt.Errorf("opset_import: expected a version from 1, found %d", version)
		}
		*to = int(version)
	}
	return err
}

// plainDomain returns a domain; that of the standard operators, which has two names, is "".
func plainDomain(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

// parse reads a field of the graph.
func (g *Graph) parse(f field) error {
	switch f.number {
	case 1:
		return parseNode(&g.Nodes, f)
	case 5:
		t := &Tensor{}
		if err := t.parse(f); err != nil {
			return fmt.Errorf("initializer %d %q: %w", len(g.Initializers), t.Name, err)
		}
		g.Initializers = append(g.Initializers, t)
	case 11:
		return parseValue(&g.Inputs, f, "input")
	case 12:
		return parseValue(&g.Outputs, f, "output")
	case 15:
		return errors.New("sparse_initializer: expected dense tensors, found a sparse one")
	}
	return nil
}

// maxRank is the limit of the dimensions of an array.
const maxRank = 8

func parseValue(to *[]Value, f field, what string) error {
	v := Value{}
	err := f.fields(func(f field) error {
		switch f.number {
		case 1:
			return f.text(&v.Name)
		case 2:
			return f.fields(v.parseType)
		}
		return nil
	})
	if err == nil && v.Name == "" {
		err = errors.New("expected a name, found none")
	}
	if err != nil {
		return fmt.Errorf("%s %d %q: %w", what, len(*to), v.Name, err)
	}
	*to = append(*to, v)
	return nil
}

// parseType reads a field of the type of an input or output, which must be a tensor.
func (v *Value) parseType(f field) error {
	if f.number != 1 {
		if f.number >= 4 && f.number <= 9 && f.number != 6 {
			return errors.New("expected a tensor, found a sequence, map or other kind of value")
		}
		return nil
	}
	return f.fields(func(f field) error {
		switch f.number {
		case 1:
			var x int64
			if err := f.integer(&x); err != nil {
				return err
			}
			return v.Type.set(x)
		case 2:
			return f.fields(v.parseShape)
		}
		return nil
	})
}

// set sets the type from its number in the format.
func (t *Type) set(x int64) error {
	if x < 0 || x > math.MaxUint8 || !Type(x).Readable() {
		return fmt.Errorf("expected elements of float32, float64, float16, bfloat16, whole numbers or bool, found %s", Type(min(max(x, 0), 255)))
	}
	*t = Type(x)
	return nil
}

// parseShape reads a dimension of an input or output.
func (v *Value) parseShape(f field) error {
	if f.number != 1 {
		return nil
	}
	d := Dim{Size: -1}
	err := f.fields(func(f field) error {
		switch f.number {
		case 1:
			if err := f.integer(&d.Size); err != nil || d.Size >= 0 {
				return err
			}
			return fmt.Errorf("dimension %d: expected a size of 0 or more, found %d", len(v.Dims), d.Size)
		case 2:
			return f.text(&d.Name)
		}
		return nil
	})
	if err == nil && len(v.Dims) == maxRank {
		err = fmt.Errorf("expected at most %d dimensions, found more", maxRank)
	}
	v.Dims = append(v.Dims, d)
	return err
}
