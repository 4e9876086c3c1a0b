package onnx

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// parseNode appends a node.
func parseNode(to *[]*Node, f field) error {
	n := &Node{}
	if err := n.parse(f); err != nil {
		return fmt.Errorf("node %d %q (%s): %w", len(*to), n.Name, n.Op, err)
	}
	*to = append(*to, n)
	return nil
}

// parse reads the message of a node.
func (n *Node) parse(message field) error {
	err := message.fields(func(f field) error {
		switch f.number {
		case 1:
			return f.texts(&n.Inputs)
		case 2:
			return f.texts(&n.Outputs)
		case 3:
			return f.text(&n.Name)
		case 4:
			return f.text(&n.Op)
		case 5:
			return parseAttribute(&n.Attributes, f)
		case 7:
			return f.text(&n.Domain)
		case 8:
			return f.text(&n.overload)
		}
		return nil
	})
	n.Domain = plainDomain(n.Domain)
	switch {
	case err != nil:
		return err
	case n.Op == "":
		return errors.New("expected the name of an operator, found none")
	case len(n.Outputs) == 0:
		return errors.New("expected an output, found none")
	}
	return nil
}

// parseAttribute appends an attribute.
func parseAttribute(to *[]Attribute, f field) error {
	a := Attribute{}
	if err := a.parse(f); err != nil {
		return fmt.Errorf("attribute %d %q: %w", len(*to), a.Name, err)
	}
	*to = append(*to, a)
	return nil
}

// parse reads the message of an attribute. A missing number is 0 and a missing list is empty,
// since protobuf omits such values.
func (a *Attribute) parse(message field) error {
	kind, guess := int64(0), Kind(0)
	err := message.fields(func(f field) error {
		switch f.number {
		case 1:
			return f.text(&a.Name)
		case 20:
			return f.integer(&kind)
		case 21:
			return f.text(&a.reference)
		}
		guess = cmp.Or(kindOf[f.number], guess)
		return a.parseContent(f)
	})
	if err == nil && a.Name == "" {
		err = errors.New("expected a name, found none")
	}
	if err == nil && (kind < 0 || kind > math.MaxUint8) {
		err = fmt.Errorf("expected a kind of attribute, found %d", kind)
	}
	a.Kind = Kind(kind)
	if kind == 0 {
		a.Kind = guess // old files omit the kind
	}
	if err == nil && a.Kind == KindTensor && a.Tensor == nil && a.reference == "" {
		err = errors.New("expected a tensor, found none")
	}
	return err
}

// kindOf are the kinds of attributes by the fields that hold them.
var kindOf = map[protowire.Number]Kind{2: KindFloat, 3: KindInt, 4: KindText, 5: KindTensor, 7: KindFloats, 8: KindInts, 9: KindTexts}

func (a *Attribute) parseContent(f field) error {
	switch kindOf[f.number] {
	case KindFloat:
		var x []float32
		if err := f.floats(&x); err != nil || len(x) != 1 {
			return f.wrong("a float32 number")
		}
		a.Float = x[0]
	case KindInt:
		return f.integer(&a.Int)
	case KindText:
		return f.text(&a.Text)
	case KindTensor:
		a.Tensor = &Tensor{}
		return a.Tensor.parse(f)
	case KindFloats:
		return f.floats(&a.Floats)
	case KindInts:
		return f.integers(&a.Ints)
	case KindTexts:
		return f.texts(&a.Texts)
	}
	return nil
}

// check fails unless names are unique, every input of a node is defined before it, and all
// outputs are defined. It removes inputs that have an initializer, which old files list, from
// Inputs.
func (g *Graph) check() error {
	made := make(map[string]string, len(g.Initializers)+len(g.Inputs)+len(g.Nodes))
	note := func(name, by string) error {
		if other, ok := made[name]; ok {
			return fmt.Errorf("%s: expected a unique name, found %q, which %s has", by, name, other)
		}
		made[name] = by
		return nil
	}
	for _, t := range g.Initializers {
		if t.Name == "" {
			return errors.New("initializer: expected a name, found none")
		}
		if err := note(t.Name, "an initializer"); err != nil {
			return err
		}
	}
	inputs := g.Inputs[:0]
	for _, v := range g.Inputs {
		if made[v.Name] == "an initializer" {
			continue
		}
		if err := note(v.Name, "an input"); err != nil {
			return err
		}
		inputs = append(inputs, v)
	}
	g.Inputs = inputs
	for _, n := range g.Nodes {
		for i, name := range n.Inputs {
			if _, ok := made[name]; name != "" && !ok {
				return fmt.Errorf("%s: input %d: expected an input, an initializer or an output of a node before, found %q", n, i, name)
			}
		}
		for _, name := range n.Outputs {
			if name == "" {
				continue
			}
			if err := note(name, n.Op); err != nil {
				return fmt.Errorf("%s: %w", n, err)
			}
		}
	}
	for _, v := range g.Outputs {
		if _, ok := made[v.Name]; !ok {
			return fmt.Errorf("output %q: expected a value that a node makes, found none", v.Name)
		}
	}
	return nil
}
