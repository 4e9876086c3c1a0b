package wire

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// scanner reads a text of JSON piece by piece: those who use it know what
// must come. The first error sticks and takes the scanner to the end of the
// text, where nothing can be read any more and every loop ends; so errors are
// looked for once, at the end. Values after an error mean nothing.
type scanner struct {
	text []byte
	at   int
	err  error

	// What others wrote may have what encoding/json reads: keys that come twice, up
	// to 10,000 lists and objects in each other, numbers of any length, and
	// characters that are none, which are read as U+FFFD.
	loose bool

	path    [maxLevels + 1]string // keys on the way to where it stands, for errors …
	level   int                   // … and how many there are
	scratch []byte                // the last string, if it had escapes
	depth   int                   // of nested lists and objects, see deeper
	units   int                   // in a frame
	events  int                   // in a frame
}

// fail notes what should have been where the scanner stands.
func (s *scanner) fail(want string) { s.failAt(s.at, want) }

// failAt notes what should have been at a place of the text.
func (s *scanner) failAt(at int, want string) {
	if s.err != nil {
		return
	}
	s.errorAt(at, "expected "+want+", found "+s.found(at))
}

// errorAt notes an error at a place of the text.
func (s *scanner) errorAt(at int, message string) {
	if s.err == nil {
		s.err = fmt.Errorf("column %d: %s%s", at+1, s.where(), message)
	}
	s.at = len(s.text)
}

