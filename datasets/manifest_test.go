package datasets

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
)

func manifestText(t testing.TB) []byte {
	text := contents(t, generateToy(t, toyJob(2, 1), Options{}), about.ManifestName)
	return text
}

// TestManifestIsCanonical: only the bytes that are written are accepted.
func TestManifestIsCanonical(t *testing.T) {
	text := string(manifestText(t))
	_, err := about.DecodeManifest([]byte(text))
	require.NoError(t, err)
	for want, other := range map[string]string{
		"checksum should be":    text + "\n",
		"checksum should be \"": strings.Replace(text, "\n ", "\n  ", 1),
		"checksum":              strings.Replace(text, `"seed": "7"`, `"seed": "8"`, 1),
		"unknown field":         strings.Replace(text, `"seed"`, `"seeds"`, 1),
		"format 2, encoding 3; expected format 3":             strings.Replace(text, `"format": 3`, `"format": 2`, 1),
		"format 4, encoding 3; expected format 3":             strings.Replace(text, `"format": 3`, `"format": 4`, 1),
		"format 3, encoding 1; expected format 3, encoding 3": strings.Replace(text, `"encoding": 3,`, ``, 1), // as before it was numbered
		`encoding 2; expected format 3, encoding 3: its command in the manifest, "moonfarm generate toy", makes the episodes again`: strings.NewReplacer(
			`"encoding": 3`, `"encoding": 2`, `"command": ""`, `"command": "moonfarm generate toy"`).Replace(text),
		"damaged: unexpected": strings.TrimSuffix(text, "}\n"),
		"damaged":             "",
		"damaged: invalid":    "hello",
	} {
		t.Run(want, func(t *testing.T) {
			_, err := about.DecodeManifest([]byte(other))
			require.ErrorContains(t, err, want)
		})
	}
}

// TestManifestOfManyValues: a short text does not make the reader allocate much memory.
func TestManifestOfManyValues(t *testing.T) {
	list, text := `"plane_fields": [`, string(manifestText(t))
	require.Contains(t, text, list)
	long := strings.Replace(text, list, list+strings.Repeat("{},", 400_000), 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := about.DecodeManifest([]byte(long))
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, "values in")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

// FuzzManifest: no manifest with a right checksum makes Open panic or take much memory.
func FuzzManifest(f *testing.F) {
	f.Add(manifestText(f))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = about.DecodeManifest(text)
		m := new(Manifest)
		if json.NewDecoder(bytes.NewReader(text)).Decode(m) != nil {
			return
		}
		again, err := m.Encode()
		if err != nil {
			return
		}
		if m, err = about.DecodeManifest(again); err != nil {
			return
		}
		require.NoError(t, m.Check())
	})
}
