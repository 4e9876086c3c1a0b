package texts_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/texts"
)

// numbers is a Value: numbers separated by commas.
type numbers []string

func (n *numbers) AppendText(dst []byte) []byte { return append(dst, strings.Join(*n, ",")...) }
func (n *numbers) Number() float64              { return float64(len(*n)) }
func (n *numbers) ParseText(text string) error {
	if text == "none" {
		return errors.New("want numbers")
	}
	*n = strings.Split(text, ",")
	return nil
}

// values has rules of every kind.
type values struct {
	size   int
	health int32
	share  float32
	fog    bool
	list   numbers
}

func (v *values) table() []texts.Rule {
	return []texts.Rule{
		texts.NewRule("size", &v.size, 1, 5, "cells of a side"),
		texts.NewRule("health", &v.health, 0, 1000, "full health"),
		texts.NewRule("share", &v.share, 0, 0.1, "what is left").Only(!v.fog),
		texts.NewRule("fog", &v.fog, 0, 0, "whether there is fog"),
		texts.NewRule("list", &v.list, 0, 2, "a list"),
	}
}

func TestRules(t *testing.T) {
	v := values{size: 2, health: -7, share: float32(math.Copysign(0, -1)), list: numbers{"1", "2"}}
	const want = "size=2\nhealth=-7\nshare=0\nfog=false\nlist=1,2\n"
	assert.Equal(t, want, string(texts.AppendRules(nil, v.table())))
	for _, c := range []struct{ text, want string }{
		{want, want},
		{"base\nfog=true", "size=5\nhealth=0\nshare=0\nfog=true\nlist=\n"},
		{" # remark\n\n base \r\n\tsize = +3 \n share=1e-1", "size=3\nhealth=0\nshare=0.1\nfog=false\nlist=\n"},
		{"other", `line 1: expected the name of a set (base) or a key, = and a value, found "other"`},
		{"\nfog=true\nbase", `line 3: expected a key, = and a value, found "base"`},
		{"=1", `line 1: key "": not a key of this game: expected one like "health"`},
		{"fog=true\n\nfog=true", `line 3: key "fog" was given already in line 1`},
		{"size=0", `line 1: key "size": expected a whole number from 1 to 5, found "0"`},
		{"size=2147483648", `found "2147483648"`},
		{"health=1.5", `line 1: key "health": expected a whole number of 32 bits, found "1.5"`},
		{"share=NaN", `line 1: key "share": expected a finite number, found "NaN"`},
		{"share=1e39", `found "1e39"`},
		{"fog=1", `line 1: key "fog": expected true or false, found "1"`},
		{"list=none", `line 1: key "list": want numbers`},
	} {
		t.Run(c.text, func(t *testing.T) {
			var v values
			err := texts.NewParser(v.table(), "health").Parse(c.text, "set (base)", func(name string) bool {
				v.size = 5
				return name == "base"
			})
			got := string(texts.AppendRules(nil, v.table()))
			if err != nil {
				got = err.Error()
			}
			assert.Truef(t, strings.HasSuffix(got, c.want), "%q: %q, want %q", c.text, got, c.want)
		})
	}
}

func TestCheck(t *testing.T) {
	minus := float32(math.Copysign(0, -1))
	for want, v := range map[string]values{
		"":                                {size: 5, health: 1000, share: 0.1, list: numbers{"1", "2"}},
		"size is 0, expected 1 to 5":      {},
		"size is 6, expected 1 to 5":      {size: 6},
		"health is -1, expected 0":        {size: 1, health: -1},
		"share is 0.2, expected 0 to 0.1": {size: 1, share: 0.2},
		"share is -0, expected 0 to 0.1":  {size: 1, share: minus},
		"share is NaN, expected 0":        {size: 1, share: float32(math.NaN())},
		"share is 0.1, expected 0":        {size: 1, share: 0.1, fog: true},
		"list is 3, expected 0 to 2":      {size: 1, list: numbers{"1", "2", "3"}},
	} {
		t.Run(want, func(t *testing.T) {
			o, found := texts.Check(v.table())
			assert.Truef(t, found == (want != "") && (!found || strings.HasPrefix(o.Error(), want)), "%+v: %v, want %q", v, o, want)
		})
	}
}

// reading returns the error of a function that reads words.
func reading(read func()) (err error) {
	defer texts.Catch(&err)
	read()
	return nil
}

func TestLines(t *testing.T) {
	var got []texts.Word
	for words := range texts.Lines("a  bé c # d\r\n\n\tx") {
		got = append(got, words...)
	}
	want := []texts.Word{{"a", 1, 1}, {"bé", 1, 4}, {"c", 1, 7}, {"", 1, 9}, {"", 2, 1}, {"x", 3, 2}, {"", 3, 3}}
	assert.Equal(t, want, got)
	assert.Equal(t, texts.Word{Text: "é", Line: 1, Column: 5}, got[1].Part(1, 3))
	assert.Panics(t, func() { reading(func() { panic("another") }) })
}

