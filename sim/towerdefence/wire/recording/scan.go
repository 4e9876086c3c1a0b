package recording

import (
	"fmt"
	"math"

	"moonfarm/sim/texts/jsonscan"
)

// scanner reads the JSON of one line of a recording: objects of known keys,
// strings, and nested arrays of integers.
type scanner struct{ jsonscan.Scanner }

// newScanner makes a scanner of lines.
func newScanner() scanner {
	return scanner{jsonscan.Scanner{Loose: true}}
}

// wrong reports a value that can be read but is not allowed.
func (s *scanner) wrong(want string, found any) {
	if s.Err == nil {
		s.ErrorAt(s.At, fmt.Sprintf("expected %s, found %v", want, found))
	}
}

// object calls field for every key of an object.
func (s *scanner) object(field func(key string)) {
	for more := s.Open('{', '}'); more; more = s.More('}') {
		key := s.text()
		s.Take(':')
		if s.Err == nil {
			field(key)
		}
	}
}

// list calls element for every element of an array, with its index.
func (s *scanner) list(element func(i int)) {
	i := 0
	for more := s.Open('[', ']'); more; more = s.More(']') {
		element(i)
		i++
	}
}

// tuple reads an array of exactly len(into) integers.
func (s *scanner) tuple(what string, into []int) {
	n := 0
	for more := s.Open('[', ']'); more; more = s.More(']') {
		v := s.integer()
		if n < len(into) {
			into[n] = v
		}
		n++
	}
	if n != len(into) {
		s.wrong(fmt.Sprintf("%s of %d numbers", what, len(into)), n)
	}
}

// integer reads an integer of 32 bits.
func (s *scanner) integer() int {
	if s.At < len(s.Text) && s.Text[s.At] <= ' ' {
		s.Space()
	}
	text, i := s.Text, s.At
	negative := i < len(text) && text[i] == '-'
	if negative {
		i++
	}
	start, n := i, int64(0)
	for i < len(text) && text[i]-'0' < 10 {
		n = min(n*10+int64(text[i]-'0'), math.MaxInt32+1)
		i++
	}
	s.At = i
	if i == start || n > math.MaxInt32 {
		s.FailAt(start, "an integer of 32 bits")
		return 0
	}
	if negative {
		n = -n
	}
	return int(n)
}

// within reads an integer from lo to hi.
func (s *scanner) within(what string, lo, hi int) int {
	s.Space()
	start := s.At
	n := s.integer()
	if n < lo || n > hi {
		s.FailAt(start, fmt.Sprintf("%s from %d to %d", what, lo, hi))
	}
	return n
}

// text reads a string.
func (s *scanner) text() string { return string(s.Quoted(`"\""`)) }
