// Package wire holds the formats of CodeCraft 2020: the binary protocol that
// its clients speak, the config and result files of the local runner, and its
// replay files. It reads and writes; it plays nothing.
//
// Numbers are little endian: int32 and float32 in 4 bytes, a bool in one byte
// that is 0 or 1, lists and maps as their count and their items, strings as
// the count of their bytes and UTF-8, options as a bool and, if it is 1, the
// value. Maps are kept in the order in which they were read.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"moonfarm/sim/codecraft"
)

// Reader reads values of the binary formats. The first error sticks: from then
// on all values are zero, and Err tells it.
//
// It is strict, as the official runner is: a bool that is neither 0 nor 1, an
// unknown tag and a negative number are errors, for all numbers of the formats
// are counts, coordinates, ids and the like. It takes no memory for items that
// are announced and do not come.
type Reader struct {
	in       io.Reader
	buffer   []byte
	from, to int   // what of the buffer is still to be read
	at       int64 // bytes read
	left     int64 // bytes that may be read, of those that limit has allowed
	limit    int64
	err      error
	zero     [4]byte
	types    []codecraft.Type // what lists of types of an action are kept in
}

// NewReader returns a Reader without a limit. It reads ahead.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: in, buffer: make([]byte, 1<<14), left: math.MaxInt64, limit: math.MaxInt64}
}

// Limit lets r read at most n bytes more; to read beyond is an error.
func (r *Reader) Limit(n int64) { r.left, r.limit = n, n }

// within reads something that may have n bytes at most.
func (r *Reader) within(n int64, read func()) {
	left, limit, from := r.left, r.limit, r.at
	if n < left {
		r.Limit(n)
	}
	read()
	r.left, r.limit = left-(r.at-from), limit
}

// Err is the first error, or nil.
func (r *Reader) Err() error { return r.err }

// Offset is how many bytes were read.
func (r *Reader) Offset() int64 { return r.at }

// End reports whether nothing more can be read: the data ends here, or an error
// came before.
func (r *Reader) End() bool {
	if r.err != nil {
		return true
	}
	err := r.fetch(1)
	if err != nil && err != io.EOF {
		r.fail("the next byte", err)
	}
	return err != nil
}

// fetch reads ahead until there are n ≤ 4 bytes in the buffer.
func (r *Reader) fetch(n int) error {
	for idle := 0; r.to-r.from < n; idle++ {
		if r.from > 0 {
			r.to = copy(r.buffer, r.buffer[r.from:r.to])
			r.from = 0
		}
		k, err := r.in.Read(r.buffer[r.to:])
		r.to += k
		switch {
		case k > 0: // an error comes again, if it counts
			idle = 0
		case err != nil:
			return err
		case idle == 100:
			return io.ErrNoProgress
		}
	}
	return nil
}

// fail notes the first error: what could not be read, and why.
func (r *Reader) fail(what string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("byte %d: %s: %w", r.at, what, err)
	}
}

// take reads n ≤ 4 bytes, valid until the next call.
func (r *Reader) take(n int, what string) []byte {
	if r.err != nil || int64(n) > r.left || r.to-r.from < n && !r.more(n, what) {
		if r.err == nil {
			r.fail(what, fmt.Errorf("more than the %d bytes that are allowed", r.limit))
		}
		return r.zero[:n]
	}
	b := r.buffer[r.from : r.from+n]
	r.from += n
	r.at += int64(n)
	r.left -= int64(n)
	return b
}

// more fetches n bytes, or notes why not.
func (r *Reader) more(n int, what string) bool {
	err := r.fetch(n)
	if err == io.EOF && r.to > r.from {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		r.fail(what, err)
	}
	return err == nil
}

// signed reads an int32 that may be negative.
func (r *Reader) signed(what string) int32 {
	return int32(binary.LittleEndian.Uint32(r.take(4, what)))
}

// number reads an int32 that is not negative.
func (r *Reader) number(what string) int32 {
	n := r.signed(what)
	if n < 0 {
		r.at -= 4
		r.fail(what, fmt.Errorf("found %d, want 0 or more", n))
		return 0
	}
	return n
}

// count reads how many items follow, each of which has at least the given
// number of bytes.
func (r *Reader) count(what string, each int64) int {
	n := r.number(what)
	if r.err == nil && int64(n)*each > r.left {
		r.at -= 4
		r.fail(what, fmt.Errorf("found a count of %d, which takes more than the %d bytes that are allowed", n, r.limit))
		return 0
	}
	return int(n)
}

// truth reads a bool.
func (r *Reader) truth(what string) bool {
	b := r.take(1, what)[0]
	if b > 1 {
		r.at--
		r.fail(what, fmt.Errorf("found byte %d, want 0 or 1", b))
		return false
	}
	return b == 1
}

// float reads a float32.
func (r *Reader) float(what string) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(r.take(4, what)))
}

// tag reads an int32 from 0 to n−1.
func (r *Reader) tag(what string, n int32) int32 {
	t := r.signed(what)
	if t < 0 || t >= n {
		r.at -= 4
		r.fail(what, fmt.Errorf("found tag %d, want 0 to %d", t, n-1))
		return 0
	}
	return t
}

// kind reads a type of entities.
func (r *Reader) kind(what string) codecraft.Type {
	return codecraft.Type(r.tag(what, codecraft.Types))
}

// kinds appends a list of types.
func (r *Reader) kinds(dst []codecraft.Type, what string) []codecraft.Type {
	n := r.count(what, 4)
	for i := 0; i < n && r.err == nil; i++ {
		dst = append(dst, r.kind(what))
	}
	return dst
}

// text reads a string.
func (r *Reader) text(what string) string {
	n := r.count(what, 1)
	if r.err != nil || n == 0 {
		return ""
	}
	from := r.at
	var b []byte // grows as it comes: what is announced need not come
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
		r.fail(what, errors.New("not UTF-8"))
	}
	if r.err != nil {
		return ""
	}
	return string(b)
}

func appendNumber(dst []byte, n int32) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(n))
}

func appendNumbers(dst []byte, numbers ...int32) []byte {
	for _, n := range numbers {
		dst = appendNumber(dst, n)
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
	dst = appendNumber(dst, int32(len(list)))
	for _, t := range list {
		dst = appendNumber(dst, int32(t))
	}
	return dst
}

// AppendString appends a string; a client begins with its token as one.
func AppendString(dst []byte, s string) []byte {
	return append(appendNumber(dst, int32(len(s))), s...)
}

// Token reads the string that a client begins with.
func (r *Reader) Token() (string, error) {
	s := r.text("token")
	return s, r.err
}

// Optional is a value that may be absent.
type Optional[T any] struct {
	Given bool
	Value T
}

// Some is an Optional with a value.
func Some[T any](v T) Optional[T] { return Optional[T]{true, v} }

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Given {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	*o = Optional[T]{Given: string(text) != "null"}
	if !o.Given {
		return nil
	}
	return json.Unmarshal(text, &o.Value)
}

// Kinds is a list of types of entities.
type Kinds []codecraft.Type

// MarshalJSON writes the names; none are an empty list.
func (k Kinds) MarshalJSON() ([]byte, error) { return json.Marshal(append([]codecraft.Type{}, k...)) }
