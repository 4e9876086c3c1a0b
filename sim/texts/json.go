package texts

import "bytes"

// PlainJSON replaces by blanks what some programs add to JSON: comments from //
// to the end of the line, and the comma after the last entry of an object or a
// list. All other bytes keep their place. A text without them is returned as it
// is; otherwise PlainJSON returns a copy.
func PlainJSON(text []byte) []byte {
	plain := text
	blank := func(from, to int) {
		if len(text) > 0 && &plain[0] == &text[0] {
			plain = bytes.Clone(text)
		}
		for ; from < to; from++ {
			plain[from] = ' '
		}
	}
	comma, last := -1, byte(0) // the last comma if nothing has followed it yet; the last significant character
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			end := lineEnd(text, i)
			blank(i, end)
			i = end - 1
			continue
		case c == ',' && last != ',' && last != '[' && last != '{' && last != 0:
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			blank(comma, comma+1)
			comma = -1
		case c == '"':
			i = stringEnd(text, i)
			comma = -1
		default:
			comma = -1
		}
		last = c
	}
	return plain
}

// lineEnd returns the end of the line that contains position at.
func lineEnd(text []byte, at int) int {
	if n := bytes.IndexAny(text[at:], "\r\n"); n >= 0 {
		return at + n
	}
	return len(text)
}

// stringEnd returns the position of the quote that ends a string, or of the
// last character of the text.
func stringEnd(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return min(at, len(text)-1)
}
