package texts_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		{"other", `line 1: want the name of a set (base) or a key, = and a value, found "other"`},
		{"\nfog=true\nbase", `line 3: want a key, = and a value, found "base"`},
		{"=1", `line 1: key "": not a key of this game: want one like "health"`},
		{"fog=true\n\nfog=true", `line 3: key "fog" was given already in line 1`},
		{"size=0", `line 1: key "size": want a whole number from 1 to 5, found "0"`},
		{"size=2147483648", `found "2147483648"`},
		{"health=1.5", `line 1: key "health": want a whole number of 32 bits, found "1.5"`},
		{"share=NaN", `line 1: key "share": want a finite number, found "NaN"`},
		{"share=1e39", `found "1e39"`},
		{"fog=1", `line 1: key "fog": want true or false, found "1"`},
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

func TestLines(t *testing.T) {
	var got []texts.Word
	err := texts.Lines("a  bé c # d\r\n\n\tx", func(words []texts.Word) error {
		got = append(got, words...)
		return nil
	})
	want := []texts.Word{{"a", 1, 1}, {"bé", 1, 4}, {"c", 1, 7}, {"", 1, 9}, {"", 2, 1}, {"x", 3, 2}, {"", 3, 3}}
	require.NoErrorf(t, err, "%v", got)
	assert.True(t, slices.Equal(got, want))
	part := got[1].Part(1, 3)
	assert.Truef(t, part == (texts.Word{Text: "é", Line: 1, Column: 5}), "a part is %v", part)
	err = texts.Lines("a\nb c", func(words []texts.Word) error { return words[1].End() })
	assert.EqualError(t, err, `line 2, column 3: want the end of the line, found "c"`)
}

func TestNumbers(t *testing.T) {
	is := func(ok bool, name string, err error) {
		t.Helper()
		assert.Equalf(t, err == nil, ok, "%s: error %v, want none", name, err)
	}
	for text, ok := range map[string]bool{"-3": true, "+5": true, "6": false, "-4": false, "x": false, "": false} {
		_, err := texts.Number(texts.Word{Text: text}, "a number", -3, 5)
		is(ok, text, err)
	}
	for text, ok := range map[string]bool{"3": true, "4294967295": true, "2": false, "4294967299": false, "+4": false, "-1": false} {
		_, err := texts.Number[uint32](texts.Word{Text: text}, "a number", 3, math.MaxUint32)
		is(ok, text, err)
	}
	n, err := texts.Number[uint64](texts.Word{Text: "18446744073709551615"}, "a seed", 0, math.MaxUint64)
	if is(true, "seed", err); n != math.MaxUint64 {
		t.Errorf("the seed is %d", n)
	}
	for text, ok := range map[string]bool{"0.5": true, "1": true, "0.25": false, "inf": false} {
		_, err := texts.Word{Text: text}.Float("from 0.5 on", 0.5)
		is(ok, text, err)
	}
	_, err = texts.Number(texts.Word{Line: 2, Column: 7}, "a round", 0, 9)
	assert.EqualError(t, err, "line 2, column 7: want a round from 0 to 9, found the end of the line")
}

func TestPairs(t *testing.T) {
	for line, want := range map[string]string{
		"":              "",
		"a 1 flag b 22": "a=1 flag b=22",
		"a 1 a 2":       `line 1, column 5: want each name once, found "a"`,
		"a":             "line 1, column 2: want a value, found the end of the line",
	} {
		t.Run(line, func(t *testing.T) {
			var read []string
			err := texts.Lines(line, func(words []texts.Word) error {
				return texts.Pairs(words, func(name texts.Word, rest []texts.Word) ([]texts.Word, error) {
					if name.Text == "flag" {
						read = append(read, name.Text)
						return rest, nil
					}
					if rest[0].Text == "" {
						return nil, rest[0].Wrong("a value")
					}
					read = append(read, name.Text+"="+rest[0].Text)
					return rest[1:], nil
				})
			})
			got := strings.Join(read, " ")
			if err != nil {
				got = err.Error()
			}
			assert.Equalf(t, want, got, "%q", line)
		})
	}
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
	err := texts.Lines(texts.Mark+"a", func(words []texts.Word) error {
		assert.Truef(t, words[0] == (texts.Word{Text: "a", Line: 1, Column: 1}), "the first word is %+v", words[0])
		return nil
	})
	assert.NoError(t, err)
}
