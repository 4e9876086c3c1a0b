package arrowfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"moonfarm/datasets/internal/rowzstd"
)

// Codec is the compression of the buffers of a file.
type Codec string

// The codecs of Arrow files.
const (
	None Codec = "none"
	LZ4  Codec = "lz4" // LZ4 frames
	Zstd Codec = "zstd"
)

// likeness is what is known of the content of a buffer.
type likeness struct {
	width    int  // bytes of a row; 0: nothing is known
	stride   int  // distance in rows of the rows that are most alike
	anywhere bool // rows are like rows at any distance
}

// compressor appends src as one frame to dst. A compressor keeps its memory, and the frame
// depends on src and its likeness alone.
type compressor func(dst, src []byte, l likeness) ([]byte, error)

// newCompressor returns the compressor of a codec, nil for None.
func newCompressor(c Codec) (compressor, error) {
	switch c {
	case LZ4:
		// 64 KiB blocks and no checksum, as in Arrow's C++ library.
		w := lz4.NewWriter(nil)
		err := w.Apply(lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb), lz4.ConcurrencyOption(1))
		return func(dst, src []byte, _ likeness) ([]byte, error) {
			out := bytes.NewBuffer(dst)
			w.Reset(out)
			if _, err := w.Write(src); err != nil {
				return nil, err
			}
			err := w.Close()
			return out.Bytes(), err
		}, err
	case Zstd:
		z, err := newZstdFrames()
		return z.append, err
	}
	return nil, nil
}

// zstdFrames makes zstd frames: of rows with their likeness, and of other content with a general
// encoder.
type zstdFrames struct {
	general *zstd.Encoder
	rows    *rowzstd.Encoder
}

func newZstdFrames() (zstdFrames, error) {
	// One goroutine, because other goroutines are for other workers. No checksum of
	// the content, because a dataset has one of each file. A window of 1 MiB is
	// longer than nearly all buffers; the default takes 8 MiB of memory for each
	// worker. The fastest level makes frames of orders of Terminal and CodeCraft a tenth
	// longer.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	return zstdFrames{e, new(rowzstd.Encoder)}, err
}

// append is the compressor.
func (z zstdFrames) append(dst, src []byte, l likeness) ([]byte, error) {
	switch {
	case l.width == 0:
	case l.width <= rowzstd.ShortRow:
		if frame, ok := z.rows.AppendRows(dst, src, l.width, l.stride); ok {
			return frame, nil
		}
	case !l.anywhere:
		return z.rows.AppendFrame(dst, src, l.width*l.stride), nil
	}
	start := len(dst)
	dst = z.general.EncodeAll(src, dst)
	if len(src) < unsized {
		// The frame has no content size. Its window becomes the content, whose size takes the place
		// of the window descriptor.
		dst[start+4] |= singleSegment
		dst[start+5] = byte(len(src))
	}
	return dst, nil
}

// Headers of zstd frames (RFC 8878, 3.1.1.1).
const (
	singleSegment = 1 << 5
	unsized       = 256 // the general encoder writes the sizes of contents from this size on
)

// decompressor fills dst with the content of the frame, which must have the length of
// dst.
type decompressor func(dst, frame []byte) error

// newDecompressor returns the decompressor of a codec, nil for None.
func newDecompressor(c Codec) (decompressor, error) {
	switch c {
	case LZ4:
		r := lz4.NewReader(nil)
		return func(dst, frame []byte) error { return fillLZ4(r, dst, frame) }, nil
	case Zstd:
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxMemory(maxBuffer))
		return func(dst, frame []byte) error {
			// The capacity of dst limits the decoded bytes.
			got, err := d.DecodeAll(frame, dst[:0:len(dst)])
			if err == nil && len(got) != len(dst) {
				err = fmt.Errorf("%d bytes where %d belong", len(got), len(dst))
			}
			return err
		}, err
	}
	return nil, nil
}

// lz4Magic begins an LZ4 frame. Frames that begin otherwise are refused: the LZ4 reader
// would decode legacy frames and skip unknown ones.
const lz4Magic = 0x184D2204

func fillLZ4(r *lz4.Reader, dst, frame []byte) error {
	if len(frame) < 4 || binary.LittleEndian.Uint32(frame) != lz4Magic {
		return fmt.Errorf("not an LZ4 frame")
	}
	r.Reset(bytes.NewReader(frame))
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	var more [1]byte
	if n, err := r.Read(more[:]); n != 0 || err != io.EOF {
		return fmt.Errorf("more than the %d bytes that belong (%v)", len(dst), err)
	}
	return nil
}
