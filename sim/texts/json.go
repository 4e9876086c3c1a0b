package texts

import "bytes"

// PlainJSON replaces by blanks what some writers of JSON files add to it: comments
// from // to the end of the line, and the comma after the last entry of an object or
// a list. All else keeps its place. A text that has neither is returned as it is;
// others are copied.
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
	comma, last := -1, byte(0) // where a comma stands that nothing follows so far; the last character that counts
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

// lineEnd is where the line ends in which something begins.
func lineEnd(text []byte, at int) int {
	if n := bytes.IndexAny(text[at:], "\r\n"); n >= 0 {
		return at + n
	}
	return len(text)
}

// stringEnd is the place of the quote that ends a string, or of the last character
// of the text.
func stringEnd(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return min(at, len(text)-1)
}
