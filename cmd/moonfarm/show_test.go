package main

import (
	"bytes"
	"slices"
	"testing"

	"moonfarm/cmd/moonfarm/internal/originals"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// FuzzShow shows any position of damaged games in any form: it is shown, or an error
// says why not. The fuzzer has the damage and not the file: it makes what it finds new
// smaller by a byte at a time, for which a file of 20 kB takes minutes.
func FuzzShow(f *testing.F) {
	replays, err := terminalReplays()
	if err != nil {
		f.Fatal(err)
	}
	files := [][]byte{
		simtest.Text(f, top+"/sim/towerdefence/wire/testdata/game.jsonl"), simtest.Text(f, top+"/sim/codecraft/wire/testdata/battle.replay.gz"),
		[]byte(replays["small.replay"]), []byte(replays["draw.replay"]),
	}
	for i := range files {
		for as := range uint8(4) {
			f.Add(uint8(i), []byte{}, int16(1), int16(as), int16(-1), as, as)
		}
		f.Add(uint8(i), []byte{1, 0, 0, '7'}, int16(1), int16(-1), int16(-1), uint8(0), uint8(0))
		f.Add(uint8(i), []byte{0, 200, 5, 0, 2, 9, 2, '0'}, int16(1), int16(1), int16(3), uint8(1), uint8(1))
	}
	f.Fuzz(func(t *testing.T, which uint8, damage []byte, game, round, frame int16, as, seat uint8) {
		file := damaged(files[int(which)%len(files)], damage)
		for _, tool := range originals.Games {
			if tool.Holds(file[:min(len(file), 4096)]) != "games" {
				continue
			}
			o := originals.ShowOptions{
				Game: max(int(game), 1), Round: max(int(round), -1), Frame: max(int(frame), -1),
				As: tool.Forms[int(as)%len(tool.Forms)], Seat: sim.Player(seat % 4),
			}
			s, err := tool.Position("x", bytes.NewReader(file), "", o)
			if (err == nil) != (s.Text != "") {
				t.Errorf("%s: error %v, text %q", tool.Game, err, s.Text)
			}
		}
	})
}

// damaged is a file with the damages that four bytes each tell: two of the place, and
// what is done with a byte there, and which.
func damaged(file, damage []byte) []byte {
	file = bytes.Clone(file)
	for ; len(damage) >= 4 && len(file) > 0; damage = damage[4:] {
		at := (int(damage[0])<<8 | int(damage[1])) % len(file)
		switch how := damage[2]; how % 4 {
		case 0:
			file[at] = damage[3]
		case 1:
			file = slices.Delete(file, at, min(at+1+int(how/4), len(file)))
		case 2:
			file = slices.Insert(file, at, damage[3])
		default:
			file = file[:at]
		}
	}
	return file
}
