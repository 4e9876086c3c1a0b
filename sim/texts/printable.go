package texts

import (
	"strings"
	"unicode"
)

// Printable replaces characters that a picture or page cannot show: control characters, some of
// which XML forbids, and characters that change the direction of the text around them.
// strings.Map(Printable, s) replaces invalid UTF-8 as well.
func Printable(c rune) rune {
	if c != '\n' && c != '\t' && unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\ufffe' || c == '\uffff' {
		return unicode.ReplacementChar
	}
	return c
}

// OneLine returns a text as one line of printable characters.
func OneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(Printable, text)), " ")
}
