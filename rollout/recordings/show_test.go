package recordings_test

import (
	"bytes"
	"slices"
	"testing"

	"moonfarm/rollout/recordings"
	"moonfarm/sim"
)

// FuzzShow shows any position of damaged games in any form, or gets an error. The fuzzer mutates
// the damage instead of the file: it minimizes new inputs byte by byte, which takes minutes for a
// file of 20 kB.
func FuzzShow(f *testing.F) {
	var files [][]byte
	for _, engine := range recordings.Engines() {
		files = append(files, sample(f, engine.Info().Game))
	}
	for i := range files {
		for as := range uint8(4) {
			f.Add(uint8(i), []byte{}, int16(1), int16(as), int16(-1), as, as)
		}
		f.Add(uint8(i), []byte{1, 0, 0, '7'}, int16(1), int16(-1), int16(-1), uint8(0), uint8(0))
		f.Add(uint8(i), []byte{0, 200, 5, 0, 2, 9, 2, '0'}, int16(1), int16(1), int16(3), uint8(1), uint8(1))
		f.Add(uint8(i), []byte{}, int16(1), int16(1), int16(-1), uint8(0), uint8(6))
	}
	f.Fuzz(func(t *testing.T, which uint8, damage []byte, game, round, frame int16, as, seat uint8) {
		file := damaged(files[int(which)%len(files)], damage)
		for _, engine := range recordings.Engines() {
			if engine.Holds(file[:min(len(file), 4096)]) != recordings.Games {
				continue
			}
			views := engine.Info().Views
			o := recordings.ShowOptions{
				Game: max(int(game), 1), Round: max(int(round), -1), Frame: max(int(frame), -1),
				As: views[int(as)%len(views)], Seat: sim.Player(seat % 4), Draw: seat&4 != 0, Viewer: int(seat%4) - 1,
			}
			s, err := engine.Show("x", bytes.NewReader(file), "", o)
			if err == nil && o.Draw != (s.Scene != nil) {
				t.Errorf("%s: Draw %v, scene %v", engine.Info().Game, o.Draw, s.Scene)
			}
			if (err == nil) != (s.Text != "") {
				t.Errorf("%s: error %v, text %q", engine.Info().Game, err, s.Text)
			}
		}
	})
}

// damaged applies damage to a file. Four bytes encode each damage: two bytes for the place, one for
// the kind, and a new byte.
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
