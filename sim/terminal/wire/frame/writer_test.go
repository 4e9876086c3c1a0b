package frame

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
)

// TestWriter checks that a Writer writes frames as Frame.Append does, whatever frames come
// before.
func TestWriter(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	rng := rand.New(rand.NewPCG(5, 6))
	for _, style := range []config.Style{config.Local, config.Web} {
		w := Writer{Style: style}
		f, _ := blank()
		for round := range 3000 {
			list := &f.Units[rng.IntN(2)][rng.IntN(8)]
			u := Unit{terminal.Pos{X: uint8(rng.IntN(28)), Y: uint8(rng.IntN(28))}, []float32{0, negative, 1, 2.5, 1e-6}[rng.IntN(5)], uint32(rng.IntN(30))}
			switch i := rng.IntN(len(*list) + 1); {
			case i == len(*list):
				*list = append(*list, u)
			case rng.IntN(3) == 0:
				*list = slices.Delete(slices.Clone(*list), i, i+1)
			case rng.IntN(2) == 0:
				(*list)[i].Value = u.Value
			default:
				(*list)[i] = u
			}
			if rng.IntN(4) > 0 {
				slices.SortFunc(*list, func(a, b Unit) int { return cmp.Compare(a.ID, b.ID) })
			}
			if rng.IntN(50) == 0 {
				*list = []Unit{}
			}
			if rng.IntN(50) == 0 {
				f, _ = [...]func() (*Frame, string){blank, rich}[rng.IntN(2)]()
			}
			if rng.IntN(3) == 0 { // several changes at once
				continue
			}
			got, want := string(w.Append([]byte("x"), f)), "x"+string(f.Append(nil, style))
			if got != want {
				t.Fatalf("style %d, round %d:\n got %s\nwant %s", style, round, got, want)
			}
		}
	}
}
