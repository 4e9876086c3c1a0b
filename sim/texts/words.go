package texts

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Word is a word of a line, or the end of a line, whose Text is empty.
type Word struct {
	Text         string
	Line, Column int // both from 1; columns count characters
}

// Lines yields the words of each line. Blanks separate words, and # begins a
// comment. The last word is the end of the line.
func Lines(text string) iter.Seq[[]Word] {
	return func(yield func([]Word) bool) {
		number := 0
		for line := range strings.Lines(Unmarked(text)) {
			if number++; !yield(wordsOf(line, number)) {
				return
			}
		}
	}
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

// failure is the error with which Fail ends the reading of a text.
type failure struct{ error }

// Fail ends the reading of the text with an error that names line and column,
// what was expected (a format and its values) and what was found. It panics;
// the function that reads the text defers Catch.
func (w Word) Fail(expected string, values ...any) {
	found := strconv.Quote(w.Text)
	if w.Text == "" {
		found = "the end of the line"
	}
	panic(failure{fmt.Errorf("line %d, column %d: expected %s, found %s", w.Line, w.Column, fmt.Sprintf(expected, values...), found)})
}

// Catch is deferred. It sets err to the error of Fail.
func Catch(err *error) {
	switch f := recover().(type) {
	case nil:
	case failure:
		*err = f.error
	default:
		panic(f)
	}
}

// End fails if the word is not the end of the line.
func (w Word) End() {
	if w.Text != "" {
		w.Fail("the end of the line")
	}
}

// Part returns the bytes i to j−1 of the word. The bytes before i must be
// ASCII.
func (w Word) Part(i, j int) Word { return Word{w.Text[i:j], w.Line, w.Column + i} }

// Whole returns the word as a whole number from least to most; what names the
// number in errors.
func (w Word) Whole(what string, least, most int) int {
	n, err := strconv.Atoi(w.Text)
	if err != nil || n < least || n > most {
		w.Fail("%s from %d to %d", what, least, most)
	}
	return n
}

// Cell returns the word, which is x,y, as coordinates from 0 to most.
func (w Word) Cell(most int) (x, y int) {
	left, right, _ := strings.Cut(w.Text, ",")
	for i, text := range []string{left, right} {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n > uint64(most) {
			w.Fail("a cell as x,y up to %d,%d", most, most)
		}
		*[]*int{&x, &y}[i] = int(n)
	}
	return x, y
}

// Set sets the value to which a pointer points: a whole number or a finite
// float32 of any size, or a bool by the words yes and no.
func (w Word) Set(to any) {
	v := reflect.ValueOf(to).Elem()
	var err error
	switch {
	case v.CanInt():
		var n int64
		n, err = strconv.ParseInt(w.Text, 10, v.Type().Bits())
		v.SetInt(n)
	case v.CanUint():
		var n uint64
		n, err = strconv.ParseUint(w.Text, 10, v.Type().Bits())
		v.SetUint(n)
	case v.CanFloat():
		var f float32
		f, err = ParseFloat(w.Text)
		v.SetFloat(float64(f))
	case w.Text != "yes" && w.Text != "no":
		w.Fail("yes or no")
	default:
		v.SetBool(w.Text == "yes")
	}
	if err != nil {
		w.Fail("a number of type %v", v.Type())
	}
}

// Pairs reads names followed by values up to the end of the line, each name at
// most once. read gets a name and the words after it, and returns the words
// after its values.
func Pairs(words []Word, read func(name Word, rest []Word) []Word) {
	given := map[string]bool{}
	for words[0].Text != "" {
		name := words[0]
		if given[name.Text] {
			name.Fail("each name once")
		}
		given[name.Text] = true
		words = read(name, words[1:])
	}
}

// Board has the lines of a position, which may come in any order, by their first
// words.
type Board map[string][][]Word

// ReadBoard returns the lines of a text that are not blank.
func ReadBoard(text string) Board {
	b := Board{}
	for words := range Lines(text) {
		if head := words[0].Text; head != "" {
			b[head] = append(b[head], words)
		}
	}
	return b
}

// All removes the lines that begin with a word from the board, and returns their
// other words.
func (b Board) All(head string) (lines [][]Word) {
	for _, words := range b[head] {
		lines = append(lines, words[1:])
	}
	delete(b, head)
	return lines
}

// One is All for a line that a board has once or, as the end of a line, not at
// all.
func (b Board) One(head string) []Word {
	lines := b[head]
	if len(lines) > 1 {
		lines[1][0].Fail("each line once")
	}
	return append(b.All(head), []Word{{}})[0]
}

// Pairs reads the line of a board that begins with a word, as pairs of a name
// and a value: to has, by name, where Set puts the value. If to has the first
// word, a value follows it, too.
func (b Board) Pairs(head string, to map[string]any) {
	words := b.One(head)
	if to[head] != nil && words[0].Line > 0 {
		words[0].Set(to[head])
		words = words[1:]
	}
	Pairs(words, func(name Word, rest []Word) []Word {
		if to[name.Text] == nil || name.Text == head {
			delete(to, head)
			name.Fail("one of %v", slices.Sorted(maps.Keys(to)))
		}
		rest[0].Set(to[name.Text])
		return rest[1:]
	})
}

// Rest returns the lines that the board still has, first words included, in
// their order.
func (b Board) Rest() (lines [][]Word) {
	for _, some := range b {
		lines = append(lines, some...)
	}
	slices.SortFunc(lines, func(x, y []Word) int { return cmp.Compare(x[0].Line, y[0].Line) })
	return lines
}

// Entry is an entry x,y=value of a list, or x,y with an empty value.
type Entry struct {
	Word
	X, Y  int
	Value Word
}

// Entries reads lines of entries, whose coordinates are up to most, each cell
// once.
func Entries(lines [][]Word, most int) (list []Entry) {
	for _, words := range lines {
		for _, w := range words[:len(words)-1] {
			place, value, _ := strings.Cut(w.Text, "=")
			x, y := w.Part(0, len(place)).Cell(most)
			if slices.ContainsFunc(list, func(e Entry) bool { return e.X == x && e.Y == y }) {
				w.Fail("each cell once")
			}
			list = append(list, Entry{w, x, y, w.Part(len(w.Text)-len(value), len(w.Text))})
		}
	}
	return list
}

// AppendEntries appends lines of at most ten of n entries. one appends entry i.
func AppendEntries(dst []byte, name string, n int, one func(dst []byte, i int) []byte) []byte {
	for i := range n {
		if i%10 == 0 {
			dst = append(dst, name...)
		}
		dst = one(append(dst, ' '), i)
		if i%10 == 9 || i == n-1 {
			dst = append(dst, '\n')
		}
	}
	return dst
}

// GiveIDs gives each entity of a list whose id is 0 the lowest id from first on
// that no other one has.
func GiveIDs[E any](list []E, id func(e *E) *uint32, first uint32) {
	taken := map[uint32]bool{}
	for i := range list {
		taken[*id(&list[i])] = true
	}
	for i := range list {
		if p := id(&list[i]); *p == 0 {
			for taken[first] {
				first++
			}
			*p = first
			first++
		}
	}
}
