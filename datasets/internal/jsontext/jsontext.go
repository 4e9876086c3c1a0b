// Package jsontext writes and reads the JSON files of datasets. Each value has one text,
// so that equal values make equal files and every changed byte is found. It also finds the
// places in which two such values differ.
package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"

	"moonfarm/datasets/internal/store"
)

// Encode returns the text of v.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// end is the end of a text, after its checksum.
const end = "\"\n}\n"

// EncodeSummed returns the text of v, whose last key is a checksum, with the sha256 of
// the text with an empty checksum. The checksum in v must be empty.
func EncodeSummed(v any) ([]byte, error) {
	text, err := Encode(v)
	if err != nil {
		return nil, err
	}
	sum := store.SHA256(text)
	return append(append(text[:len(text)-len(end)], sum...), end...), nil
}

// Decode decodes a text with a checksum into v. It fails if the text has keys that v
// lacks, or differs in any byte from what encode then returns.
func Decode(text []byte, v any, encode func() ([]byte, error)) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	again, err := encode()
	if err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	if !bytes.Equal(again, text) {
		return fmt.Errorf("damaged: its checksum should be %q", again[len(again)-len(end)-64:len(again)-len(end)])
	}
	return nil
}

// A text that is read may have fewValues values, and one more for every bytesOfValue
// bytes. Texts that are written have fewer. Without this bound a short text of many
// empty objects, such as {},{},{}, would be decoded into lists of a hundred times its
// size.
const (
	fewValues    = 1 << 17
	bytesOfValue = 12
)

// CheckValues fails if a text has too many values for its length.
func CheckValues(text []byte) error {
	n := 0 // values but the first
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == '{' || c == '['):
			n++
		}
	}
	if n > fewValues+len(text)/bytesOfValue {
		return fmt.Errorf("damaged: %d values in %d bytes", n, len(text))
	}
	return nil
}
