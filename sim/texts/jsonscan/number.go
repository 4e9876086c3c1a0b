package jsonscan

import (
	"math"
	"strconv"
)

// powers lists the powers of ten that a float32 holds exactly.
var powers = [...]float32{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}

// Number is a number in JSON as it was read.
type Number struct {
	text     []byte
	digits   uint64 // the number without point and sign
	fraction int    // how many of its digits come after the point
	simple   bool   // digits holds the number: it has no exponent and is not too long
}

// whole reports whether it was written without a point and an exponent.
func (n *Number) whole() bool { return n.simple && n.fraction == 0 }

// Float32 returns the nearest float32, or an infinity beyond the range.
func (n *Number) Float32() float32 {
	if n.simple && n.digits < 1<<24 && n.fraction < len(powers) {
		// Both are exact, so that the quotient is rounded once.
		v := float32(n.digits) / powers[n.fraction]
		if n.text[0] == '-' {
			v = -v
		}
		return v
	}
	v, _ := strconv.ParseFloat(string(n.text), 32)
	return float32(v)
}

// Float64 returns the nearest float64, or an infinity beyond the range.
func (n *Number) Float64() float64 {
	if n.whole() && n.digits < 1<<53 {
		if n.text[0] == '-' {
			return -float64(n.digits)
		}
		return float64(n.digits)
	}
	v, _ := strconv.ParseFloat(string(n.text), 64)
	return v
}

// Number reads a number. what names it in errors.
func (s *Scanner) Number(what string) Number {
	s.Space()
	n := Number{simple: true}
	text, i := s.Text, s.At
	if i < len(text) && text[i] == '-' {
		i++
	}
	first := i
	for i < len(text) && text[i]-'0' < 10 {
		n.digits = n.digits*10 + uint64(text[i]-'0')
		i++
	}
	count := i - first
	ok := count > 0 && (count == 1 || text[first] != '0')
	if i < len(text) && text[i] == '.' {
		i++
		point := i
		for i < len(text) && text[i]-'0' < 10 {
			n.digits = n.digits*10 + uint64(text[i]-'0')
			i++
		}
		n.fraction = i - point
		ok = ok && n.fraction > 0
	}
	if i < len(text) && text[i]|' ' == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		exponent := i
		for i < len(text) && text[i]-'0' < 10 {
			i++
		}
		ok = ok && i > exponent
		n.simple = false
	}
	if !ok || i-s.At > MaxNumber && !s.Loose {
		s.Fail(what)
		return Number{text: zeroText, simple: true}
	}
	n.simple = n.simple && count+n.fraction <= 19
	n.text = text[s.At:i]
	s.At = i
	return n
}

var zeroText = []byte("0")

// Float32 reads a number as a float32.
func (s *Scanner) Float32(what string) float32 {
	s.Space()
	start := s.At
	n := s.Number(what)
	v := n.Float32()
	if math.IsInf(float64(v), 0) {
		s.FailAt(start, what+" within the range of float32")
		return 0
	}
	return v
}

// Float64 reads a number as a float64.
func (s *Scanner) Float64(what string) float64 {
	s.Space()
	start := s.At
	n := s.Number(what)
	v := n.Float64()
	if math.IsInf(v, 0) {
		s.FailAt(start, what+" within the range of float64")
		return 0
	}
	return v
}
