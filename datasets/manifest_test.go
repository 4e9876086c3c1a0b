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
		"format 1, encoding 3; expected format 3": strings.Replace(text, `"format": 3`, `"format": 1`, 1),
		"format 4, encoding 3; expected format 3": strings.Replace(text, `"format": 3`, `"format": 4`, 1),
		"damaged: unexpected":                     strings.TrimSuffix(text, "}\n"),
		"damaged":                                 "",
		"damaged: invalid":                        "hello",
	} {
		t.Run(want, func(t *testing.T) {
			_, err := about.DecodeManifest([]byte(other))
			require.ErrorContains(t, err, want)
		})
	}
}

// TestManifestPolicies: there must be a policy, and a list of members, for each seat,
// because readers of rows rely on it.
func TestManifestPolicies(t *testing.T) {
	dir := generateToy(t, mixed(toyJob(2, 1)), Options{})
	for want, edit := range map[string]func(m *Manifest){
		"1 policies, members of 1 do not fit 2 seats": func(m *Manifest) {
			m.Job.Policies, m.Job.Members = m.Job.Policies[1:], m.Job.Members[1:]
		},
		"members of 1 policies, there are 2": func(m *Manifest) { m.Job.Members = m.Job.Members[1:] },
	} {
		t.Run(want, func(t *testing.T) {
			m, err := manifestIn(dir)
			require.NoError(t, err)
			edit(m)
			text, err := m.Encode()
			require.NoError(t, err)
			_, err = about.DecodeManifest(text)
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
