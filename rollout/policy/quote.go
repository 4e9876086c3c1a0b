package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns a path in the form of a spec: plain, or in quotes if it has characters that
// are special in a spec, such as blanks, commas and parentheses. A spec cannot contain control
// characters or invalid UTF-8.
func Quote(path string) string { return canonical(path, inName) }

// canonical returns the canonical form of a name or a value: without quotes if all its
// characters are in the set or it is the path of a network that needs no quotes.
func canonical(text string, in func(c rune) bool) string {
	s := scanner{text: text}
	if text != "" && s.pathOr(in) == text {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// name reads the name of a policy. In quotes it is the path of a network.
func (s *scanner) name() (string, error) {
	if !s.quote() {
		name := s.pathOr(inName)
		if name == "" {
			return "", s.unexpected("the name of a policy")
		}
		return name, nil
	}
	at := s.character()
	name, err := s.quoted()
	if err == nil && !isModel(name) {
		err = fmt.Errorf("character %d: found %q in quotes, expected the path of a network, FILE%s", at, name, modelEnding)
	}
	return name, err
}

// quote reports whether a quote is next.
func (s *scanner) quote() bool {
	c := s.peek()
	return c == '"' || c == '\''
}

// quoted reads a text in quotes; two quotes within it stand for one. It has no control
// characters, so that it fits in a line.
func (s *scanner) quoted() (string, error) {
	at := s.character()
	quote := s.text[s.at : s.at+1]
	rest := s.text[s.at+1:]
	var text strings.Builder
	for {
		part, after, closed := strings.Cut(rest, quote)
		if !closed {
			return "", fmt.Errorf("character %d: the quote %s is not closed", at, quote)
		}
		text.WriteString(part)
		rest = after
		if !strings.HasPrefix(rest, quote) {
			break
		}
		text.WriteString(quote)
		rest = rest[1:]
	}
	s.at = len(s.text) - len(rest)
	whole := text.String()
	switch {
	case whole == "":
		return "", fmt.Errorf("character %d: the quotes are empty", at)
	case !utf8.ValidString(whole):
		return "", fmt.Errorf("character %d: %q is not UTF-8", at, whole)
	case strings.ContainsFunc(whole, unicode.IsControl):
		return "", fmt.Errorf("character %d: %q has a control character", at, whole)
	}
	return whole, nil
}

// SplitList splits a list of texts at the commas outside of parentheses and quotes. A quote
// opens only at the start of a text or after a blank or one of ( , = * : and only if it is
// closed later.
func SplitList(text string) (list []string) {
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '(':
			depth++
		case ')':
			depth--
		case '"', '\'':
			if i == 0 || text[i-1] == c || strings.IndexByte(" \t(,=*:", text[i-1]) >= 0 {
				i += 1 + strings.IndexByte(text[i+1:], c) // to its end, or no further
			}
		case ',':
			if depth == 0 {
				list, from = append(list, strings.TrimSpace(text[from:i])), i+1
			}
		}
	}
	return append(list, strings.TrimSpace(text[from:]))
}

// Begins reports whether a text begins like the spec of a policy of the game: with the name of
// a policy and then the end or a parenthesis, or with the path of a network. The rest may be
// wrong. This distinguishes policies from other players, such as bots.
func Begins(game, text string) bool {
	s := scanner{text: text}
	name, failed := s.name()
	if failed != nil {
		return false
	}
	if isModel(name) {
		return true
	}
	if next := s.peek(); next != 0 && next != '(' {
		return false
	}
	_, err := find(game, name)
	return err == nil || name == "mix"
}

// Ends reports whether a text ends like the spec of a network, with .onnx and optional
// parentheses, and has no word that begins with "-". Such a text may be a path with blanks
// that lacks its quotes.
func Ends(text string) bool {
	if strings.Contains(" "+text, " -") {
		return false
	}
	return modelEnd.MatchString(strings.TrimSpace(text))
}

var modelEnd = regexp.MustCompile(`(?i)[^/\\:]\.onnx\s*(\(.*\))?$`)

// unquoted adds a hint about quotes to an error of a spec, if the text before ".onnx" has
// characters that a path without quotes cannot have.
func unquoted(spec string, err error) error {
	at := strings.Index(strings.ToLower(spec), modelEnding)
	if at < 0 || strings.ContainsAny(spec, `"'`) {
		return err
	}
	before := strings.TrimSpace(strings.TrimRightFunc(spec[:at], inPath))
	if before == "" || strings.Contains(before, "(") && strings.IndexByte("(,=*", before[len(before)-1]) >= 0 {
		return err
	}
	// This does not wrap err: an UnknownError's similar names would mislead.
	return errors.New(err.Error() + "; a path with blanks or signs is written in quotes: " + QuoteExample)
}

// QuoteExample is a path in quotes, as messages show it.
const QuoteExample = `"my nets/small.onnx"(greedy)`
