package config

import (
	"bytes"
	"math"
	"strconv"
)

// Style says how a file writes float32 values that are whole numbers, and where it has
// blank lines.
type Style uint8

const (
	// Local is the style of the engine itself: 30.0. Tiny and huge numbers have the form
	// of Java, 1.2E-5 (no recording has such a number). A replay file begins with a blank
	// line and has another after its config line.
	Local Style = 0
	// Web is the style of files from the contest's web site: 30. A replay file has no
	// blank lines, and no end of line after its last frame.
	Web Style = 1
)

// AppendInt appends a whole number. It is fast for one to three digits, as most numbers in
// a frame have.
func AppendInt(dst []byte, n int64) []byte {
	switch {
	case uint64(n) < 10:
		return append(dst, byte('0'+n))
	case uint64(n) < 100:
		return append(dst, byte('0'+n/10), byte('0'+n%10))
	case uint64(n) < 1000:
		return append(dst, byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
	}
	return strconv.AppendInt(dst, n, 10)
}

// AppendFloat appends the shortest decimal that identifies the float32.
func (s Style) AppendFloat(dst []byte, v float32) []byte {
	if n := int32(v); float32(n) == v && n < 1e7 && n > -1e7 && (n != 0 || !math.Signbit(float64(v))) {
		dst = AppendInt(dst, int64(n))
		if s == Local {
			dst = append(dst, '.', '0')
		}
		return dst
	}
	// Cores and bits are multiples of 0.1. Below 100,000 these have at most six digits, and
	// no two of them are the same float32.
	if n := int32(float32(v*10) + 0.5); n > 0 && n < 1e6 && float32(n)/10 == v {
		dst = AppendInt(dst, int64(n/10))
		return append(dst, '.', byte('0'+n%10))
	}
	return s.appendNumber(dst, float64(v), 32)
}

// appendNumber appends the shortest decimal that identifies a float of 32 or 64 bits: in the
// Local style as Java's Float.toString does, in the Web style as ECMAScript's
// Number::toString does.
func (s Style) appendNumber(dst []byte, v float64, bits int) []byte {
	low, high := 1e-3, 1e7
	if s == Web {
		low, high = 1e-6, 1e21
	}
	start := len(dst)
	if size := math.Abs(v); size == 0 || size >= low && size < high {
		dst = strconv.AppendFloat(dst, v, 'f', -1, bits)
		if s == Local && bytes.IndexByte(dst[start:], '.') < 0 {
			dst = append(dst, '.', '0')
		}
		return dst
	}
	dst = strconv.AppendFloat(dst, v, 'e', -1, bits)
	e := len(dst) - 1
	for dst[e] != 'e' {
		e--
	}
	exponent, _ := strconv.Atoi(string(dst[e+1:])) // drops the 0 that Go puts before a single digit
	switch dst = dst[:e]; {
	case s == Web && exponent > 0:
		dst = append(dst, 'e', '+')
	case s == Web:
		dst = append(dst, 'e')
	case bytes.IndexByte(dst[start:], '.') >= 0:
		dst = append(dst, 'E')
	default:
		dst = append(dst, ".0E"...)
	}
	return strconv.AppendInt(dst, int64(exponent), 10)
}

// AppendTime appends milliseconds. Both styles write whole numbers without a fraction.
func AppendTime(dst []byte, v float64) []byte {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		if v == 0 {
			return append(dst, '0')
		}
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return Web.appendNumber(dst, v, 64)
}
