package recording

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestKindOf checks the kinds of recordings by their first bytes.
func TestKindOf(t *testing.T) {
	for text, want := range map[string]Kind{
		"":                            HoldsNothing,
		`{"kind":"view","source":"x"`: HoldsViews,
		`{"kind":"initial",`:          HoldsGame,
		` {"kind": "tick",`:           HoldsNothing,
		`{"kind":"raw_get_action"`:    HoldsMessages,
		`{"game":"x"}`:                HoldsNothing,
		"\x31\x06\x00\x00\x50\x00\x00\x00\x01\x0a": HoldsGame,
		"\x31\x06\x00\x00\x50\x00\x00\x00\x02\x0a": HoldsNothing,
		"\x31\x06\x00\x00\x50":                     HoldsNothing,
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			assert.Equalf(t, want, KindOf([]byte(text)), "%q", text)
		})
	}
}
