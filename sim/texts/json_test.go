package texts

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlainJSON(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		`{"a":[1,2],"b":"x"}`:     `{"a":[1,2],"b":"x"}`,
		"{\"a\":1 // one\n}":      "{\"a\":1       \n}",
		"// first\r\n[1]//":       "        \r\n[1]  ",
		`{"u":"http://x,]"}`:      `{"u":"http://x,]"}`,
		`["\"//",",]"]`:           `["\"//",",]"]`,
		"[1,2,\n]":                "[1,2 \n]",
		`{"a":{"b":1,},}`:         `{"a":{"b":1 } }`,
		"[1, // none follows\n ]": "[1                 \n ]",
		`[,]`:                     `[,]`,
		`[1,,]`:                   `[1,,]`,
		`,]`:                      `,]`,
		`{"open`:                  `{"open`,
		`{"open\`:                 `{"open\`,
		`1/2`:                     `1/2`,
		`[1,`:                     `[1,`,
	} {
		t.Run(text, func(t *testing.T) {
			given := []byte(text)
			assert.Equalf(t, want, string(PlainJSON(given)), "%q", text)
			assert.Equalf(t, text, string(given), "%q was changed to %q", text, given)
		})
	}
}

func FuzzPlainJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,],"b":"//" // c
}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		once := PlainJSON(text)
		if len(once) != len(text) {
			t.Fatalf("%q became %q", text, once)
		}
	})
}
