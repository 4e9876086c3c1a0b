package jsontext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type summed struct {
	Text     string `json:"text"`
	Checksum string `json:"checksum"`
}

// TestDecode finds every changed byte of a text.
func TestDecode(t *testing.T) {
	text, err := EncodeSummed(summed{Text: "<a>"})
	require.NoError(t, err)
	decode := func(text []byte) error {
		v := summed{}
		return Decode(text, &v, func() ([]byte, error) { return EncodeSummed(summed{Text: v.Text}) })
	}
	require.NoError(t, decode(text))
	require.Contains(t, string(text), "<a>")
	for at := range text {
		bad := append([]byte{}, text...)
		bad[at] ^= 1
		require.ErrorContains(t, decode(bad), "damaged: ", "byte %d", at)
	}
}

// TestCheckValues: brackets and commas count, but not in strings.
func TestCheckValues(t *testing.T) {
	require.NoError(t, CheckValues([]byte(`["`+strings.Repeat(`\",{[`, 400_000)+`"]`)))
	require.ErrorContains(t, CheckValues([]byte(`[`+strings.Repeat(`{},`, 400_000)+`{}]`)), "800002 values in 1200004 bytes")
}
