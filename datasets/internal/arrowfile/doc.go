// Package arrowfile writes and reads Arrow IPC files with the few kinds of columns
// that datasets have: columns without nulls whose rows have a fixed shape,
// lists of numbers, and texts.
//
// A Writer writes a RecordBatch, memory that the caller fills in place. A Reader
// reads it back, from files that a Writer of the same schema wrote and from no
// others. Any Arrow library reads the
// files; the tests read them with arrow-go.
//
// # Why not the writer and reader of arrow-go
//
// Schema.Arrow and RecordBatch.Record return types of arrow-go. But its ipc
// package (arrow/go v15)
//
//   - makes a new zstd encoder for every record batch, and has no option for its
//     level or for another encoder: more time went into compression than into
//     playing, observing and writing together;
//   - reads into new memory for every batch, believes every length in the file,
//     and panics where it is wrong.
//
// The Writer compresses from the RecordBatch and keeps its encoders. The Reader
// decompresses into the RecordBatch; schema and number of rows determine the length
// of every buffer, and it refuses other lengths.
//
// # Layout
//
//	"ARROW1" 0 0
//	schema message
//	record batch message, body      one per Write
//	…
//	end of stream                   8 bytes
//	footer, its length, "ARROW1"    places of the batches
//
// (https://arrow.apache.org/docs/format/Columnar.html, metadata version 5,
// little endian). The body of a batch holds the buffers of the columns in
// order, each padded to 8 bytes; validity buffers are of length 0, as there are
// no nulls. With a codec each buffer is the length of its content (int64) and
// one zstd or LZ4 frame.
package arrowfile

import "moonfarm/datasets/internal/rowzstd"

// Bounds of the files, in bytes. A Writer keeps to them, and a Reader refuses larger
// files.
const (
	maxBuffer   = rowzstd.MaxSource // of the content of one buffer of a batch
	maxMetadata = 16 << 20          // of the message of a batch, and of the footer
	maxRatio    = 1 << 16           // of the content to the frame of lists longer than freeLists
	freeLists   = 1 << 20
)

// wideLists is the bytes of lists and texts that a RecordBatch keeps room for.
const wideLists = 32 << 20
