package wire

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"moonfarm/sim/terminal"
)

// TestFrameWriter: whatever frames come after each other, a FrameWriter writes them
// as AppendFrame does.
func TestFrameWriter(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	rng := rand.New(rand.NewPCG(5, 6))
	for _, style := range []Style{Local, Web} {
		w := FrameWriter{Style: style}
		f := tiny()[0]
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
				sortUnits(*list)
			}
			if rng.IntN(50) == 0 {
				*list = []Unit{}
			}
			if rng.IntN(50) == 0 {
				f = tiny()[rng.IntN(len(tiny()))]
			}
			if rng.IntN(3) == 0 { // several changes at once
				continue
			}
			got, want := string(w.Append([]byte("x"), f)), "x"+string(style.AppendFrame(nil, f))
			if got != want {
				t.Fatalf("style %d, round %d:\n got %s\nwant %s", style, round, got, want)
			}
		}
	}
}

// TestTenths: small whole numbers, and purses, which are tenths, are written as all
// other numbers are.
func TestTenths(t *testing.T) {
	for n := range 20_000 {
		for _, v := range []int64{int64(n), -int64(n), math.MaxUint32 - int64(n)} {
			if got := string(appendInt(nil, v)); got != fmt.Sprint(v) {
				t.Fatalf("%s, want %d", got, v)
			}
		}
		for _, v := range []float32{float32(n) / 10, float32(n*523+7) / 10, math.Nextafter32(float32(n)/10, 1e9)} {
			if v == float32(int32(v)) {
				continue
			}
			for _, style := range []Style{Local, Web} {
				if got, want := string(style.appendFloat(nil, v)), string(style.appendNumber(nil, float64(v), 32)); got != want {
					t.Fatalf("%s, want %s", got, want)
				}
			}
		}
	}
	if got := string(Local.appendFloat(nil, -0.5)); got != "-0.5" {
		t.Error(got)
	}
}