// TestBoard reads the lines of a position: a turn, pairs, a list of cells, and other lines.
func TestBoard(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "0 0 0 false [] ",
		"on p yes f 1.5\n\nturn 3 n 255": "3 255 1.5 true [] ",
		"at 1,9=x 3,4\nat 5,0":           "0 0 0 false [1,9=x 3,4= 5,0=] ",
		"more b\nat 1,1\nmore a":         "0 0 0 false [1,1=] more more ",
		"turn 3\nturn 3":                 `line 2, column 1: expected each line once, found "turn"`,
		"turn":                           "line 1, column 5: expected a number of type int32, found the end of the line",
		"turn 2147483648":                `line 1, column 6: expected a number of type int32, found "2147483648"`,
		"turn 1 n 256":                   `line 1, column 10: expected a number of type uint8, found "256"`,
		"turn 1 n -1":                    `line 1, column 10: expected a number of type uint8, found "-1"`,
		"turn 1 n 2 n 2":                 `line 1, column 12: expected each name once, found "n"`,
		"turn 1 turn 2":                  `line 1, column 8: expected one of [n], found "turn"`,
		"on f NaN":                       `line 1, column 6: expected a number of type float32, found "NaN"`,
		"on p 1":                         `line 1, column 6: expected yes or no, found "1"`,
		"on q yes":                       `line 1, column 4: expected one of [f p], found "q"`,
		"at 1,10":                        `line 1, column 4: expected a cell as x,y up to 9,9, found "1,10"`,
		"at 1=5":                         `line 1, column 4: expected a cell as x,y up to 9,9, found "1"`,
		"at 1,2\nat 01,2=3":              `line 2, column 4: expected each cell once, found "01,2=3"`,
	} {
		t.Run(text, func(t *testing.T) {
			var turn int32
			var n uint8
			var f float32
			var on bool
			got := ""
			err := reading(func() {
				b := texts.ReadBoard(text)
				b.Pairs("turn", map[string]any{"turn": &turn, "n": &n})
				b.Pairs("on", map[string]any{"p": &on, "f": &f})
				var cells []string
				for _, e := range texts.Entries(b.All("at"), 9) {
					cells = append(cells, fmt.Sprintf("%d,%d=%s", e.X, e.Y, e.Value.Text))
				}
				got = fmt.Sprint(turn, n, f, on, cells, " ")
				for _, words := range b.Rest() {
					got += words[0].Text + " "
				}
			})
			if err != nil {
				got = err.Error()
			}
			assert.Equal(t, want, got)
		})
	}
	list := []uint32{0, 4, 0, 0}
	texts.GiveIDs(list, func(id *uint32) *uint32 { return id }, 3)
	assert.Equal(t, []uint32{3, 4, 5, 6}, list)
	assert.Equal(t, "n 0 1 2 3 4 5 6 7 8 9\nn 10\n", string(texts.AppendEntries(nil, "n", 11, func(dst []byte, i int) []byte {
		return fmt.Append(dst, i)
	})))
}

func TestWhole(t *testing.T) {
	for text, ok := range map[string]bool{"-3": true, "+5": true, "6": false, "-4": false, "x": false, "": false} {
		err := reading(func() { texts.Word{Text: text}.Whole("a number", -3, 5) })
		assert.Equalf(t, ok, err == nil, "%q: error %v", text, err)
	}
	err := reading(func() { texts.Word{Line: 2, Column: 7}.Whole("a round", 0, 9) })
	assert.EqualError(t, err, "line 2, column 7: expected a round from 0 to 9, found the end of the line")
}

// TestUnmarked: a byte order mark is not part of the text.
func TestUnmarked(t *testing.T) {
	for text, want := range map[string]string{"": "", "\xEF\xBB": "\xEF\xBB", texts.Mark: "", texts.Mark + "a": "a", "a" + texts.Mark: "a" + texts.Mark, texts.Mark + texts.Mark: texts.Mark} {
		assert.Equalf(t, want, texts.Unmarked(text), "%q", text)
		got := texts.Unmarked([]byte(text))
		assert.Equalf(t, want, string(got), "%q as bytes: %q", text, got)
	}
	var v values
	if err := texts.NewParser(v.table(), "health").Parse(texts.Mark+"size=3\r\nfog=true\r\n", "set", func(string) bool { return false }); err != nil || v.size != 3 || !v.fog {
		t.Errorf("rules with a mark: %+v, error %v", v, err)
	}
	for words := range texts.Lines(texts.Mark + "a") {
		assert.Equal(t, texts.Word{Text: "a", Line: 1, Column: 1}, words[0])
	}
}

// TestQuote: a shell reads the word again.
func TestQuote(t *testing.T) {
	assert.Equal(t, `'it'\''s'`, texts.Quote("it's"))
	assert.Equal(t, "data/td", texts.Quote("data/td"))
}
