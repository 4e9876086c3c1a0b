// Package protocol reads and writes what the local runner of CodeCraft 2020 and the programs
// around it exchange: its results files, and the binary messages between it and its
// clients. It converts messages from and to rules, states and orders.
//
// Numbers are little endian: int32 and float32 in 4 bytes, a bool in one byte that is 0 or 1,
// lists and maps as their count and their items, strings as the count of their bytes and
// UTF-8, options as a bool and, if it is 1, the value. A map keeps the order in which it was
// read.
package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"moonfarm/sim/codecraft"
)

// Reader reads values of the binary formats. The first error sticks: from then
// on all values are zero, and Err returns the error.
//
// It is strict, as the official runner is: a bool that is neither 0 nor 1, an
// unknown tag and a negative number are errors, because all numbers of the formats
// are counts, coordinates, ids and the like. A list takes no memory before its
// items are read, whatever its count says.
type Reader struct {
	in       io.Reader
	buffer   []byte
	from, to int   // the bytes of buffer that are still to be read
	at       int64 // bytes read
	left     int64 // bytes of limit that may still be read
	limit    int64
	err      error
	zero     [4]byte
	types    []codecraft.Type // memory for the lists of types in an action
}

// NewReader returns a Reader without a limit. It reads ahead.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: in, buffer: make([]byte, 1<<14), left: math.MaxInt64, limit: math.MaxInt64}
}

// Limit lets r read at most n more bytes; reading beyond them is an error.
func (r *Reader) Limit(n int64) { r.left, r.limit = n, n }

// within calls read, which may read at most n bytes.
func (r *Reader) within(n int64, read func()) {
	left, limit, from := r.left, r.limit, r.at
	if n < left {
		r.Limit(n)
	}
	read()
	r.left, r.limit = left-(r.at-from), limit
}

// Err returns the first error, or nil.
func (r *Reader) Err() error { return r.err }

// Offset returns the number of bytes read.
func (r *Reader) Offset() int64 { return r.at }

// End reports whether nothing more can be read: the data ends here, or an error
// has occurred.
func (r *Reader) End() bool {
	if r.err != nil {
		return true
	}
	err := r.fetch(1)
	if err != nil && err != io.EOF {
		r.Fail("the next byte", err)
	}
	return err != nil
}

// fetch reads ahead until the buffer has n ≤ 4 bytes.
func (r *Reader) fetch(n int) error {
	for idle := 0; r.to-r.from < n; idle++ {
		if r.from > 0 {
			r.to = copy(r.buffer, r.buffer[r.from:r.to])
			r.from = 0
		}
		k, err := r.in.Read(r.buffer[r.to:])
		r.to += k
		switch {
		case k > 0: // a lasting error is returned again by the next Read
			idle = 0
		case err != nil:
			return err
		case idle == 100:
			return io.ErrNoProgress
		}
	}
	return nil
}

// Fail stores the first error: the name of the value that could not be read, and the reason.
func (r *Reader) Fail(what string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("byte %d: %s: %w", r.at, what, err)
	}
}

// take reads n ≤ 4 bytes, which are valid until the next call.
func (r *Reader) take(n int, what string) []byte {
	if r.err != nil || int64(n) > r.left || r.to-r.from < n && !r.more(n, what) {
		if r.err == nil {
			r.Fail(what, fmt.Errorf("more than the %d bytes that are allowed", r.limit))
		}
		return r.zero[:n]
	}
	b := r.buffer[r.from : r.from+n]
	r.from += n
	r.at += int64(n)
	r.left -= int64(n)
	return b
}

// more fetches n bytes, and reports whether it could; if not, it stores the error.
func (r *Reader) more(n int, what string) bool {
	err := r.fetch(n)
	if err == io.EOF && r.to > r.from {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		r.Fail(what, err)
	}
	return err == nil
}

// Refuse stores the error that the number read last is wrong. The name of the value is for
// the error.
func (r *Reader) Refuse(what string, err error) {
	r.at -= 4
	r.Fail(what, err)
}

