package wire

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"moonfarm/sim/simtest"
)

// recordings lists the official replays, all of them.
func recordings(t testing.TB) []string {
	t.Helper()
	return simtest.SharedFiles(t, "replays", "terminal", "*.replay.gz")
}

// copyReplay reads a replay and writes it in the style that its config has.
func copyReplay(t testing.TB, name string, text []byte) ([]byte, Style) {
	t.Helper()
	r, err := NewReader(name, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := NewWriter(&out, &r.Config, r.Config.Style)
	var f Frame
	for {
		err := r.Next(&f)
		if err == io.EOF {
			return out.Bytes(), r.Config.Style
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Frame(&f); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRecordings reads and writes all official replays. Each must come back
// byte for byte in the style that its config tells, but for one whose lines
// somebody has ended with carriage returns.
func TestRecordings(t *testing.T) {
	styles, returns := [2]int{}, 0
	for _, path := range recordings(t) {
		name := filepath.Base(path)
		text := simtest.Text(t, path)
		got, style := copyReplay(t, name, text)
		if bytes.Contains(text, []byte("\r\n")) {
			returns++
			text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		}
		if !bytes.Equal(got, text) {
			t.Fatalf("%s is written as another, at %.4000s", name, firstLine(string(text), string(got)))
		}
		styles[style]++
	}
	t.Logf("byte for byte: %d files in the local style (%d with carriage returns), %d in the web's", styles[Local], returns, styles[Web])
	if styles[Local] == 0 || styles[Web] == 0 || returns > 1 {
		t.Error("there should be files of both styles, and at most one with carriage returns")
	}
}

func nonBlank(text []byte) (lines [][]byte) {
	for l := range bytes.Lines(text) {
		if l = bytes.TrimSpace(l); len(l) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}
