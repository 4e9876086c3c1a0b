package unzip_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"moonfarm/sim/unzip"
)

func TestNewReader(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte("text"))
	z.Close()
	for _, c := range []struct{ file, want string }{{"", ""}, {"\x1f", "\x1f"}, {"text", "text"}, {zipped.String(), "text"}} {
		r, err := unzip.NewReader(bytes.NewReader([]byte(c.file)))
		if err != nil {
			t.Fatalf("%q: %v", c.file, err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != c.want {
			t.Errorf("%q: read %q, error %v, want %q", c.file, got, err, c.want)
		}
	}
	if _, err := unzip.NewReader(bytes.NewReader(zipped.Bytes()[:5])); err != io.ErrUnexpectedEOF {
		t.Errorf("a header cut short: error %v, want %v", err, io.ErrUnexpectedEOF)
	}
}
