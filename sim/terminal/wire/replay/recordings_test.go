package replay

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// copyReplay reads a replay and writes it in the style of its config.
func copyReplay(t testing.TB, name string, text []byte) ([]byte, config.Style) {
	t.Helper()
	r, err := NewReader(name, bytes.NewReader(text))
	require.NoError(t, err)
	var out bytes.Buffer
	w := NewWriter(&out, &r.Config, r.Config.Style)
	var f frame.Frame
	for {
		err := r.Next(&f)
		if err == io.EOF {
			return out.Bytes(), r.Config.Style
		}
		require.NoError(t, err)
		require.NoError(t, w.Frame(&f))
	}
}

// TestRecordings reads all official replays and writes them in the style of their configs. The
// bytes must be the same, except in one file whose lines end with carriage returns.
func TestRecordings(t *testing.T) {
	styles, returns := [2]int{}, 0
	for _, path := range wiretest.Recordings(t) {
		name := filepath.Base(path)
		text := simtest.Text(t, path)
		got, style := copyReplay(t, name, text)
		if bytes.Contains(text, []byte("\r\n")) {
			returns++
			text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		}
		if !bytes.Equal(got, text) {
			t.Fatalf("%s is written differently, at %.4000s", name, firstLine(string(text), string(got)))
		}
		styles[style]++
	}
	t.Logf("byte for byte: %d files in the local style (%d with carriage returns), %d in the web's", styles[config.Local], returns, styles[config.Web])
	assert.True(t, styles[config.Local] != 0 && styles[config.Web] != 0 && returns <= 1, "there should be files of both styles, and at most one with carriage returns")
}
