package config

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/texts/jsonscan"
)

func TestAppendFloat(t *testing.T) {
	for _, c := range []struct {
		v          float32
		local, web string
	}{
		{0, "0.0", "0"},
		{30, "30.0", "30"},
		{-2, "-2.0", "-2"},
		{2.1000004, "2.1000004", "2.1000004"},
		{43.559998, "43.559998", "43.559998"},
		{0.059999466, "0.059999466", "0.059999466"},
		{0.25, "0.25", "0.25"},
		{0.001, "0.001", "0.001"},
		{0.000999, "9.99E-4", "0.000999"},
		{1.2e-5, "1.2E-5", "0.000012"},
		{1e-7, "1.0E-7", "1e-7"},
		{999999, "999999.0", "999999"},
		{9999999, "9999999.0", "9999999"},
		{1e7, "1.0E7", "10000000"},
		{123456784, "1.2345678E8", "123456780"},
		{-1.5e20, "-1.5E20", "-150000000000000000000"},
		{1e21, "1.0E21", "1e+21"},
		{math.MaxFloat32, "3.4028235E38", "3.4028235e+38"},
		{math.SmallestNonzeroFloat32, "1.0E-45", "1e-45"},
		{float32(math.Copysign(0, -1)), "-0.0", "-0"},
	} {
		t.Run(c.local, func(t *testing.T) {
			assert.Equal(t, c.local, string(Local.AppendFloat(nil, c.v)))
			assert.Equal(t, c.web, string(Web.AppendFloat(nil, c.v)))
		})
	}
}

func TestAppendTime(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 199: "199", -3: "-3", 1e15: "1000000000000000", 1.5: "1.5", 1e300: "1e+300"} {
		t.Run(want, func(t *testing.T) { assert.Equal(t, want, string(AppendTime(nil, v))) })
	}
}

// TestFloats checks that floats are read back bit for bit.
func TestFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		v := math.Float32frombits(rng.Uint32())
		if rng.IntN(2) == 0 {
			v = float32(rng.IntN(4000)) / [...]float32{1, 10, 3, 64}[rng.IntN(4)]
		}
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			continue
		}
		for _, s := range []Style{Local, Web} {
			text := string(s.AppendFloat(nil, v))
			in := jsonscan.Scanner{Text: []byte(text)}
			if got := in.Float32("a number"); in.Err != nil || math.Float32bits(got) != math.Float32bits(v) {
				t.Fatalf("%g was written as %s and read as %g (%v)", v, text, got, in.Err)
			}
		}
	}
}

// TestTenths checks the fast paths for small whole numbers and for multiples of 0.1 against the
// general one.
func TestTenths(t *testing.T) {
	for n := range 20_000 {
		for _, v := range []int64{int64(n), -int64(n), math.MaxUint32 - int64(n)} {
			if got := string(AppendInt(nil, v)); got != fmt.Sprint(v) {
				t.Fatalf("%s, want %d", got, v)
			}
		}
		for _, v := range []float32{float32(n) / 10, float32(n*523+7) / 10, math.Nextafter32(float32(n)/10, 1e9)} {
			if v == float32(int32(v)) {
				continue
			}
			for _, style := range []Style{Local, Web} {
				if got, want := string(style.AppendFloat(nil, v)), string(style.appendNumber(nil, float64(v), 32)); got != want {
					t.Fatalf("%s, want %s", got, want)
				}
			}
		}
	}
	assert.Equal(t, "-0.5", string(Local.AppendFloat(nil, -0.5)))
}
