package onnx

import (
	"fmt"
	"slices"
	"strconv"
)

// function is a function of the file: nodes that other nodes call by its name.
type function struct {
	name            functionName
	opset           int // version of the standard operators in it; 0: that of the file
	inputs, outputs []string
	defaults        []Attribute // values of attributes that a call omits
	nodes           []*Node
}

// functionName identifies a function.
type functionName struct{ domain, name, overload string }

// parse reads the message of a function.
func (f *function) parse(message field) error {
	err := message.fields(func(v field) error {
		switch v.number {
		case 1:
			return v.text(&f.name.name)
		case 4:
			return v.texts(&f.inputs)
		case 5:
			return v.texts(&f.outputs)
		case 7:
			return parseNode(&f.nodes, v)
		case 9:
			return parseOpset(v, &f.opset)
		case 10:
			return v.text(&f.name.domain)
		case 11:
			return parseAttribute(&f.defaults, v)
		case 13:
			return v.text(&f.name.overload)
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("function %q: %w", f.name.name, err)
	}
	return err
}

// Limits of the calls of functions.
const (
	maxDepth   = 32      // of functions that call each other
	maxInlined = 1 << 23 // bytes that the nodes and names of all calls take, about
)

// inliner replaces the nodes that call functions of the file by the nodes of these functions.
type inliner struct {
	functions map[functionName]*function
	nodes     []*Node
	calls     int
	bytes     int
}

// inline replaces the calls of functions in a graph.
func (g *Graph) inline(functions []*function) error {
	l := inliner{functions: map[functionName]*function{}}
	for _, f := range functions {
		if l.functions[f.name] != nil {
			return fmt.Errorf("function %q: expected each function once, found it twice", f.name.name)
		}
		l.functions[f.name] = f
	}
	for _, n := range g.Nodes {
		if err := l.add(n, 0); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	g.Nodes = l.nodes
	return nil
}

// add adds a node, or the nodes of the function that it calls.
func (l *inliner) add(n *Node, depth int) error {
	f := l.functions[functionName{n.Domain, n.Op, n.overload}]
	switch {
	case f == nil:
		l.nodes = append(l.nodes, n)
		return nil
	case depth == maxDepth:
		return fmt.Errorf("expected functions that call each other at most %d deep, found more", maxDepth)
	case len(n.Inputs) > len(f.inputs) || len(n.Outputs) > len(f.outputs):
		return fmt.Errorf("expected at most %d inputs and %d outputs of the function, found %d and %d", len(f.inputs), len(f.outputs), len(n.Inputs), len(n.Outputs))
	}
	if err := l.take(64 + 16*len(f.inputs)); err != nil {
		return err
	}
	l.calls++
	call := "@" + strconv.Itoa(l.calls)
	names := map[string]string{"": ""} // of the function's values in the graph
	for i, name := range f.inputs {
		names[name] = ""
		if i < len(n.Inputs) {
			names[name] = n.Inputs[i]
		}
	}
	for _, body := range f.nodes {
		c, err := l.copied(body, f, n, names, call)
		if err != nil {
			return fmt.Errorf("function %q: %s: %w", f.name.name, body, err)
		}
		if err := l.add(c, depth+1); err != nil {
			return err
		}
	}
	for i, name := range n.Outputs {
		from, ok := names[f.outputs[i]]
		if !ok {
			return fmt.Errorf("function %q: output %q: expected a value that a node makes, found none", f.name.name, f.outputs[i])
		}
		if name != "" {
			l.nodes = append(l.nodes, &Node{Name: n.Name, Op: "Identity", Inputs: []string{from}, Outputs: []string{name}})
		}
	}
	return nil
}

// copied returns a node of function f for the call n, and adds the names of its outputs, which end in `call`, to names.
func (l *inliner) copied(body *Node, f *function, n *Node, names map[string]string, call string) (*Node, error) {
	c := *body
	c.Opset, c.Inputs, c.Outputs, c.Attributes = f.opset, nil, nil, nil
	bytes := 256
	for i, name := range body.Inputs {
		from, ok := names[name]
		if !ok {
			return nil, fmt.Errorf("input %d: expected an input of the function or an output of a node before, found %q", i, name)
		}
		c.Inputs = append(c.Inputs, from)
		bytes += 16
	}
	for _, name := range body.Outputs {
		if name != "" {
			names[name] = name + call
		}
		c.Outputs = append(c.Outputs, names[name])
		bytes += 64 + len(name)
	}
	for _, a := range body.Attributes {
		bytes += 192
		if a.reference == "" {
			c.Attributes = append(c.Attributes, a)
			continue
		}
		bytes += len(n.Attributes) + len(f.defaults) // which are searched
		given := n.Attribute(a.reference)
		if i := slices.IndexFunc(f.defaults, func(d Attribute) bool { return d.Name == a.reference }); given == nil && i >= 0 {
			given = &f.defaults[i]
		}
		if given != nil { // else the call omits the attribute, and so does the node
			value := *given
			value.Name = a.Name
			c.Attributes = append(c.Attributes, value)
		}
	}
	return &c, l.take(bytes)
}

// take counts bytes. It fails if they are too many.
func (l *inliner) take(bytes int) error {
	if l.bytes += bytes; l.bytes > maxInlined {
		return fmt.Errorf("expected calls of functions whose nodes take at most %d bytes, found more", maxInlined)
	}
	return nil
}
