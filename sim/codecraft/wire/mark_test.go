package wire

import (
	"testing"

	"moonfarm/sim/texts"
)

// TestMarkedConfig: a config may begin with a byte order mark.
func TestMarkedConfig(t *testing.T) {
	c, err := ParseConfig([]byte(texts.Mark + `{"game":{"Create":"Round1"},"players":["Empty"]}` + "\r\n"))
	if err != nil || c.Game.Create != "Round1" {
		t.Errorf("config %+v, error %v", c, err)
	}
}
