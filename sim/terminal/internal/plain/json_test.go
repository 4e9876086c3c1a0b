package plain_test

import (
	"fmt"
	"strconv"
)

// value is a JSON value: a number (also one in quotes, as ids are, and true as
// 1), a list or an object.
type value struct {
	number float64
	list   []value
	object map[string]value
}

// flat is every number in v, from left to right, as a float32.
func (v value) flat() []float32 {
	if v.list == nil {
		return []float32{float32(v.number)}
	}
	var all []float32
	for _, e := range v.list {
		all = append(all, e.flat()...)
	}
	return all
}

// parseJSON reads the JSON value at the head of text and returns what follows.
// It is no judge of JSON: the recordings are well formed.
func parseJSON(text string) (v value, rest string) {
	switch text[0] {
	case '{':
		v.object = map[string]value{}
		for text = text[1:]; text[0] != '}'; {
			var key string
			key, text = parseString(text)
			v.object[key], text = parseJSON(text[1:])
			if text[0] == ',' {
				text = text[1:]
			}
		}
		return v, text[1:]
	case '[':
		v.list = []value{}
		for text = text[1:]; text[0] != ']'; {
			var e value
			e, text = parseJSON(text)
			v.list = append(v.list, e)
			if text[0] == ',' {
				text = text[1:]
			}
		}
		return v, text[1:]
	case '"':
		var s string
		s, text = parseString(text)
		v.number, _ = strconv.ParseFloat(s, 64) // 0 for what is no id
		return v, text
	}
	n := 0
	for n < len(text) && text[n] != ',' && text[n] != ']' && text[n] != '}' {
		n++
	}
	switch word := text[:n]; word {
	case "true":
		v.number = 1
	case "false", "null":
	default:
		number, err := strconv.ParseFloat(word, 64)
		if err != nil {
			panic(fmt.Sprintf("JSON: expected a number, found %q", word))
		}
		v.number = number
	}
	return v, text[n:]
}

// parseString reads the string at the head of text, escapes left as they are.
func parseString(text string) (s, rest string) {
	n := 1
	for text[n] != '"' {
		if text[n] == '\\' {
			n++
		}
		n++
	}
	return text[1:n], text[n+1:]
}
