package config

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// read reads a number as a float32 and as a float64.
func read(text string) (float32, float64, error) {
	s := jsonscan.Scanner{Text: []byte(text)}
	single := s.Float32("a number")
	s.End()
	d := jsonscan.Scanner{Text: []byte(text)}
	double := d.Float64("a number")
	return single, double, s.Err
}

// TestFloats checks that floats are read back bit for bit, and compares the reading of decimals of many
// lengths with strconv.
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
			if got, _, err := read(text); err != nil || math.Float32bits(got) != math.Float32bits(v) {
				t.Fatalf("%g was written as %s and read as %g (%v)", v, text, got, err)
			}
		}
	}
	for range 200_000 {
		text := randomDecimal(rng)
		single, double, err := read(text)
		want32, err32 := strconv.ParseFloat(text, 32)
		want64, _ := strconv.ParseFloat(text, 64)
		require.Equalf(t, err32 != nil, err != nil, "%s: error %v, strconv's %v", text, err, err32)
		require.Truef(t, err != nil || single == float32(want32) && double == want64, "%s was read as %g and %g, strconv says %g and %g", text, single, double, want32, want64)
	}
}

// randomDecimal returns a JSON number with up to 40 digits.
func randomDecimal(rng *rand.Rand) string {
	var b strings.Builder
	if rng.IntN(4) == 0 {
		b.WriteByte('-')
	}
	b.WriteString(strconv.Itoa(rng.IntN(10)))
	if b.String() != "0" && b.String() != "-0" {
		for range rng.IntN(20) {
			b.WriteByte('0' + byte(rng.IntN(10)))
		}
	}
	if rng.IntN(4) > 0 {
		b.WriteByte('.')
		for range 1 + rng.IntN(20) {
			b.WriteByte('0' + byte(rng.IntN(10)))
		}
	}
	if rng.IntN(4) == 0 {
		b.WriteString([...]string{"e", "E"}[rng.IntN(2)] + [...]string{"", "+", "-"}[rng.IntN(3)] + strconv.Itoa(rng.IntN(30)))
	}
	return b.String()
}

func TestNumberErrors(t *testing.T) {
	for _, text := range []string{
		"", "-", "+1", ".5", "1.", "01", "-01", "1e", "1e+", "0x10", "1_000", "NaN", "Infinity", "1.5.2", "--1", "1e400", "1 2",
		"1" + strings.Repeat("0", jsonscan.MaxNumber),
	} {
		v, _, err := read(text)
		assert.Errorf(t, err, "%.30q was read as %g", text, v)
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
