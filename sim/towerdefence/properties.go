package towerdefence

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// properties reads the syntax of Java's properties files: lines end with CR,
// LF or both; a line whose first visible character is # or ! is a comment;
// a backslash at the end joins the next line; the key ends at the first
// =, : or blank; \t \n \r \f \uXXXX and a backslash before any other
// character are escapes. Unlike Java it drops blanks after the value.
type properties struct {
	text       string // the rest of the text
	line       int    // lines read
	at         int    // line of the current key
	key, value string
	err        error
}

const blanks = " \t\f"

// next moves to the next key. It returns false at the end and after an error.
func (p *properties) next() bool {
	if p.err != nil {
		return false
	}
	for p.text != "" {
		line := strings.TrimLeft(p.natural(), blanks)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		p.at = p.line
		for joins(line) {
			line = line[:len(line)-1]
			if p.text == "" {
				break
			}
			line += strings.TrimLeft(p.natural(), blanks)
		}
		return p.split(line)
	}
	return false
}

// natural removes one line from the text and returns it.
func (p *properties) natural() string {
	p.line++
	i := strings.IndexAny(p.text, "\r\n")
	if i < 0 {
		line := p.text
		p.text = ""
		return line
	}
	line, end := p.text[:i], i+1
	if p.text[i] == '\r' && strings.HasPrefix(p.text[end:], "\n") {
		end++
	}
	p.text = p.text[end:]
	return line
}

// joins reports whether a line ends with an odd number of backslashes.
func joins(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// split splits a joined line into key and value.
func (p *properties) split(line string) bool {
	i := 0
	for i < len(line) && !strings.ContainsRune("=: \t\f", rune(line[i])) {
		if line[i] == '\\' {
			i++
		}
		i++
	}
	i = min(i, len(line))
	key, value := line[:i], strings.TrimLeft(line[i:], blanks)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], blanks)
	}
	var err error
	if p.key, err = unescape(key); err == nil {
		p.value, err = unescape(strings.TrimRight(value, blanks))
	}
	if err != nil {
		p.err = fmt.Errorf("line %d: %w", p.at, err)
		return false
	}
	return true
}

// unescape resolves backslashes.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 't':
			out = append(out, '\t')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 'f':
			out = append(out, '\f')
		case 'u':
			end := min(i+5, len(s))
			n, err := strconv.ParseUint(s[i+1:end], 16, 16)
			if err != nil || end != i+5 {
				return "", fmt.Errorf(`expected four hexadecimal digits after \u, found %q`, s[i+1:end])
			}
			out = utf8.AppendRune(out, rune(n))
			i = end - 1
		default:
			out = append(out, s[i])
		}
	}
	return string(out), nil
}
