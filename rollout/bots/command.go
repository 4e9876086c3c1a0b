package bots

import (
	"errors"
	"fmt"
	"strings"
)

// SplitCommand splits a command line into words at blanks and tabs. Text in single or
// double quotes is not split and can contain the other quote. There are no escapes.
func SplitCommand(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, c := range line {
		switch {
		case c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	case len(words) == 0 || words[0] == "":
		return nil, errors.New("expected the name of a program")
	}
	return words, nil
}
