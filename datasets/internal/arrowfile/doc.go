// Package arrowfile writes and reads Arrow IPC files of the few shapes that
// datasets are made of: columns without nulls whose rows have a fixed shape,
// lists of numbers, and texts.
//
// A Writer writes the rows of Tables, memory that the caller fills in place, as
// record batches. A Reader reads batches into Tables again: those of files that a
// Writer of the same schema wrote, and no others. Any Arrow library reads the
// files; the tests read them with arrow-go.
//
// # Why not the writer and reader of arrow-go
//
// The schema is arrow-go's, and so is what Table.Record returns. But its ipc
// package (arrow/go v15)
//
//   - makes a new zstd encoder for every record batch, and has no option for its
//     level or for another encoder: more time went into compression than into
//     playing, observing and writing together;
//   - reads into new memory for every batch, takes every length in the file as
//     true and panics where it is wrong.
//
// The Writer compresses straight from Tables and keeps its encoders. The Reader
// decompresses straight into Tables; schema and number of rows tell it how long
// every buffer must be, and it refuses all else.
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

// Bounds of the files, in bytes. What is written keeps to them, and the Reader
// refuses what does not.
const (
	maxBuffer   = rowzstd.MaxSource // of the content of one buffer of a batch
	maxMetadata = 16 << 20          // of the message of a batch, and of the footer
	maxRatio    = 1 << 16           // of the content to the frame of lists longer than freeLists
	freeLists   = 1 << 20
)

// wideRow is the number of bytes from which on the rows of a column are wide:
// rowzstd compresses them. It would find few matches in narrower ones.
const wideRow = 64

// wideLists is how many bytes of lists and texts a Table keeps for the next
// batch.
const wideLists = 32 << 20
