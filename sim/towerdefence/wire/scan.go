package wire

import (
	"encoding/json"
	"fmt"
	"math"
)

// scanner reads the JSON of one line of a recording: objects of known keys,
// strings, and nested arrays of integers. The first thing that is not as
// expected becomes err, and everything after it does nothing.
type scanner struct {
	line []byte
	at   int // next byte
	err  error
}

// expected reports what was wanted at the current place.
func (s *scanner) expected(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("column %d: want %s, found %s", s.at+1, fmt.Sprintf(format, args...), s.excerpt())
	}
}

// wrong reports a value that was read but is not what was wanted.
func (s *scanner) wrong(want string, found any) {
	if s.err == nil {
		s.err = fmt.Errorf("column %d: want %s, found %v", s.at+1, want, found)
	}
}

// excerpt shows the text at the current place.
func (s *scanner) excerpt() string {
	const most = 24
	rest := s.line[min(s.at, len(s.line)):]
	if len(rest) == 0 {
		return "the end of the line"
	}
	return fmt.Sprintf("%q", rest[:min(len(rest), most)])
}

// peek skips blanks and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.line) {
		switch c := s.line[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take takes the byte c if it is next.
func (s *scanner) take(c byte) bool {
	if s.err != nil || s.peek() != c {
		return false
	}
	s.at++
	return true
}

// want takes the byte c or fails.
func (s *scanner) want(c byte) {
	if !s.take(c) {
		s.expected("%q", string(c))
	}
}

// object calls field for every key of an object.
func (s *scanner) object(field func(key string)) {
	s.want('{')
	if s.take('}') {
		return
	}
	for s.err == nil {
		key := s.text()
		s.want(':')
		if s.err == nil {
			field(key)
		}
		if !s.take(',') {
			s.want('}')
			return
		}
	}
}

// list calls element for every element of an array, with its index.
func (s *scanner) list(element func(i int)) {
	s.want('[')
	if s.take(']') {
		return
	}
	for i := 0; s.err == nil; i++ {
		element(i)
		if !s.take(',') {
			s.want(']')
			return
		}
	}
}

// tuple reads an array of exactly len(into) integers.
func (s *scanner) tuple(what string, into []int) {
	n := 0
	s.list(func(i int) {
		v := s.integer()
		if i < len(into) {
			into[i] = v
		}
		n++
	})
	if n != len(into) {
		s.wrong(fmt.Sprintf("%s of %d numbers", what, len(into)), n)
	}
}

// integer reads an integer of 32 bits.
func (s *scanner) integer() int {
	if s.err != nil {
		return 0
	}
	negative := s.take('-')
	start, n := s.at, int64(0)
	for s.at < len(s.line) && s.line[s.at] >= '0' && s.line[s.at] <= '9' {
		n = min(n*10+int64(s.line[s.at]-'0'), math.MaxInt32+1)
		s.at++
	}
	if s.at == start || n > math.MaxInt32 {
		s.at = start
		s.expected("an integer of 32 bits")
		return 0
	}
	if negative {
		n = -n
	}
	return int(n)
}

// within reads an integer from lo to hi.
func (s *scanner) within(what string, lo, hi int) int {
	s.peek()
	start := s.at
	n := s.integer()
	if s.err == nil && (n < lo || n > hi) {
		s.at = start
		s.expected("%s from %d to %d", what, lo, hi)
	}
	return n
}

// text reads a string.
func (s *scanner) text() string {
	s.want('"')
	start := s.at
	escaped := false
	for s.err == nil {
		if s.at >= len(s.line) {
			s.expected("the end of a string")
			break
		}
		switch c := s.line[s.at]; {
		case c == '"':
			s.at++
			if !escaped {
				return string(s.line[start : s.at-1])
			}
			return s.unescape(s.line[start-1 : s.at])
		case c == '\\':
			escaped = true
			s.at++
		case c < ' ':
			s.expected("a character of a string")
		}
		s.at++
	}
	return ""
}

// unescape decodes a quoted string with backslashes.
func (s *scanner) unescape(quoted []byte) string {
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		s.at -= len(quoted)
		s.expected("a JSON string (%v)", err)
	}
	return text
}

// finish expects nothing more on the line.
func (s *scanner) finish() {
	if s.err == nil && s.peek() != 0 || s.at < len(s.line) {
		s.expected("the end of the line")
	}
}
