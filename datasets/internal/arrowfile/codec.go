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

// Codec is how the buffers of a file are compressed.
type Codec string

// The codecs of Arrow files.
const (
	None Codec = "none"
	LZ4  Codec = "lz4" // LZ4 frames
	Zstd Codec = "zstd"
)

// Codecs lists them all.
func Codecs() []Codec { return []Codec{Zstd, LZ4, None} }

// compressor makes frames. It keeps its memory, and what it makes depends on
// nothing but its arguments.
type compressor interface {
	// frame appends src as one frame to dst. Parts of src that are stride
	// bytes apart are likely to be alike; 0: nothing is known.
	frame(dst, src []byte, stride int) ([]byte, error)
}

func newCompressor(c Codec) (compressor, error) {
	switch c {
	case None:
		return nil, nil
	case LZ4:
		return newLZ4Frames()
	case Zstd:
		return newZstdFrames()
	}
	return nil, fmt.Errorf("no codec %q; there are: zstd, lz4, none", c)
}

// zstdFrames makes zstd frames: wide rows with rowzstd, the rest with the
// general encoder of klauspost.
type zstdFrames struct {
	rows rowzstd.Encoder
	e    *zstd.Encoder
}

// wideRow is the stride in bytes from which on rows are wide.
const wideRow = 64

func newZstdFrames() (*zstdFrames, error) {
	// One goroutine, as the others belong to other workers, and no checksum of
	// the content, as the file has one of its bytes.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	return &zstdFrames{e: e}, nil
}

func (z *zstdFrames) frame(dst, src []byte, stride int) ([]byte, error) {
	if stride >= wideRow && len(src) <= rowzstd.MaxSource {
		return z.rows.AppendFrame(dst, src, stride), nil
	}
	return z.e.EncodeAll(src, dst), nil
}

// lz4Frames makes LZ4 frames as Arrow's C++ library does: 64 KiB blocks and no
// checksum.
type lz4Frames struct {
	w   *lz4.Writer
	out appender
}

// appender is a Writer that appends to its bytes.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

func newLZ4Frames() (*lz4Frames, error) {
	w := lz4.NewWriter(nil)
	err := w.Apply(lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb), lz4.ConcurrencyOption(1))
	return &lz4Frames{w: w}, err
}

func (z *lz4Frames) frame(dst, src []byte, _ int) ([]byte, error) {
	z.out.b = dst
	z.w.Reset(&z.out)
	if _, err := z.w.Write(src); err != nil {
		return nil, err
	}
	err := z.w.Close()
	dst, z.out.b = z.out.b, nil
	return dst, err
}

// decompressor is the reverse: it fills dst with the content of the frame,
// which must be of that very length.
type decompressor interface {
	fill(dst, frame []byte) error
}

func newDecompressor(c Codec) (decompressor, error) {
	switch c {
	case None:
		return nil, nil
	case LZ4:
		return &lz4Content{r: lz4.NewReader(nil)}, nil
	case Zstd:
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxMemory(maxBuffer))
		return &zstdContent{d: d}, err
	}
	return nil, fmt.Errorf("no codec %q; there are: zstd, lz4, none", c)
}

type zstdContent struct{ d *zstd.Decoder }

func (z *zstdContent) fill(dst, frame []byte) error {
	// The capacity of dst limits what is decoded.
	got, err := z.d.DecodeAll(frame, dst[:0:len(dst)])
	switch {
	case err != nil:
		return err
	case len(got) != len(dst):
		return fmt.Errorf("%d bytes where %d belong", len(got), len(dst))
	}
	return nil
}

type lz4Content struct {
	r   *lz4.Reader
	src bytes.Reader
}

// lz4Magic begins an LZ4 frame. Others are refused, as the reader would take
// frames of the legacy format and skip those it does not know.
const lz4Magic = 0x184D2204

func (z *lz4Content) fill(dst, frame []byte) error {
	if len(frame) < 4 || binary.LittleEndian.Uint32(frame) != lz4Magic {
		return fmt.Errorf("not an LZ4 frame")
	}
	z.src.Reset(frame)
	z.r.Reset(&z.src)
	if _, err := io.ReadFull(z.r, dst); err != nil {
		return err
	}
	var more [1]byte
	if n, err := z.r.Read(more[:]); n != 0 || err != io.EOF {
		return fmt.Errorf("more than the %d bytes that belong (%v)", len(dst), err)
	}
	return nil
}
