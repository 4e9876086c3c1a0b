package arrowfile

import (
	"fmt"
	"strings"

	flatbuffers "github.com/google/flatbuffers/go"
)

// describe returns the schema in a schema message as text: a line per field
// and per pair of metadata. Messages of equal text are equal schemas, however
// their flatbuffers are laid out. It panics on a damaged message (callers
// recover) and takes no more memory than the message's size calls for.
//
// arrow-go could decode the schema, but makes room for as many fields as a
// damaged length says.
func describe(message []byte) []string {
	msg := root(message[8:])
	header := slot(msg, messageHeader)
	if kind := slot(msg, messageKind); header == 0 || kind == 0 || msg.GetByte(kind) != kindSchema {
		panic("not a schema")
	}
	schema := &flatbuffers.Table{Bytes: msg.Bytes, Pos: msg.Indirect(header)}
	d := describer{left: len(message)}
	if e := slot(schema, 0); e != 0 && schema.GetInt16(e) != 0 {
		d.add("big endian")
	}
	d.metadata("schema", schema, schemaMeta)
	for _, f := range tables(schema, schemaFields) {
		d.field("column", f, 0)
	}
	return d.lines
}

// describer gathers lines. Tables of a flatbuffer may lie on each other, so a
// small message could describe an endless schema: left bounds the text.
type describer struct {
	lines []string
	left  int
}

func (d *describer) add(line string) {
	if d.left -= len(line); d.left < -1<<16 {
		panic("a schema longer than its message")
	}
	d.lines = append(d.lines, line)
}

// maxDepth of nested fields: those of lists.
const maxDepth = 2

func (d *describer) field(prefix string, f *flatbuffers.Table, depth int) {
	if depth > maxDepth {
		panic("fields nested too deep")
	}
	name := prefix + " " + text(f, fieldName)
	kind, o := slot(f, fieldTypeKind), slot(f, fieldType)
	if kind == 0 || o == 0 {
		panic("a field without type")
	}
	typ := []string{typeText(f.GetByte(kind), &flatbuffers.Table{Bytes: f.Bytes, Pos: f.Indirect(o)})}
	if o := slot(f, fieldNullable); o != 0 && f.GetBool(o) {
		typ = append(typ, "nullable")
	}
	if slot(f, fieldDictionary) != 0 {
		typ = append(typ, "dictionary")
	}
	d.add(name + ": " + strings.Join(typ, " "))
	for _, c := range tables(f, fieldChildren) {
		d.field(name+" >", c, depth+1)
	}
	d.metadata(name, f, fieldMeta)
}

// typeText names a type with its parameters.
func typeText(kind byte, t *flatbuffers.Table) string {
	size := int32(0)
	if o := slot(t, 0); o != 0 {
		switch kind {
		case typeInt, typeFixedSizeList:
			size = t.GetInt32(o)
		case typeFloat:
			size = int32(t.GetInt16(o))
		}
	}
	switch kind {
	case typeInt:
		o := slot(t, 1)
		return fmt.Sprintf("integer of %d bits, signed %t", size, o != 0 && t.GetBool(o))
	case typeFloat:
		return fmt.Sprintf("float of precision %d", size)
	case typeFixedSizeList:
		return fmt.Sprintf("list of %d", size)
	}
	return fmt.Sprintf("type %d", kind)
}

func (d *describer) metadata(name string, t *flatbuffers.Table, n flatbuffers.VOffsetT) {
	for _, pair := range tables(t, n) {
		d.add(fmt.Sprintf("%s, metadata %q: %q", name, text(pair, 0), text(pair, 1)))
	}
}

func text(t *flatbuffers.Table, n flatbuffers.VOffsetT) string {
	o := slot(t, n)
	if o == 0 {
		return ""
	}
	return t.String(o)
}

// tables returns a vector of tables.
func tables(t *flatbuffers.Table, n flatbuffers.VOffsetT) []*flatbuffers.Table {
	o := t.Offset(4 + 2*n)
	if o == 0 {
		return nil
	}
	count := t.VectorLen(flatbuffers.UOffsetT(o))
	if count < 0 || count > len(t.Bytes)/4 {
		panic("a vector longer than its message")
	}
	at := t.Vector(flatbuffers.UOffsetT(o))
	list := make([]*flatbuffers.Table, count)
	for i := range list {
		list[i] = &flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at + flatbuffers.UOffsetT(i)*4)}
	}
	return list
}
