package unzip_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/unzip"
)

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

// TestNewReader: a file is read whether it is compressed or not; a byte order
// mark and zero bytes of padding are not part of its text.
func TestNewReader(t *testing.T) {
	const mark = "\xEF\xBB\xBF"
	long, padding := strings.Repeat("0123456789", 30_000), strings.Repeat("\x00", 200_000)
	for _, c := range []struct{ file, want string }{
		{"", ""}, {"\x1f", "\x1f"}, {"text", "text"}, {"\x00\x00", "\x00\x00"},
		{zipped("text"), "text"}, {zipped(""), ""}, {zipped("one") + zipped("") + zipped(" two"), "one two"},
		{zipped("text") + "\x00", "text"}, {zipped(long) + padding, long}, {zipped("one") + "\x00\x00\x00" + zipped(" two") + padding, "one two"},
		{mark + "{}", "{}"}, {mark + "\r\n{}", "\r\n{}"}, {zipped(mark + "{}"), "{}"}, {mark, mark}, {mark[:2], mark[:2]},
		{mark + "\x00\x50", mark + "\x00\x50"}, {"{" + mark, "{" + mark}, {mark + mark + "{", mark + mark + "{"},
	} {
		for _, in := range []io.Reader{strings.NewReader(c.file), iotest.OneByteReader(strings.NewReader(c.file))} {
			r, err := unzip.NewReader(in)
			if err != nil {
				t.Fatalf("%.80q: %v", c.file, err)
			}
			if got, err := io.ReadAll(r); err != nil || string(got) != c.want {
				t.Errorf("%.80q: read %.80q, error %v, want %.80q", c.file, got, err, c.want)
			}
		}
	}
	_, err := unzip.NewReader(strings.NewReader(zipped("text")[:5]))
	assert.Truef(t, err == io.ErrUnexpectedEOF, "a header cut short: error %v, want %v", err, io.ErrUnexpectedEOF)
}

// TestTrailing: every read fails after compressed data that is followed by
// anything but padding.
func TestTrailing(t *testing.T) {
	for file, want := range map[string]string{
		zipped("text") + "more":                  `behind the compressed data, found "more"`,
		zipped("text") + "\x00\x00<html>":        `found "<html>"`,
		zipped("text") + "\x1f":                  `found "\x1f"`,
		zipped("text") + zipped("more")[:7]:      "unexpected EOF",
		zipped("text")[:len(zipped("text"))-3]:   "unexpected EOF",
		zipped("text") + "\x00" + "\x1f\x8b\x00": "unexpected EOF",
	} {
		t.Run(want, func(t *testing.T) {
			r, err := unzip.NewReader(strings.NewReader(file))
			require.NoError(t, err)
			got, err := io.ReadAll(r)
			assert.Truef(t, err != nil && strings.Contains(err.Error(), want) && string(got) == "text", "%q: read %q, error %v, want %s", file, got, err, want)
			_, again := r.ReadByte()
			assert.EqualErrorf(t, again, err.Error(), "%q: then error %v, want %v", file, again, err)
		})
	}
}