// found describes the text at a place.
func (s *scanner) found(at int) string {
	const show = 24
	rest := s.text[min(at, len(s.text)):]
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

// enter adds a key, or the "[7]" of an entry, to the path and returns what leave
// takes.
func (s *scanner) enter(key string) int {
	if s.loose {
		return s.level // nobody asks where an error is
	}
	s.path[s.level] = key
	s.level++
	return s.level - 1
}

func (s *scanner) leave(level int) { s.level = level }

// where is the path as errors begin: "endStats.player1: ".
func (s *scanner) where() string {
	const show = 40
	path := ""
	for i, key := range s.path[:s.level] {
		if i > 0 && (key == "" || key[0] != '[') {
			path += "."
		}
		path += strings.ToValidUTF8(key[:min(len(key), show)], "")
	}
	if path != "" {
		path += ": "
	}
	return path
}

// space skips white space.
func (s *scanner) space() {
	for s.at < len(s.text) && s.text[s.at] <= ' ' && isSpace(s.text[s.at]) {
		s.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// end demands that nothing follows.
func (s *scanner) end() {
	s.space()
	if s.at < len(s.text) {
		s.fail("the end of the text")
	}
}

// take reads one character that must come.
func (s *scanner) take(c byte) {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return
	}
	s.takeAfterSpace(c)
}

func (s *scanner) takeAfterSpace(c byte) {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return
	}
	s.fail(strconv.QuoteRune(rune(c)))
}

// next reports whether c comes next, and reads nothing but white space.
func (s *scanner) next(c byte) bool {
	s.space()
	return s.at < len(s.text) && s.text[s.at] == c
}

// open begins a list or an object and reports whether it has entries:
//
//	for more := s.open('[', ']'); more; more = s.more(']')
func (s *scanner) open(opening, closing byte) bool {
	s.take(opening)
	if s.next(closing) {
		s.at++
		return false
	}
	return s.err == nil
}

// more reports whether a list or an object goes on after an entry.
func (s *scanner) more(closing byte) bool {
	s.space()
	if s.at < len(s.text) {
		switch s.text[s.at] {
		case ',':
			s.at++
			return true
		case closing:
			s.at++
			return false
		}
	}
	s.fail("',' or " + strconv.QuoteRune(rune(closing)))
	return false
}

// whole reads a whole number from 0 to limit.
func (s *scanner) whole(limit int, what string) int {
	if s.at < len(s.text) && s.text[s.at] <= ' ' {
		s.space()
	}
	start := s.at
	n, ok := s.digits(limit)
	if !ok {
		s.failAt(start, what)
		return 0
	}
	return n
}

// digits reads the digits of a number from 0 to limit, without a leading 0.
func (s *scanner) digits(limit int) (n int, ok bool) {
	text, i := s.text, s.at
	for ; i < len(text) && text[i]-'0' < 10 && n <= limit; i++ {
		n = n*10 + int(text[i]-'0')
	}
	ok = i > s.at && n <= limit && (text[s.at] != '0' || i == s.at+1)
	s.at = i
	return n, ok
}

// pos reads [x,y], a cell of the arena.
func (s *scanner) pos() terminal.Pos {
	s.take('[')
	p := s.cell()
	s.take(']')
	return p
}

// cell reads x,y, a cell of the arena.
func (s *scanner) cell() terminal.Pos {
	start := s.at
	x := s.whole(terminal.Side-1, "a coordinate")
	s.take(',')
	y := s.whole(terminal.Side-1, "a coordinate")
	if !terminal.Inside(x, y) {
		s.failAt(start, "a cell of the arena")
	}
	return terminal.Pos{X: uint8(x), Y: uint8(y)}
}

// id reads "123".
func (s *scanner) id() uint32 {
	s.take('"')
	start := s.at
	n, ok := s.digits(terminal.MaxID)
	if !ok || s.at == len(s.text) || s.text[s.at] != '"' {
		s.failAt(start-1, wantID)
		return 0
	}
	s.at++
	return uint32(n)
}

var wantID = fmt.Sprintf("an id up to %d", terminal.MaxID)

// player reads 1 or 2.
func (s *scanner) player() sim.Player {
	s.space()
	start := s.at
	n := s.whole(2, "player 1 or 2")
	if n == 0 {
		s.failAt(start, "player 1 or 2")
		return 0
	}
	return sim.Player(n - 1)
}

// flag reads true or false.
func (s *scanner) flag() bool {
	s.space()
	switch {
	case s.word("true"):
		return true
	case s.word("false"):
		return false
	}
	s.fail("true or false")
	return false
}

// word reads a word if it comes right here.
func (s *scanner) word(w string) bool {
	if len(s.text)-s.at < len(w) || string(s.text[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

// string reads a string and returns its content, valid until the next one.
func (s *scanner) string(what string) []byte {
	if !s.next('"') {
		s.fail(what)
		return nil
	}
	s.at++
	start := s.at
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.text[start : s.at-1]
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			return s.slowString(start)
		}
		s.at++
	}
	s.fail("the end of a string")
	return nil
}

// slowString reads the rest of a string that began at start, with escapes and
// characters beyond ASCII.
func (s *scanner) slowString(start int) []byte {
	s.scratch = append(s.scratch[:0], s.text[start:s.at]...)
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.scratch
		case c == '\\':
			s.escape()
		case c < ' ':
			s.fail("no control character in a string")
		default:
			r, size := utf8.DecodeRune(s.text[s.at:])
			if r == utf8.RuneError && size == 1 && !s.loose {
				s.fail("UTF-8")
				return nil
			}
			s.scratch = utf8.AppendRune(s.scratch, r)
			s.at += size
		}
	}
	s.fail("the end of a string")
	return nil
}

// escapes are the characters that may follow a backslash, and what they mean.
const escapes, escaped = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// escape reads an escape into scratch.
func (s *scanner) escape() {
	s.at++
	if s.at < len(s.text) {
		for i := range len(escapes) {
			if s.text[s.at] == escapes[i] {
				s.at++
				s.scratch = append(s.scratch, escaped[i])
				return
			}
		}
	}
	s.at--
	r, ok := s.unicode()
	if !ok {
		s.fail("an escape")
		return
	}
	s.at += escapeLength
	if utf16.IsSurrogate(r) {
		low, ok := s.unicode()
		switch r = utf16.DecodeRune(r, low); {
		case ok && r != utf8.RuneError:
			s.at += escapeLength
		case !s.loose:
			s.fail("the other half of a surrogate pair")
		}
	}
	s.scratch = utf8.AppendRune(s.scratch, r)
}

const escapeLength = len(`\uXXXX`)

// unicode is what \uXXXX means, if it comes right here; it is not read.
func (s *scanner) unicode() (r rune, ok bool) {
	if len(s.text)-s.at < escapeLength || s.text[s.at] != '\\' || s.text[s.at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.text[s.at+2:s.at+escapeLength]), 16, 16)
	return rune(n), err == nil
}
