// Package jsonscan reads JSON piece by piece, for codecs that know what comes
// next. It builds no tree of values and allocates nothing for most texts; its
// errors name the column and what was expected.
package jsonscan

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of the text.
const (
	MaxLevels      = 16    // depth of nested lists and objects
	MaxLooseLevels = 10000 // the same if Scanner.Loose is set, as in encoding/json
	MaxNumber      = 400   // characters of a number, so that reading one is never slow; a float64 needs 25
)

// Scanner reads Text. The first error is kept and moves the scanner to the end
// of the text, where every loop ends; so callers look at Err once, at the end.
// Values read after an error have no meaning.
type Scanner struct {
	Text []byte
	At   int // the next byte
	Err  error

	// Loose accepts all that encoding/json accepts: duplicate keys, up to
	// MaxLooseLevels nested lists and objects, numbers of any length, and
	// invalid UTF-8, which is read as U+FFFD. Errors then have no path.
	Loose bool

	path    [MaxLevels + 1]string // keys from the outermost value to the current one, for errors
	level   int                   // number of keys in path
	scratch []byte                // the last string with escapes
	depth   int                   // of nested lists and objects, see deeper
}

// Reset begins a new text. Loose stays.
func (s *Scanner) Reset(text []byte) {
	s.Text, s.At, s.Err, s.level, s.depth = text, 0, nil, 0, 0
}

// Fail records the error that want was expected at the current position.
func (s *Scanner) Fail(want string) { s.FailAt(s.At, want) }

// FailAt records the error that want was expected at position at.
func (s *Scanner) FailAt(at int, want string) {
	if s.Err == nil {
		s.ErrorAt(at, "expected "+want+", found "+s.found(at))
	}
}

// ErrorAt records an error at position at.
func (s *Scanner) ErrorAt(at int, message string) {
	if s.Err == nil {
		s.Err = fmt.Errorf("column %d: %s%s", at+1, s.where(), message)
	}
	s.At = len(s.Text)
}

// show is the number of bytes that errors show of a text.
const show = 24

// found describes the word at a position.
func (s *Scanner) found(at int) string {
	rest := s.Text[min(at, len(s.Text)):]
	if len(rest) == 0 {
		return "the end of the text"
	}
	end := 1
	switch {
	case rest[0] == '"':
		for end < min(len(rest), show) && (end == 1 || rest[end-1] != '"') {
			end++
		}
	case strings.IndexByte(punctuation, rest[0]) < 0:
		for end < min(len(rest), show) && strings.IndexByte(punctuation, rest[end]) < 0 {
			end++
		}
	}
	return strconv.Quote(string(rest[:end]))
}

const punctuation = ",:[]{}\" \t\r\n"

// Enter adds a key, or the "[7]" of an entry, to the path in errors. Leave
// takes its result.
func (s *Scanner) Enter(key string) int {
	if s.Loose {
		return s.level // errors have no path
	}
	s.path[s.level] = key
	s.level++
	return s.level - 1
}

// Leave removes the keys from level on.
func (s *Scanner) Leave(level int) { s.level = level }

// where returns the path with which errors begin, such as "endStats.player1: ".
func (s *Scanner) where() string {
	const most = 40
	path := ""
	for i, key := range s.path[:s.level] {
		if i > 0 && (key == "" || key[0] != '[') {
			path += "."
		}
		path += strings.ToValidUTF8(key[:min(len(key), most)], "")
	}
	if path != "" {
		path += ": "
	}
	return path
}

