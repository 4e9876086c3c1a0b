// Package arrowfile writes and reads Arrow IPC files of the few shapes that
// datasets are made of: columns without nulls whose rows have a fixed shape,
// lists of numbers, and texts.
//
// # Why not the writer and reader of arrow-go
//
// The schema is arrow-go's; the framing around the column memory, some hundred
// lines, is done here, because arrow/go v15's ipc package
//
//   - makes a new zstd encoder for every record batch and lets nobody choose
//     its level or hand in another: more time went into compression than into
//     playing, observing and writing together;
//   - reads into new memory for every batch, believes every length in the file
//     and panics where it is wrong.
//
// This writer compresses from the caller's slabs with encoders that it keeps,
// and this reader decompresses into the caller's slabs, knows from schema and
// row count how long every buffer must be, and refuses all else. The files are
// ordinary Arrow files: the tests read them with arrow-go's reader as well.
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
