package arrowfile

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Numbers of Arrow's flatbuffers schema (format/Message.fbs, Schema.fbs and
// File.fbs of the Arrow repository): the slots of tables, and the members of
// unions and enums.
const (
	metadataV5 = 4

	messageVersion, messageKind, messageHeader, messageBodyLength, messageSlots = 0, 1, 2, 3, 5
	kindSchema, kindRecordBatch                                                 = 1, 3

	schemaFields, schemaMeta, schemaSlots                                       = 1, 2, 4
	fieldName, fieldNullable, fieldTypeKind, fieldType                          = 0, 1, 2, 3
	fieldChildren, fieldMeta, fieldSlots                                        = 5, 6, 7
	typeInt, typeFloat, typeUtf8, typeBool, typeList, typeFixedSizeList         = 2, 3, 5, 6, 12, 16
	batchLength, batchNodes, batchBuffers, batchCompression, batchSlots         = 0, 1, 2, 3, 5
	compressionCodec, compressionSlots                                          = 0, 2
	codecLZ4, codecZstd                                                         = 0, 1
	footerVersion, footerSchema, footerDictionaries, footerBatches, footerSlots = 0, 1, 2, 3, 5
	nodeSize, bufferSize, blockSize                                             = 16, 16, 24
)

// continuation begins a message.
const continuation = 0xFFFFFFFF

const magic = "ARROW1"

// endOfStream is the message after the last.
var endOfStream = [8]byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}

// block is the place of a message in the file, as listed in the footer.
type block struct {
	offset int64
	meta   int32 // bytes of the message: length prefix, metadata and padding
	body   int64
}

// span is the place of a buffer in the body of a batch.
type span struct{ offset, length int64 }

// appendMessage appends the finished flatbuffer with its prefix: continuation,
// length, and padding to a multiple of 8 bytes.
func appendMessage(dst, flat []byte) []byte {
	padded := (len(flat) + 7) / 8 * 8
	dst = binary.LittleEndian.AppendUint32(dst, continuation)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(padded))
	dst = append(dst, flat...)
	return append(dst, make([]byte, padded-len(flat))...)
}

