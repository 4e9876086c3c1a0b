package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"moonfarm/cmd/moonfarm/internal/originals"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// FuzzShow shows any position of anything in any form: it is shown, or an error
// says why not.
func FuzzShow(f *testing.F) {
	replays, err := terminalReplays()
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range [][]byte{
		simtest.Text(f, top+"/sim/towerdefence/wire/testdata/game.jsonl"), simtest.Text(f, top+"/sim/codecraft/wire/testdata/battle.replay.gz"),
		[]byte(replays["small.replay"]), []byte(replays["draw.replay"]),
	} {
		for as := range uint8(4) {
			f.Add(file, int16(1), int16(as), int16(-1), as, as)
		}
		f.Add(file, int16(1), int16(-1), int16(-1), uint8(0), uint8(0))
		f.Add(file, int16(1), int16(1), int16(3), uint8(1), uint8(1))
	}
	f.Fuzz(func(t *testing.T, file []byte, game, round, frame int16, as, seat uint8) {
		for _, tool := range originals.Games {
			if tool.Holds(file[:min(len(file), 4096)]) != "games" {
				continue
			}
			o := originals.ShowOptions{
				Game: max(int(game), 1), Round: max(int(round), -1), Frame: max(int(frame), -1),
				As: tool.Forms[int(as)%len(tool.Forms)], Seat: sim.Player(seat % 4),
			}
			s, err := tool.Position(filepath.Join(t.TempDir(), "x"), bytes.NewReader(file), "", o)
			if (err == nil) != (s.Text != "") {
				t.Errorf("%s: error %v, text %q", tool.Game, err, s.Text)
			}
		}
	})
}
