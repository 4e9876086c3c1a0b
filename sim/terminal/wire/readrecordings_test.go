package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"moonfarm/sim/simtest"
)

// recordings lists the official replays, all of them.
func recordings(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(simtest.Shared(t, "replays", "terminal"), "*.replay.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no replays (%v)", err)
	}
	return names
}

// packed is a recording as it is.
func packed(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// unzipped is the content of a recording.
func unzipped(t testing.TB, name string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// copyReplay reads a replay and writes it in the style that its config has.
func copyReplay(t testing.TB, name string, text []byte) []byte {
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
			return out.Bytes()
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
	files, styles, returns := 0, [2]int{}, 0
	for _, path := range recordings(t) {
		name := filepath.Base(path)
		text := unzipped(t, path)
		got := copyReplay(t, name, text)
		if bytes.Contains(text, []byte("\r\n")) {
			returns++
			text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		}
		if !bytes.Equal(got, text) {
			t.Fatal(difference(t, name, nonBlank(text), nonBlank(got)))
		}
		files++
		styles[styleOf(t, name, text)]++
	}
	t.Logf("%d files byte for byte: %d in the local style (%d with carriage returns), %d in the web's", files, styles[Local], returns, styles[Web])
	if styles[Local] == 0 || styles[Web] == 0 || returns > 1 {
		t.Error("there should be files of both styles, and at most one with carriage returns")
	}
}

func styleOf(t *testing.T, name string, text []byte) Style {
	t.Helper()
	r, err := NewReader(name, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r.Config.Style
}

// difference says where the lines of a replay differ from those written, and
// whether that is a matter of the form or of the values.
func difference(t *testing.T, name string, want, got [][]byte) string {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if !bytes.Equal(want[i], got[i]) {
			return fmt.Sprintf("%s: line %d that is not blank: %v\nread    %.2000s\nwritten %.2000s",
				name, i+1, sameJSON(value(t, want[i]), value(t, got[i])), want[i], got[i])
		}
	}
	return fmt.Sprintf("%s: %d lines read, %d written, or other blank lines", name, len(want), len(got))
}

func nonBlank(text []byte) (lines [][]byte) {
	for l := range bytes.Lines(text) {
		if l = bytes.TrimSpace(l); len(l) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

// value is the value of a JSON text, numbers as they stand there.
func value(t testing.TB, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// sameJSON compares values; numbers must be the same float64.
func sameJSON(a, b any) error {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return fmt.Errorf("the keys of %v are those of %v", a, b)
		}
		for k := range a {
			if err := sameJSON(a[k], b[k]); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
		}
		return nil
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return fmt.Errorf("%v became %v", a, b)
		}
		for i := range a {
			if err := sameJSON(a[i], b[i]); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
		return nil
	case json.Number:
		if b, ok := b.(json.Number); ok {
			x, _ := a.Float64()
			y, _ := b.Float64()
			if x == y {
				return nil
			}
		}
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%v became %v", a, b)
	}
	return nil
}
