package texts

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
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

// Quote quotes a word for a shell if needed.
func Quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?()[]{}<>|&;#~!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// OneLine returns a text as one line of printable characters.
func OneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(Printable, text)), " ")
}

// Escaped returns a text of foreign origin as one line for a terminal or a log: characters that
// would control the terminal, end the line or turn its direction are escaped, as in "\u001b" and
// "\n", and so are bytes that are not UTF-8. A line of a JSON document keeps its meaning.
func Escaped(text string) string {
	if strings.IndexFunc(text, hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, c := range text {
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case hidden(c):
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// hidden reports whether Escaped escapes a character.
func hidden(c rune) bool {
	return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || c != unicode.ReplacementChar && Printable(c) != c
}
