package jsonscan

import (
	"fmt"
	"strconv"
)

// Object reads an object. It calls each with every key, and each reads the
// value. Duplicate keys are an error unless Loose is set.
func (s *Scanner) Object(each func(key string)) {
	if !s.Next('{') {
		s.Fail("an object")
		return
	}
	s.deeper()
	var seen map[string]bool
	if !s.Loose {
		seen = map[string]bool{}
	}
	for more := s.Open('{', '}'); more; more = s.More('}') {
		s.Space()
		start := s.At
		key := string(s.Quoted("a key"))
		level := s.Enter(key)
		if seen[key] {
			s.FailAt(start, "each key once")
		}
		if seen != nil {
			seen[key] = true
		}
		s.Take(':')
		s.Space()
		each(key)
		s.Leave(level)
	}
	s.depth--
}

// List reads a list. It calls each for every entry, and each reads the entry.
func (s *Scanner) List(each func(i int)) {
	if !s.Next('[') {
		s.Fail("a list")
		return
	}
	s.deeper()
	i := 0
	for more := s.Open('[', ']'); more; more = s.More(']') {
		level := s.level
		if !s.Loose {
			s.Enter("[" + strconv.Itoa(i) + "]")
		}
		s.Space()
		each(i)
		s.Leave(level)
		i++
	}
	s.depth--
}

// deeper records the beginning of an object or a list.
func (s *Scanner) deeper() {
	limit := MaxLevels
	if s.Loose {
		limit = MaxLooseLevels
	}
	if s.depth++; s.depth > limit {
		s.ErrorAt(s.At, fmt.Sprintf("expected at most %d lists and objects in each other, found more", limit))
	}
}

// Skip reads any value.
func (s *Scanner) Skip() {
	switch {
	case s.Next('{'):
		s.Object(func(string) { s.Skip() })
	case s.Next('['):
		s.List(func(int) { s.Skip() })
	case s.Next('"'):
		s.Quoted("a string")
	case s.Word("null"):
	case s.Next('t') || s.Next('f'):
		s.Bool()
	default:
		s.Number("a value")
	}
}

// Entries reads a text that is a JSON list, with Loose set. It calls each with the text of every entry. It returns false if
// the text is not a JSON list, which it may find out after some entries.
func (s *Scanner) Entries(text []byte, each func(i int, entry []byte)) bool {
	s.Reset(text)
	s.Loose = true
	s.List(func(i int) {
		start := s.At
		if s.Skip(); s.Err == nil {
			each(i, text[start:s.At])
		}
	})
	s.End()
	return s.Err == nil
}

// Fields reads an object that has all of the keys, each once, in any order, and
// no others. optional has bit i set if keys[i] may be missing. Fields calls
// each with the number of every key, and each reads the value. It returns the
// keys that were present, as bits.
func (s *Scanner) Fields(keys []string, optional uint, each func(i int)) (seen uint) {
	level := s.level
	for more := s.Open('{', '}'); more; more = s.More('}') {
		if i := s.key(keys, seen); i >= 0 {
			seen |= 1 << i
			each(i)
		}
		s.Leave(level)
	}
	for i, key := range keys {
		if (seen|optional)>>i&1 == 0 && s.Err == nil {
			s.FailAt(s.At-1, "the key "+key)
		}
	}
	return seen
}

// key reads one of the keys not yet seen and the colon after it, enters it, and
// returns its number.
func (s *Scanner) key(keys []string, seen uint) int {
	s.Space()
	start := s.At
	text := s.Quoted("a key")
	for i, key := range keys {
		if string(text) != key {
			continue
		}
		if seen>>i&1 != 0 {
			s.FailAt(start, "each key once")
			return -1
		}
		s.Take(':')
		s.Enter(key)
		return i
	}
	s.FailAt(start, fmt.Sprintf("one of the keys %q", keys))
	return -1
}
