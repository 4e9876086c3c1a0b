package arrowfile

import (
	"encoding/json"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// Type is the type of the values of a column.
type Type string

// The types of values. In a RecordBatch a bool is one byte, 0 or 1.
const (
	Uint8   Type = "uint8"
	Int32   Type = "int32"
	Uint64  Type = "uint64"
	Float32 Type = "float32"
	Float64 Type = "float64"
	Bool    Type = "bool"
	Utf8    Type = "utf8"
)

// size returns the number of bytes of one value in a RecordBatch; 0 for texts.
func (t Type) size() int {
	switch t {
	case Uint8, Bool:
		return 1
	case Int32, Float32:
		return 4
	case Uint64, Float64:
		return 8
	}
	return 0
}

// arrowTypes maps the types to those of arrow-go.
var arrowTypes = map[Type]arrow.DataType{
	Uint8:   arrow.PrimitiveTypes.Uint8,
	Int32:   arrow.PrimitiveTypes.Int32,
	Uint64:  arrow.PrimitiveTypes.Uint64,
	Float32: arrow.PrimitiveTypes.Float32,
	Float64: arrow.PrimitiveTypes.Float64,
	Bool:    arrow.FixedWidthTypes.Boolean,
	Utf8:    arrow.BinaryTypes.String,
}

// Column describes one column.
type Column struct {
	Name   string   `json:"name"`
	Type   Type     `json:"type"`             // of the values
	List   bool     `json:"list,omitempty"`   // any number of values per row
	Shape  []int    `json:"shape,omitempty"`  // values per row, row-major; none: a single value
	Dims   []string `json:"dims,omitempty"`   // names of the dimensions of Shape
	Tensor bool     `json:"tensor,omitempty"` // may have the tensor extension
	Doc    string   `json:"doc"`
}

// Values returns the number of values in a row; 1 for lists.
func (c Column) Values() int {
	n := 1
	for _, d := range c.Shape {
		n *= d
	}
	return n
}

// Width returns the number of bytes of a row in a RecordBatch; 0 for lists and texts.
func (c Column) Width() int {
	if c.List {
		return 0
	}
	return c.Values() * c.Type.size()
}

// check fails if the description is wrong.
func (c Column) check() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("a column without a name")
	case arrowTypes[c.Type] == nil:
		return fmt.Errorf("column %s: no type %q", c.Name, c.Type)
	case c.List && (len(c.Shape) > 0 || c.Type == Bool || c.Type == Utf8):
		return fmt.Errorf("column %s: only single numbers are listed", c.Name)
	case len(c.Shape) > 0 && c.Type == Bool:
		return fmt.Errorf("column %s: bools have no shape", c.Name)
	case len(c.Dims) != len(c.Shape):
		return fmt.Errorf("column %s: %d names for %d dimensions", c.Name, len(c.Dims), len(c.Shape))
	}
	n := 1
	for _, d := range c.Shape {
		if d < 1 || d > maxBuffer || n > maxBuffer/d {
			return fmt.Errorf("column %s: shape %v", c.Name, c.Shape)
		}
		n *= d
	}
	return nil
}

// Keys of the metadata of fields.
const (
	KeyShape         = "moonfarm.shape" // the shape of a row as JSON, for columns with a shape
	KeyDoc           = "moonfarm.doc"
	keyExtension     = "ARROW:extension:name"
	keyExtensionMeta = "ARROW:extension:metadata"
	tensorExtension  = "arrow.fixed_shape_tensor"
)

// field returns the column as an Arrow field, with the canonical tensor extension if
// tensors (https://arrow.apache.org/docs/format/CanonicalExtensions.html).
func (c Column) field(tensors bool) arrow.Field {
	f := arrow.Field{Name: c.Name, Type: arrowTypes[c.Type]}
	var keys, values []string
	add := func(k, v string) { keys, values = append(keys, k), append(values, v) }
	switch {
	case c.List:
		f.Type = arrow.ListOfNonNullable(f.Type)
	case len(c.Shape) > 0:
		f.Type = arrow.FixedSizeListOfNonNullable(int32(c.Values()), f.Type)
		if tensors && c.Tensor {
			add(keyExtension, tensorExtension)
			add(keyExtensionMeta, text(struct {
				Shape []int    `json:"shape"`
				Dims  []string `json:"dim_names"`
			}{c.Shape, c.Dims}))
		}
		add(KeyShape, text(c.Shape))
	}
	add(KeyDoc, c.Doc)
	f.Metadata = arrow.NewMetadata(keys, values)
	return f
}

// text returns a value of numbers and strings as JSON.
func text(v any) string {
	b, _ := json.Marshal(v) // cannot fail
	return string(b)
}

// Schema describes a file: its columns, and texts for the whole file.
type Schema struct {
	Columns []Column
	Keys    []string // of the schema's metadata
	Texts   []string // one per key
	Tensors bool     // columns marked Tensor have the extension
	Stride  int      // distance in rows of the rows that are most alike; helps the zstd codec
	// Anywhere names columns whose rows are like rows at any distance: if they are wide, a
	// general encoder compresses them.
	Anywhere []string
}

// Arrow returns the schema in the form of arrow-go.
func (s Schema) Arrow() *arrow.Schema {
	fields := make([]arrow.Field, len(s.Columns))
	for i, c := range s.Columns {
		fields[i] = c.field(s.Tensors)
	}
	meta := arrow.NewMetadata(s.Keys, s.Texts)
	return arrow.NewSchema(fields, &meta)
}

// Check fails if the schema has a column that no file can have.
func (s Schema) Check() error {
	if len(s.Keys) != len(s.Texts) || s.Stride < 1 {
		return fmt.Errorf("a schema with %d keys, %d texts, stride %d", len(s.Keys), len(s.Texts), s.Stride)
	}
	seen := map[string]bool{}
	for _, c := range s.Columns {
		if err := c.check(); err != nil {
			return err
		}
		if seen[c.Name] {
			return fmt.Errorf("column %s twice", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}
