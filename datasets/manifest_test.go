package datasets

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func manifestText(t testing.TB) []byte {
	text, err := os.ReadFile(filepath.Join(generateToy(t, toyJob(2, 1), Options{}), manifestName))
	require.NoError(t, err)
	return text
}

// TestManifestIsCanonical: nothing may be written in another way.
func TestManifestIsCanonical(t *testing.T) {
	text := string(manifestText(t))
	_, err := decodeManifest([]byte(text))
	require.NoError(t, err)
	for want, other := range map[string]string{
		"checksum should be":    text + "\n",
		"checksum should be \"": strings.Replace(text, "\n ", "\n  ", 1),
		"checksum":              strings.Replace(text, `"seed": "7"`, `"seed": "8"`, 1),
		"unknown field":         strings.Replace(text, `"seed"`, `"seeds"`, 1),
		"format 2":              strings.Replace(text, `"format": 1`, `"format": 2`, 1),
		"damaged: unexpected":   text[:len(text)/2],
		"damaged":               "",
		"damaged: invalid":      "hello",
	} {
		_, err := decodeManifest([]byte(other))
		require.ErrorContains(t, err, want)
	}
}

// FuzzManifest: no manifest, though its checksum fits, makes Open panic or take
// much memory.
func FuzzManifest(f *testing.F) {
	f.Add(manifestText(f))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = decodeManifest(text)
		m := new(Manifest)
		if json.NewDecoder(bytes.NewReader(text)).Decode(m) != nil {
			return
		}
		again, err := m.encode()
		if err != nil {
			return
		}
		if m, err = decodeManifest(again); err != nil {
			return
		}
		require.NoError(t, m.check())
	})
}
