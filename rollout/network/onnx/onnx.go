// Package onnx reads networks from ONNX files, the export format of PyTorch and
// other programs, into plain Go values. It knows the messages of the format and
// checks that a graph is complete; package network implements the operators.
//
// Files may come from untrusted sources: for a file of n bytes Parse allocates at
// most a small multiple of n, and the error for a damaged file states the fault, its
// place and the expected content. Graphs inside of nodes (loops and branches),
// sequences, tensors of texts and sparse tensors are refused. ReadFile reads a file
// together with its data in other files.
package onnx

import (
	"fmt"
	"math"
	"strconv"
)

// Type is the type of a tensor's elements, numbered as in ONNX files.
type Type uint8

// The types that Parse reads. Numbers of Float16, BFloat16 and Float64 become float32.
const (
	Float32  Type = 1
	Uint8    Type = 2
	Int8     Type = 3
	Uint16   Type = 4
	Int16    Type = 5
	Int32    Type = 6
	Int64    Type = 7
	Bool     Type = 9
	Float16  Type = 10
	Float64  Type = 11
	Uint32   Type = 12
	Uint64   Type = 13
	BFloat16 Type = 16
)

// typeNames are the names of all types of the format, including those that Parse does
// not read.
var typeNames = [...]string{1: "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool",
	"float16", "float64", "uint32", "uint64", "complex64", "complex128", "bfloat16",
	"float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4", "float4e2m1"}

// String returns NumPy's name of the type.
func (t Type) String() string {
	if t > 0 && int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "type " + strconv.Itoa(int(t))
}

// IsFloat reports whether the elements are floating-point numbers, which are
// read as float32.
func (t Type) IsFloat() bool {
	return t == Float32 || t == Float16 || t == BFloat16 || t == Float64
}

// sizes are the bytes of an element in raw data, of the types that Parse reads.
var sizes = [math.MaxUint8 + 1]int{Float32: 4, Uint8: 1, Int8: 1, Uint16: 2, Int16: 2, Int32: 4, Int64: 8, Bool: 1, Float16: 2, Float64: 8,
	Uint32: 4, Uint64: 8, BFloat16: 2}

// Readable reports whether Parse reads tensors of the type.
func (t Type) Readable() bool { return sizes[t] > 0 }

// Dim is one dimension of an input or output: a number, or −1 and a name such as
// "batch", which may be empty.
type Dim struct {
	Size int64
	Name string
}

// Value describes an input or output of a graph.
type Value struct {
	Name string
	Type Type
	Dims []Dim
}

// Tensor is an array of numbers, row-major.
type Tensor struct {
	Name   string
	Type   Type
	Dims   []int
	Floats []float32 // if Type.IsFloat
	Ints   []int64   // otherwise
}

// Len returns the number of elements.
func (t *Tensor) Len() int {
	n := 1
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// Attribute is an attribute of a node. Kind tells which field holds the value.
type Attribute struct {
	Name   string
	Kind   Kind
	Float  float32
	Int    int64
	Text   string
	Tensor *Tensor // not nil if Kind is KindTensor
	Floats []float32
	Ints   []int64
	Texts  []string

	reference string // in a function: the attribute of the call that has the value
}

// Kind is the kind of an attribute's value, numbered as in ONNX files.
type Kind uint8

// The kinds of attributes that Parse reads.
const (
	KindFloat  Kind = 1
	KindInt    Kind = 2
	KindText   Kind = 3
	KindTensor Kind = 4
	KindFloats Kind = 6
	KindInts   Kind = 7
	KindTexts  Kind = 8
)

// String returns the name of the kind.
func (k Kind) String() string {
	names := [...]string{KindFloat: "a number", KindInt: "a whole number", KindText: "a text", KindTensor: "a tensor", KindFloats: "numbers",
		KindInts: "whole numbers", KindTexts: "texts"}
	if int(k) < len(names) && names[k] != "" {
		return names[k]
	}
	return "attribute of kind " + strconv.Itoa(int(k))
}

// Node is one operation. An empty name among Inputs stands for an omitted input, the domain ""
// for that of the standard operators.
type Node struct {
	Name, Op, Domain string
	Inputs, Outputs  []string
	Attributes       []Attribute
	Opset            int // version of the standard operators; 0: that of the graph

	overload string // of the function that the node calls
}

// String returns the node's name for messages: `node "Conv_3" (Conv)`.
func (n *Node) String() string {
	name := n.Name
	if name == "" && len(n.Outputs) > 0 {
		name = n.Outputs[0]
	}
	return fmt.Sprintf("node %q (%s)", name, n.Op)
}

// Attribute returns the attribute of that name, nil if there is none.
func (n *Node) Attribute(name string) *Attribute {
	for i := range n.Attributes {
		if n.Attributes[i].Name == name {
			return &n.Attributes[i]
		}
	}
	return nil
}

// Graph is a network. Each input of a node is defined before the node.
type Graph struct {
	Producer     string // the program that wrote the file, with its version
	Opset        int    // version of the standard operators
	Inputs       []Value
	Outputs      []Value
	Initializers []*Tensor // the weights
	Nodes        []*Node
}