// Space skips white space.
func (s *Scanner) Space() {
	for s.At < len(s.Text) && s.Text[s.At] <= ' ' && isSpace(s.Text[s.At]) {
		s.At++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// End reads white space, and fails if anything else follows.
func (s *Scanner) End() {
	s.Space()
	if s.At < len(s.Text) {
		s.Fail("the end of the text")
	}
}

// Take reads one character, which must be c.
func (s *Scanner) Take(c byte) {
	if s.At < len(s.Text) && s.Text[s.At] == c {
		s.At++
		return
	}
	s.takeAfterSpace(c)
}

func (s *Scanner) takeAfterSpace(c byte) {
	s.Space()
	if s.At < len(s.Text) && s.Text[s.At] == c {
		s.At++
		return
	}
	s.Fail(strconv.QuoteRune(rune(c)))
}

// Next reports whether c comes next. It reads only white space.
func (s *Scanner) Next(c byte) bool {
	s.Space()
	return s.At < len(s.Text) && s.Text[s.At] == c
}

// Open begins a list or an object and reports whether it has entries:
//
//	for more := s.Open('[', ']'); more; more = s.More(']')
func (s *Scanner) Open(opening, closing byte) bool {
	s.Take(opening)
	if s.Next(closing) {
		s.At++
		return false
	}
	return s.Err == nil
}

// More reports whether a list or an object goes on after an entry.
func (s *Scanner) More(closing byte) bool {
	s.Space()
	if s.At < len(s.Text) {
		switch s.Text[s.At] {
		case ',':
			s.At++
			return true
		case closing:
			s.At++
			return false
		}
	}
	s.Fail("',' or " + strconv.QuoteRune(rune(closing)))
	return false
}

// Whole reads a whole number from 0 to limit.
func (s *Scanner) Whole(limit int, what string) int {
	if s.At < len(s.Text) && s.Text[s.At] <= ' ' {
		s.Space()
	}
	start := s.At
	n, ok := s.Digits(limit)
	if !ok {
		s.FailAt(start, what)
		return 0
	}
	return n
}

// Digits reads the digits of a number from 0 to limit, without a leading 0.
func (s *Scanner) Digits(limit int) (n int, ok bool) {
	text, i := s.Text, s.At
	for ; i < len(text) && text[i]-'0' < 10 && n <= limit; i++ {
		n = n*10 + int(text[i]-'0')
	}
	ok = i > s.At && n <= limit && (text[s.At] != '0' || i == s.At+1)
	s.At = i
	return n, ok
}

// Bool reads true or false.
func (s *Scanner) Bool() bool {
	s.Space()
	switch {
	case s.Word("true"):
		return true
	case s.Word("false"):
		return false
	}
	s.Fail("true or false")
	return false
}

// Word reads w and returns true if it comes right here.
func (s *Scanner) Word(w string) bool {
	if len(s.Text)-s.At < len(w) || string(s.Text[s.At:s.At+len(w)]) != w {
		return false
	}
	s.At += len(w)
	return true
}

// Quoted reads a string and returns its content, valid until the next string is read.
func (s *Scanner) Quoted(what string) []byte {
	if !s.Next('"') {
		s.Fail(what)
		return nil
	}
	s.At++
	start := s.At
	for s.At < len(s.Text) {
		switch c := s.Text[s.At]; {
		case c == '"':
			s.At++
			return s.Text[start : s.At-1]
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			return s.slowString(start)
		}
		s.At++
	}
	s.Fail("the end of a string")
	return nil
}

// slowString reads the rest of a string that began at start, with escapes and
// characters beyond ASCII.
func (s *Scanner) slowString(start int) []byte {
	s.scratch = append(s.scratch[:0], s.Text[start:s.At]...)
	for s.At < len(s.Text) {
		switch c := s.Text[s.At]; {
		case c == '"':
			s.At++
			return s.scratch
		case c == '\\':
			s.escape()
		case c < ' ':
			s.Fail("no control character in a string")
		default:
			r, size := utf8.DecodeRune(s.Text[s.At:])
			if r == utf8.RuneError && size == 1 && !s.Loose {
				s.Fail("UTF-8")
				return nil
			}
			s.scratch = utf8.AppendRune(s.scratch, r)
			s.At += size
		}
	}
	s.Fail("the end of a string")
	return nil
}

// escapes lists the characters that may follow a backslash, escaped their
// meanings.
const escapes, escaped = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// escape reads an escape into scratch.
func (s *Scanner) escape() {
	s.At++
	if s.At < len(s.Text) {
		for i := range len(escapes) {
			if s.Text[s.At] == escapes[i] {
				s.At++
				s.scratch = append(s.scratch, escaped[i])
				return
			}
		}
	}
	s.At--
	r, ok := s.unicode()
	if !ok {
		s.Fail("an escape")
		return
	}
	s.At += escapeLength
	if utf16.IsSurrogate(r) {
		low, ok := s.unicode()
		switch r = utf16.DecodeRune(r, low); {
		case ok && r != utf8.RuneError:
			s.At += escapeLength
		case !s.Loose:
			s.Fail("the other half of a surrogate pair")
		}
	}
	s.scratch = utf8.AppendRune(s.scratch, r)
}

const escapeLength = len(`\uXXXX`)

// unicode returns the meaning of \uXXXX if it comes right here. It does not
// advance.
func (s *Scanner) unicode() (r rune, ok bool) {
	if len(s.Text)-s.At < escapeLength || s.Text[s.At] != '\\' || s.Text[s.At+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.Text[s.At+2:s.At+escapeLength]), 16, 16)
	return rune(n), err == nil
}
