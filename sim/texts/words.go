package texts

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Word is a word of a line, or the end of a line, whose Text is empty.
type Word struct {
	Text         string
	Line, Column int // both from 1; columns count characters
}

// Lines calls read with the words of each line. Blanks separate words, and #
// begins a comment. The last word is the end of the line. Lines returns the
// first error of read.
func Lines(text string, read func(words []Word) error) error {
	number := 0
	for line := range strings.Lines(Unmarked(text)) {
		number++
		if err := read(wordsOf(line, number)); err != nil {
			return err
		}
	}
	return nil
}

// wordsOf splits a line at its blanks.
func wordsOf(line string, number int) (words []Word) {
	line, _, _ = strings.Cut(strings.TrimRight(line, "\r\n"), "#")
	column := 1
	for {
		rest := strings.TrimLeft(line, " \t")
		column += len(line) - len(rest)
		end := strings.IndexAny(rest+" ", " \t")
		words = append(words, Word{rest[:end], number, column})
		if rest == "" {
			return words
		}
		column += utf8.RuneCountInString(rest[:end])
		line = rest[end:]
	}
}

// Wrong returns the error of an unexpected word: it names line and column, what
// was expected (a format and its values) and what was found.
func (w Word) Wrong(want string, values ...any) error {
	found := strconv.Quote(w.Text)
	if w.Text == "" {
		found = "the end of the line"
	}
	return fmt.Errorf("line %d, column %d: want %s, found %s", w.Line, w.Column, fmt.Sprintf(want, values...), found)
}

// End returns an error if the word is not the end of the line.
func (w Word) End() error {
	if w.Text != "" {
		return w.Wrong("the end of the line")
	}
	return nil
}

// Part returns the bytes i to j−1 of the word. The bytes before i must be
// ASCII.
func (w Word) Part(i, j int) Word { return Word{w.Text[i:j], w.Line, w.Column + i} }

// Float returns the word as a finite float32 of at least least; want is what
// the error says was expected.
func (w Word) Float(want string, least float32) (float32, error) {
	f, err := ParseFloat(w.Text)
	if err != nil || f < least {
		return 0, w.Wrong("%s", want)
	}
	return f, nil
}

// Number returns the word as a whole number from least to most; what names the
// number in errors. Unsigned numbers have no sign.
func Number[T int | uint32 | uint64](w Word, what string, least, most T) (T, error) {
	var n T
	var err error
	if n-1 < n { // T is signed
		i, e := strconv.ParseInt(w.Text, 10, strconv.IntSize)
		n, err = T(i), e
	} else {
		u, e := strconv.ParseUint(w.Text, 10, 64)
		if n, err = T(u), e; uint64(n) != u {
			err = strconv.ErrRange
		}
	}
	if err != nil || n < least || n > most {
		return 0, w.Wrong("%s from %d to %d", what, least, most)
	}
	return n, nil
}

// Once is a set of names that were read.
type Once map[string]bool

// Take adds a name. If it was added before, Take returns an error that says
// that each is wanted once; what says each what.
func (o Once) Take(w Word, name, what string) error {
	if o[name] {
		return w.Wrong("each %s once", what)
	}
	o[name] = true
	return nil
}

// Pairs reads names followed by values up to the end of the line, each name at
// most once. read gets a name and the words after it, and returns the words
// after its values.
func Pairs(words []Word, read func(name Word, rest []Word) ([]Word, error)) error {
	given := Once{}
	for words[0].Text != "" {
		name := words[0]
		if err := given.Take(name, name.Text, "name"); err != nil {
			return err
		}
		var err error
		if words, err = read(name, words[1:]); err != nil {
			return err
		}
	}
	return nil
}
