package texts

import "strings"

// Mark is the byte order mark of UTF-8, which some programs on Windows write at
// the beginning of a text.
const Mark = "\uFEFF"

// Unmarked returns a text without a Mark at its beginning.
func Unmarked[T ~string | ~[]byte](text T) T {
	if len(text) >= len(Mark) && string(text[:len(Mark)]) == Mark {
		return text[len(Mark):]
	}
	return text
}

// MarkedText reports whether the first bytes of a file are a Mark followed by a
// character of a text. A binary file may also begin with the bytes of a Mark.
func MarkedText(head []byte) bool {
	if len(head) <= len(Mark) || string(head[:len(Mark)]) != Mark {
		return false
	}
	c := head[len(Mark)]
	return c >= ' ' && c <= '~' || strings.IndexByte("\t\r\n", c) >= 0
}