// finishMessage wraps a header as Message and finishes the buffer.
func finishMessage(b *flatbuffers.Builder, kind byte, header flatbuffers.UOffsetT, body int64) []byte {
	b.StartObject(messageSlots)
	b.PrependInt64Slot(messageBodyLength, body, 0)
	b.PrependUOffsetTSlot(messageHeader, header, 0)
	b.PrependInt16Slot(messageVersion, metadataV5, 0)
	b.PrependByteSlot(messageKind, kind, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// fileHead returns the magic, padded to 8 bytes, and the schema message.
func fileHead(s Schema) []byte {
	b := flatbuffers.NewBuilder(4096)
	return appendMessage([]byte(magic+"\x00\x00"), finishMessage(b, kindSchema, buildSchema(b, s.Arrow()), 0))
}

func buildSchema(b *flatbuffers.Builder, s *arrow.Schema) flatbuffers.UOffsetT {
	fields := make([]flatbuffers.UOffsetT, s.NumFields())
	for i, f := range s.Fields() {
		fields[i] = buildField(b, f)
	}
	list := b.CreateVectorOfTables(fields)
	meta := buildMetadata(b, s.Metadata())
	b.StartObject(schemaSlots) // endianness: little, the default
	b.PrependUOffsetTSlot(schemaFields, list, 0)
	b.PrependUOffsetTSlot(schemaMeta, meta, 0)
	return b.EndObject()
}

func buildField(b *flatbuffers.Builder, f arrow.Field) flatbuffers.UOffsetT {
	var children []flatbuffers.UOffsetT
	if n, ok := f.Type.(arrow.NestedType); ok {
		for _, c := range n.Fields() {
			children = append(children, buildField(b, c))
		}
	}
	name := b.CreateString(f.Name)
	list := b.CreateVectorOfTables(children)
	meta := buildMetadata(b, f.Metadata)
	kind, typ := buildType(b, f.Type)
	b.StartObject(fieldSlots)
	b.PrependUOffsetTSlot(fieldName, name, 0)
	b.PrependUOffsetTSlot(fieldType, typ, 0)
	b.PrependUOffsetTSlot(fieldChildren, list, 0)
	b.PrependUOffsetTSlot(fieldMeta, meta, 0)
	b.PrependByteSlot(fieldTypeKind, kind, 0)
	b.PrependBoolSlot(fieldNullable, f.Nullable, false)
	return b.EndObject()
}

// buildType builds the table of a type and returns the kind of the type in the union.
func buildType(b *flatbuffers.Builder, t arrow.DataType) (kind byte, table flatbuffers.UOffsetT) {
	b.StartObject(2)
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		kind = typeFixedSizeList
		b.PrependInt32Slot(0, t.Len(), 0)
	case *arrow.Float32Type:
		kind = typeFloat
		b.PrependInt16Slot(0, 1, 0) // single
	case *arrow.Float64Type:
		kind = typeFloat
		b.PrependInt16Slot(0, 2, 0) // double
	case *arrow.ListType:
		kind = typeList
	case *arrow.StringType:
		kind = typeUtf8
	case *arrow.BooleanType:
		kind = typeBool
	default:
		kind = typeInt
		b.PrependInt32Slot(0, int32(t.(arrow.FixedWidthDataType).BitWidth()), 0)
		b.PrependBoolSlot(1, t.ID() == arrow.INT32, false) // signed
	}
	return kind, b.EndObject()
}

func buildMetadata(b *flatbuffers.Builder, m arrow.Metadata) flatbuffers.UOffsetT {
	if m.Len() == 0 {
		return 0
	}
	pairs := make([]flatbuffers.UOffsetT, m.Len())
	for i := range pairs {
		k, v := b.CreateString(m.Keys()[i]), b.CreateString(m.Values()[i])
		b.StartObject(2)
		b.PrependUOffsetTSlot(0, k, 0)
		b.PrependUOffsetTSlot(1, v, 0)
		pairs[i] = b.EndObject()
	}
	return b.CreateVectorOfTables(pairs)
}

// structs builds a vector of structs of that size, the last of which put writes first.
func structs[T any](b *flatbuffers.Builder, size int, list []T, put func(T)) flatbuffers.UOffsetT {
	b.StartVector(size, len(list), 8)
	for _, x := range slices.Backward(list) {
		b.Prep(8, size)
		put(x)
	}
	return b.EndVector(len(list))
}

// appendBatchMessage appends the message before the body of a record batch.
// nodes are the lengths of the fields, children after their parents.
func appendBatchMessage(dst []byte, b *flatbuffers.Builder, rows int, nodes []int64, buffers []span, body int64, c Codec) []byte {
	b.Reset()
	nodeList := structs(b, nodeSize, nodes, func(n int64) {
		b.PrependInt64(0) // nulls
		b.PrependInt64(n)
	})
	bufferList := structs(b, bufferSize, buffers, func(s span) {
		b.PrependInt64(s.length)
		b.PrependInt64(s.offset)
	})
	var compression flatbuffers.UOffsetT
	if c != None {
		b.StartObject(compressionSlots) // method: buffer by buffer, the default
		if c == Zstd {
			b.PrependByteSlot(compressionCodec, codecZstd, codecLZ4)
		}
		compression = b.EndObject()
	}
	b.StartObject(batchSlots)
	b.PrependInt64Slot(batchLength, int64(rows), 0)
	b.PrependUOffsetTSlot(batchNodes, nodeList, 0)
	b.PrependUOffsetTSlot(batchBuffers, bufferList, 0)
	b.PrependUOffsetTSlot(batchCompression, compression, 0)
	return appendMessage(dst, finishMessage(b, kindRecordBatch, b.EndObject(), body))
}

// appendFooter appends the bytes after the last message: the end of the stream, the
// footer, its length and the magic.
func appendFooter(dst []byte, s Schema, blocks []block) []byte {
	b := flatbuffers.NewBuilder(4096 + len(blocks)*blockSize)
	schema := buildSchema(b, s.Arrow())
	put := func(k block) {
		b.PrependInt64(k.body)
		b.Pad(4)
		b.PrependInt32(k.meta)
		b.PrependInt64(k.offset)
	}
	none := structs(b, blockSize, nil, put)
	list := structs(b, blockSize, blocks, put)
	b.StartObject(footerSlots)
	b.PrependUOffsetTSlot(footerSchema, schema, 0)
	b.PrependUOffsetTSlot(footerDictionaries, none, 0)
	b.PrependUOffsetTSlot(footerBatches, list, 0)
	b.PrependInt16Slot(footerVersion, metadataV5, 0)
	b.Finish(b.EndObject())
	flat := b.FinishedBytes()
	dst = append(dst, endOfStream[:]...)
	dst = append(dst, flat...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(flat)))
	return append(dst, magic...)
}
