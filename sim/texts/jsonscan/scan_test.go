package jsonscan

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestErrors: errors name the column, the path and what was expected.
func TestErrors(t *testing.T) {
	read := func(s *Scanner) {
		s.Fields([]string{"list", "name", "on"}, 1<<2, func(i int) {
			switch i {
			case 0:
				s.List(func(int) { s.Whole(9, "a digit") })
			case 1:
				s.Quoted("a name")
			case 2:
				s.Bool()
			}
		})
		s.End()
	}
	for _, c := range []struct{ name, text, expected string }{
		{"nothing", "", `column 1: expected '{', found the end of the text`},
		{"another value", " [1]", `column 2: expected '{', found "["`},
		{"a number that is too large", `{"list":[1,10]}`, `column 12: list[1]: expected a digit, found "10"`},
		{"no comma", `{"list":[1 2]}`, `column 12: list: expected ',' or ']', found "2"`},
		{"a key twice", `{"list":[],"list":[]}`, `column 12: expected each key once, found "\"list\""`},
		{"an unknown key", `{"lists":[]}`, `column 2: expected one of the keys ["list" "name" "on"], found "\"lists\""`},
		{"a missing key", `{"name":"a"}`, `column 12: expected the key list, found "}"`},
		{"another type", `{"on":1}`, `column 7: on: expected true or false, found "1"`},
		{"a string without an end", `{"name":"ab`, `column 12: name: expected the end of a string, found the end of the text`},
		{"an unknown escape", `{"name":"\q"}`, `column 10: name: expected an escape, found "\\q"`},
		{"half a pair", `{"name":"\ud800"}`, `column 16: name: expected the other half of a surrogate pair, found "\"}"`},
		{"invalid UTF-8", "{\"name\":\"\xff\"}", `column 10: name: expected UTF-8, found "\xff"`},
		{"more text", `{"list":[],"name":""} x`, `column 23: expected the end of the text, found "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Scanner{Text: []byte(c.text)}
			read(&s)
			assert.EqualError(t, s.Err, c.expected)
			assert.Equal(t, len(s.Text), s.At, "after an error nothing is left to read")
		})
	}
}

// TestBounds: deep nesting and long numbers are refused, unless the scanner is
// loose.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name          string
		text          string
		strict, loose bool
	}{
		{"levels", strings.Repeat("[", MaxLevels) + strings.Repeat("]", MaxLevels), true, true},
		{"one level more", strings.Repeat("[", MaxLevels+1) + strings.Repeat("]", MaxLevels+1), false, true},
		{"loose levels", strings.Repeat("[", MaxLooseLevels) + strings.Repeat("]", MaxLooseLevels), false, true},
		{"one loose level more", strings.Repeat("[", MaxLooseLevels+1) + strings.Repeat("]", MaxLooseLevels+1), false, false},
		{"a number", strings.Repeat("1", MaxNumber), true, true},
		{"a longer number", strings.Repeat("1", MaxNumber+1), false, true},
		{"a key twice", `{"a":1,"a":2}`, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for loose, good := range map[bool]bool{false: c.strict, true: c.loose} {
				s := Scanner{Text: []byte(c.text), Loose: loose}
				s.Skip()
				s.End()
				assert.Equal(t, good, s.Err == nil, "loose %v: %v", loose, s.Err)
			}
		})
	}
}

// FuzzScanner compares the scanner with encoding/json: a loose scanner accepts
// the same texts, strings and numbers have the same values, and a strict
// scanner accepts no other texts.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-2.5e3,{"b":null}],"c":"d\n\u00e9\ud83d\ude00","e":true}`, ` [ ] `, `"\ud800x"`, "\"\xff\"", `1e400`, `-0`, `01`, `{"a":1,}`,
		`[1 2]`, `nul`, `"`, `{"a"}`, "\"\x01\"", `12345678901234567890`, ` [ 1 , "a" ] `, `[[1,[2]],{"a":{"b":[]}},null,true,false]`, `[1,]`, `[tru]`,
		`-`, `1.`, `1e`, `.5`, `+1`, `-01`, `1e+`, `0x10`, `1_000`, `NaN`, `1.5.2`, `--1`, `0.059999466`, `16777217`, `1.00000017881393432617187499`,
		``, `[`, `[]]`, `[] 1`, "\ufeff[]", "[\v1]", `[{"a":1,"a":2}]`, `[{"a" 1}]`, `[{1:1}]`, `[{"a":1,}]`, "[\xff]", "\"\xed\xa0\x80\"", `"\ude00x"`,
		`"\ud83d\n"`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`, `"\ud83d\u00"`, `"\u00e9\"\\\/\b\f\r\t"`, `"\x"`, `"\u00g0"`, `"\`, `"\u+123"`, `"\u1_23"`,
		"[" + strings.Repeat("1", 1000) + "]", "[1e" + strings.Repeat("9", 500) + "]", strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		loose := Scanner{Text: text, Loose: true}
		loose.Skip()
		loose.End()
		require.Equal(t, json.Valid(text), loose.Err == nil, "%q: %v", text, loose.Err)
		strict := Scanner{Text: text}
		strict.Skip()
		strict.End()
		require.False(t, strict.Err == nil && loose.Err != nil, "%q: a strict scanner takes it", text)
		var entries, list []json.RawMessage
		isList := new(Scanner).Entries(text, func(_ int, entry []byte) { entries = append(entries, entry) })
		require.Equal(t, json.Unmarshal(text, &list) == nil && list != nil, isList)
		require.True(t, !isList || slices.EqualFunc(list, entries, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }))
		compareValue(t, text)
	})
}

// compareValue compares a string or a number.
func compareValue(t *testing.T, text []byte) {
	var value any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if !json.Valid(text) || decoder.Decode(&value) != nil {
		return
	}
	s := Scanner{Text: text, Loose: true}
	switch value := value.(type) {
	case string:
		require.Equal(t, value, string(s.Quoted("a string")))
	case json.Number:
		want, _ := strconv.ParseFloat(value.String(), 64)
		number := s.Number("a number")
		require.Equal(t, math.Float64bits(want), math.Float64bits(number.Float64()), "%s", text)
		single, _ := strconv.ParseFloat(value.String(), 32)
		require.Equal(t, math.Float32bits(float32(single)), math.Float32bits(number.Float32()), "%s", text)
	}
}
