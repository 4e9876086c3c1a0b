package wire

import (
	"fmt"
	"strconv"
)

// Whole values of JSON, for those who do not know what must come: see scanner.

// object reads an object: each is called for the value of each key, and reads
// it. Keys that come twice are an error.
func (s *scanner) object(each func(key string)) {
	if !s.next('{') {
		s.fail("an object")
		return
	}
	s.deeper()
	seen := map[string]bool{}
	for more := s.open('{', '}'); more; more = s.more('}') {
		s.space()
		start := s.at
		key := string(s.string("a key"))
		level := s.enter(key)
		if seen[key] && !s.loose {
			s.failAt(start, "each key once")
		}
		seen[key] = true
		s.take(':')
		s.space()
		each(key)
		s.leave(level)
	}
	s.depth--
}

// list reads a list: each is called for each entry, and reads it.
func (s *scanner) list(each func(i int)) {
	if !s.next('[') {
		s.fail("a list")
		return
	}
	s.deeper()
	i := 0
	for more := s.open('[', ']'); more; more = s.more(']') {
		level := s.enter("[" + strconv.Itoa(i) + "]")
		s.space()
		each(i)
		s.leave(level)
		i++
	}
	s.depth--
}

// deeper begins an object or a list.
func (s *scanner) deeper() {
	limit := maxLevels
	if s.loose {
		limit = maxLooseLevels
	}
	if s.depth++; s.depth > limit {
		s.errorAt(s.at, fmt.Sprintf("expected at most %d lists and objects in each other, found more", limit))
	}
}

// skip reads any value and forgets it.
func (s *scanner) skip() {
	switch {
	case s.next('{'):
		s.object(func(string) { s.skip() })
	case s.next('['):
		s.list(func(int) { s.skip() })
	case s.next('"'):
		s.string("a string")
	case s.word("null"):
	case s.next('t') || s.next('f'):
		s.flag()
	default:
		s.number("a value")
	}
}

// entriesOf returns the texts of the entries of a list; ok is false if the text
// is not a list of JSON.
func entriesOf(text []byte) (entries [][]byte, ok bool) {
	s := scanner{text: text, loose: true}
	s.list(func(int) {
		start := s.at
		s.skip()
		entries = append(entries, text[start:s.at])
	})
	s.end()
	return entries, s.err == nil
}

// fields reads an object with all of these keys but the optional ones (as bits,
// by their number), each once, in any order, and no others: each is called for
// the value of each key, and reads it. It returns the keys that were there.
func (s *scanner) fields(keys []string, optional uint, each func(i int)) (seen uint) {
	level := s.level
	for more := s.open('{', '}'); more; more = s.more('}') {
		if i := s.key(keys, seen); i >= 0 {
			seen |= 1 << i
			each(i)
		}
		s.leave(level)
	}
	for i, key := range keys {
		if (seen|optional)>>i&1 == 0 && s.err == nil {
			s.failAt(s.at-1, "the key "+key)
		}
	}
	return seen
}

// key reads one of the keys that was not seen and the colon after it, enters
// it, and returns its number.
func (s *scanner) key(keys []string, seen uint) int {
	s.space()
	start := s.at
	text := s.string("a key")
	for i, key := range keys {
		if string(text) != key {
			continue
		}
		if seen>>i&1 != 0 {
			s.failAt(start, "each key once")
			return -1
		}
		s.take(':')
		s.enter(key)
		return i
	}
	s.failAt(start, fmt.Sprintf("one of the keys %q", keys))
	return -1
}
