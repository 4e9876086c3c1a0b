package wire

import (
	"bytes"
	"testing"
)

// TestVerifyRecordedGame checks all ticks of the recorded game.
func TestVerifyRecordedGame(t *testing.T) {
	for name, file := range map[string][]byte{"lines": unpack(t, recordedGame), "replay": recordedReplay(t)} {
		r, err := Verify(name, bytes.NewReader(file), round1())
		if err != nil || r.First != nil {
			t.Errorf("%s: error %v, %d different, first %v", name, err, r.Different, r.First)
		}
		t.Logf("%+v", r)
	}
}