// Signed reads an int32 that may be negative. As in all methods that read a value, what names
// it in errors.
func (r *Reader) Signed(what string) int32 {
	return int32(binary.LittleEndian.Uint32(r.take(4, what)))
}

// Number reads an int32 that must not be negative.
func (r *Reader) Number(what string) int32 {
	n := r.Signed(what)
	if n < 0 {
		r.Refuse(what, fmt.Errorf("found %d, expected 0 or more", n))
		return 0
	}
	return n
}

// Count reads the count of a list whose items have at least the given number of bytes each.
func (r *Reader) Count(what string, each int64) int {
	n := r.Number(what)
	if r.err == nil && int64(n)*each > r.left {
		r.Refuse(what, fmt.Errorf("found a count of %d, which takes more than the %d bytes that are allowed", n, r.limit))
		return 0
	}
	return int(n)
}

// truth reads a bool.
func (r *Reader) truth(what string) bool {
	b := r.take(1, what)[0]
	if b > 1 {
		r.at--
		r.Fail(what, fmt.Errorf("found byte %d, expected 0 or 1", b))
		return false
	}
	return b == 1
}

// float reads a float32.
func (r *Reader) float(what string) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(r.take(4, what)))
}

// Tag reads an int32 from 0 to n−1.
func (r *Reader) Tag(what string, n int32) int32 {
	t := r.Signed(what)
	if t < 0 || t >= n {
		r.Refuse(what, fmt.Errorf("found tag %d, expected 0 to %d", t, n-1))
		return 0
	}
	return t
}

// kind reads an entity type.
func (r *Reader) kind(what string) codecraft.Type {
	return codecraft.Type(r.Tag(what, codecraft.Types))
}

// kinds reads a list of entity types and appends it.
func (r *Reader) kinds(dst []codecraft.Type, what string) []codecraft.Type {
	n := r.Count(what, 4)
	for i := 0; i < n && r.err == nil; i++ {
		dst = append(dst, r.kind(what))
	}
	return dst
}

// text reads a string.
func (r *Reader) text(what string) string {
	n := r.Count(what, 1)
	if r.err != nil || n == 0 {
		return ""
	}
	from := r.at
	var b []byte // grows with the bytes read: the count may be wrong
	for len(b) < n && r.err == nil {
		if r.to == r.from && !r.more(1, what) {
			break
		}
		k := min(n-len(b), r.to-r.from)
		b = append(b, r.buffer[r.from:r.from+k]...)
		r.from += k
		r.at += int64(k)
		r.left -= int64(k)
	}
	if errors.Is(r.err, io.EOF) && len(b) > 0 {
		r.err = fmt.Errorf("byte %d: %s: %w", r.at, what, io.ErrUnexpectedEOF)
	}
	if r.err == nil && !utf8.Valid(b) {
		r.at = from
		r.Fail(what, errors.New("not UTF-8"))
	}
	if r.err != nil {
		return ""
	}
	return string(b)
}

// AppendNumber appends an int32.
func AppendNumber(dst []byte, n int32) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(n))
}

// AppendNumbers appends several int32.
func AppendNumbers(dst []byte, numbers ...int32) []byte {
	for _, n := range numbers {
		dst = AppendNumber(dst, n)
	}
	return dst
}

func appendTruth(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendFloat(dst []byte, f float32) []byte {
	return binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
}

func appendKinds(dst []byte, list []codecraft.Type) []byte {
	dst = AppendNumber(dst, int32(len(list)))
	for _, t := range list {
		dst = AppendNumber(dst, int32(t))
	}
	return dst
}

// AppendString appends a string. A client first sends its token as a string.
func AppendString(dst []byte, s string) []byte {
	return append(AppendNumber(dst, int32(len(s))), s...)
}

// Token reads the token, the string that a client sends first.
func (r *Reader) Token() (string, error) {
	s := r.text("token")
	return s, r.err
}
