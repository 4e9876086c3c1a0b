package console

import (
	"errors"
	"fmt"
	"strings"

	"moonfarm/env/catalog"
	"moonfarm/rollout/policy"
)

// unknownError is the error for an unknown word, with the known words.
type unknownError struct {
	error
	word  string
	known []string
}

// Unwrap returns the error without the words.
func (u unknownError) Unwrap() error { return u.error }

// Unknown adds to the error for an unknown word the known words. The message will suggest
// the known word that is nearest.
func Unknown(err error, word string, known []string) error { return unknownError{err, word, known} }

// suggestion returns the end of the message for an unknown word: the known word that
// was probably meant, or "" if no word is near or the error is another one.
func suggestion(err error) string {
	var word unknownError
	var game *catalog.UnknownError
	var spec *policy.UnknownError
	switch {
	case errors.As(err, &word):
	case errors.As(err, &game):
		word = unknownError{word: game.Name, known: game.Known}
	case errors.As(err, &spec):
		word = unknownError{word: spec.Name, known: spec.Known}
	default:
		return ""
	}
	if near := nearest(word.word, word.known); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// nearest returns the known word that an unknown word probably stands for: the one
// that takes the fewest changes, preferably at its end, or else the first known word
// with a long enough common prefix. It returns "" if no word is near.
func nearest(word string, of []string) string {
	word = strings.ToLower(word)
	length := len([]rune(word))
	best, least := "", 2*(1+max(1, length/3))
	for _, w := range of {
		n := changes(word, strings.ToLower(w))
		d := 2 * n
		if strings.HasPrefix(strings.ToLower(w), word) {
			d--
		}
		if d < least && n < len([]rune(w)) {
			best, least = w, d
		}
	}
	for _, w := range of {
		if alike := beginning(word, strings.ToLower(w)); best == "" && alike > 1 && 4*alike >= 3*length {
			best = w
		}
	}
	return best
}

// beginning returns the length of the common prefix of two words, in letters.
func beginning(a, b string) int {
	s, t := []rune(a), []rune(b)
	n := 0
	for n < min(len(s), len(t)) && s[n] == t[n] {
		n++
	}
	return n
}

// changes returns the optimal string alignment distance of two words: the number of
// letters to insert, delete, replace or swap with the next one to turn a into b, where
// each letter changes at most once.
func changes(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, now := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		now[0] = i + 1
		for j := range t {
			replaced := last[j]
			if s[i] != t[j] {
				replaced++
			}
			now[j+1] = min(replaced, last[j+1]+1, now[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(t)]
}
