// Package command reads and writes commands of Tower Defence as text: the lines that bots
// write, and the command.txt that holds them.
package command

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// Ids of the commands that are not kinds of buildings.
const (
	idDeconstruct = 3
	idCurtain     = 5
)

// Parse reads the text of one command, a line without its end, the way
// the original does:
//
//   - Fields are separated by commas; empty ones at the end do not count.
//   - One field does nothing. The exact field "Exception" is one failure.
//   - No field at all (only commas) makes the original throw: Aborted.
//   - Two fields are two failures.
//   - More than three are one failure, then the first three are a command.
//   - Three are x, y and id, each a decimal 32-bit integer as Java reads it
//     (a sign, leading zeros and decimal digits of any script are fine, blanks
//     are not). A bad number or an id outside 0 … 5 is one failure.
//
// A good command becomes the order it gives. A cell outside the own half makes
// it Refused, except for the iron curtain, whose coordinates are ignored.
// The order holds the failures, see towerdefence.Failed; a good command resets the
// count to 0, so the failures before it have no effect.
func Parse(text string) sim.Order {
	body := strings.TrimRight(text, ",")
	if body == "" && text != "" {
		return towerdefence.Aborted
	}
	var field [3]string
	n := 0
	for rest, more := body, true; more; n++ {
		var f string
		f, rest, more = strings.Cut(rest, ",")
		if n < len(field) {
			field[n] = f
		}
	}
	failures := 0
	switch n {
	case 1:
		if body == "Exception" {
			failures = 1
		}
		return towerdefence.Failed(towerdefence.Nothing, failures)
	case 2:
		return towerdefence.Failed(towerdefence.Nothing, 2)
	case 3:
	default:
		failures = 1
	}
	x, okX := parseInt(field[0])
	y, okY := parseInt(field[1])
	id, okID := parseInt(field[2])
	if !okX || !okY || !okID || id < 0 || id > idCurtain {
		return towerdefence.Failed(towerdefence.Nothing, failures+1)
	}
	return towerdefence.Failed(orderOf(x, y, id), failures)
}

// orderOf returns the order of a command of three valid numbers.
func orderOf(x, y, id int) sim.Order {
	switch id {
	case idCurtain:
		return towerdefence.Curtain
	case idDeconstruct:
		return towerdefence.Deconstruct(x, y)
	}
	return towerdefence.Build(towerdefence.Kind(id), x, y)
}

// parseInt does what Java's Integer.parseInt does. Java looks at UTF-16 units, so it does
// not accept digits outside the basic plane.
func parseInt(text string) (int, bool) {
	digits, negative := text, false
	if text != "" && (text[0] == '-' || text[0] == '+') {
		digits, negative = text[1:], text[0] == '-'
	}
	if digits == "" {
		return 0, false
	}
	n := int64(0)
	for _, r := range digits {
		d, ok := digit(r)
		if !ok {
			return 0, false
		}
		n = min(n*10+int64(d), math.MaxInt32+2)
	}
	if negative {
		n = -n
	}
	return int(n), n >= math.MinInt32 && n <= math.MaxInt32
}

// digit returns the value of a decimal digit of any script in the basic plane.
func digit(r rune) (int, bool) {
	if r < utf8.RuneSelf {
		return int(r - '0'), r >= '0' && r <= '9'
	}
	if r > 0xFFFF {
		return 0, false
	}
	for _, span := range unicode.Nd.R16 { // every span starts at a zero and has stride 1
		if lo, hi := rune(span.Lo), rune(span.Hi); r >= lo && r <= hi {
			return int(r-lo) % 10, true
		}
	}
	return 0, false
}

// Append appends a text that Parse reads back as o: "x,y,id" for a command, "0,0,5" for the
// curtain, "" for nothing. Failures and orders that are never accepted get the shortest text
// with that result: "Exception" is one failure, "0,0" two, "-1,-1,3" is Refused, "," is
// Aborted. Failures before a command are written as one failure; they have no effect
// either way.
func Append(dst []byte, o sim.Order) []byte {
	if o&towerdefence.Aborted != 0 {
		return append(dst, ',')
	}
	c := towerdefence.Decode(o)
	switch c.Op {
	case towerdefence.OpNothing:
		return append(dst, [...]string{"", "Exception", "0,0", "0,0"}[c.Failures]...)
	case towerdefence.OpRefused:
		dst = append(dst, "-1,-1,3"...)
	case towerdefence.OpCurtain:
		dst = append(dst, "0,0,5"...)
	default:
		dst = append(dst, byte('0'+c.X), ',', byte('0'+c.Y), ',')
		dst = strconv.AppendInt(dst, int64(c.Op)-1, 10)
	}
	if c.Failures > 0 {
		dst = append(dst, ",0"...)
	}
	return dst
}

// None is the command that the original assumes for a command.txt without any text.
const None = "No Command"

// FromFile returns the command in the text of a bot's command.txt, read as the
// original does: the first line, also where that is empty; None, and false, if
// the whole text has nothing but blanks. A text that is not UTF-8 ends before its
// first bad byte, or earlier: see readable.
func FromFile(text string) (command string, found bool) {
	text = readable(text)
	if strings.TrimFunc(text, blank) == "" {
		return None, false
	}
	return FirstLine(text), true
}

// readable returns the part of text that Java's Scanner reads. The Scanner reads 1,024
// UTF-16 units into a buffer and, while it has found no end of a line, doubles the
// buffer and fills it. A read that meets bytes that are not UTF-8 fails as a whole, and the
// text ends where the read before it ended: a text with a bad byte among its
// first 1,024 characters becomes empty. (Tried with 6,000 files on Java 17. Java would cut
// a character of two units in two at the end of a read.)
func readable(text string) string {
	end, units, buffer := 0, 0, 1024 // text[:end] was read by the reads that succeeded
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		bad := r == utf8.RuneError && size == 1
		if units >= buffer && !(bad && badAtOnce(text[i:])) {
			end = i
			buffer *= 2
		}
		if bad {
			return text[:end]
		}
		units += utf16.RuneLen(r)
		i += size
	}
	return text
}

// badAtOnce reports whether the decoder refuses the beginning of text even if it has no
// room for another character: a byte that begins no character, or one with a wrong
// second byte.
func badAtOnce(text string) bool {
	lead := text[0]
	return lead < 0xC2 || lead > 0xF4 || lead >= 0xE0 && len(text) > 1 && text[1]&0xC0 != 0x80
}

// blank does what Java's Character.isWhitespace does: it accepts some control characters and
// the separators of Unicode, except separators that do not break a line.
func blank(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r >= 0x1C && r <= 0x1F:
		return true
	case r == '\u00A0', r == '\u2007', r == '\u202F':
		return false
	}
	return unicode.Is(unicode.Z, r)
}

// FirstLine returns text up to the first end of a line as Java's Scanner finds it: a line
// feed, a carriage return, or the next line, line separator or paragraph separator of
// Unicode.
func FirstLine(text string) string {
	if i := strings.IndexAny(text, "\n\r\u0085\u2028\u2029"); i >= 0 {
		text = text[:i]
	}
	return text
}
