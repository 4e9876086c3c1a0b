package wire

import (
	"bytes"
	"testing"

	"moonfarm/sim/texts"
)

// TestMarkedConfig: a config may begin with a byte order mark, which is not in Raw.
func TestMarkedConfig(t *testing.T) {
	want := []byte(small("", ""))
	c, err := ParseConfig(append([]byte(texts.Mark), want...))
	if err != nil || !bytes.Equal(c.Raw, want) {
		t.Errorf("config %q, error %v", c.Raw, err)
	}
}
