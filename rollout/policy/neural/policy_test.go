package neural_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/network"
	"moonfarm/rollout/policy/neural"
	"moonfarm/rollout/policy/neural/neuraltest"
	"moonfarm/sim/prng"
)

// seat returns games in turn 5, and a policy for them.
func seat(t *testing.T, name string, n int, o neural.Options, ending ...string) (env.Vector, *env.Batch, *neural.Policy) {
	t.Helper()
	g, err := catalog.Find(name)
	require.NoError(t, err)
	v, err := g.New("", env.Settings{N: n})
	require.NoError(t, err)
	s := v.Spec()
	m, err := network.Read(neuraltest.Ending(s, 1, true, ending...), 0)
	require.NoError(t, err)
	f, err := neural.Match(m, s, "")
	require.NoError(t, err)
	p := neural.New("net", m, f, o, s)
	b := env.NewBatch(s, n, p.Wants())
	for i := range n {
		v.Reset(i, uint64(i))
	}
	for range 5 {
		v.Observe(b)
		p.Act(v, b, all(b))
		v.Step(b)
	}
	v.Observe(b)
	return v, b, p
}

func all(b *env.Batch) (rows []int32) {
	for row := range b.Rows {
		rows = append(rows, int32(row))
	}
	return rows
}

// Choices are legal and depend only on the row; choosing allocates nothing.
func TestPolicy(t *testing.T) {
	for _, g := range catalog.Games() {
		for _, o := range []neural.Options{{Temperature: 1}, {Greedy: true}} {
			v, b, p := seat(t, g.Name, 40/size(g.Name), o)
			s := v.Spec()
			p.Act(v, b, all(b))
			want := slices.Clone(b.Action)
			at := 0
			for h, size := range s.Heads {
				for row := range b.Rows {
					c := int(want[row*len(s.Heads)+h])
					if c < 0 || c >= size {
						t.Fatalf("%s: row %d, head %d: choice %d of %d", g.Name, row, h, c, size)
					}
					bit := at + c
					if b.Mask[row*s.MaskWords+bit>>6]>>(bit&63)&1 == 0 {
						t.Fatalf("%s: row %d, head %d: choice %d is not legal", g.Name, row, h, c)
					}
				}
				at += size
			}
			clear(b.Action)
			for _, row := range slices.Backward(all(b)) {
				p.Act(v, b, []int32{row})
			}
			if !slices.Equal(b.Action, want) {
				t.Errorf("%s: alone the rows get other choices", g.Name)
			}
			rows := all(b)
			if n := testing.AllocsPerRun(3, func() { p.Act(v, b, rows) }); n != 0 {
				t.Errorf("%s: %v allocations", g.Name, n)
			}
		}
	}
}

// size returns the divisor of the number of games; it is larger for a game with large states.
func size(name string) int {
	if name == "codecraft" {
		return 20
	}
	return 1
}

// Choices are drawn in proportion to exp(logit/temperature), compared with sums in float64
// over many seeds; the greedy choice has the largest logit.
func TestDraw(t *testing.T) {
	logits := []float32{0.5, -1, 2, 2, float32(math.NaN()), 0, float32(math.Inf(-1))}
	legal := []uint64{0b1110111}
	assert.Equal(t, int32(2), neural.Best(legal, logits), "the best")
	assert.Equal(t, int32(4), neural.Best([]uint64{0b0010000}, logits), "the best of one NaN")
	assert.Equal(t, int32(-1), neural.Best([]uint64{0}, logits), "the best of no legal choice")
	for _, temperature := range []float64{0.5, 1, 3} {
		const draws = 200_000
		counts := make([]float64, len(logits))
		for seed := range uint64(draws) {
			counts[neural.Draw(legal, logits, temperature, seed)]++
		}
		sum := 0.0
		weights := make([]float64, len(logits))
		for k, x := range logits {
			if legal[0]>>k&1 != 0 && x == x {
				weights[k] = math.Exp(float64(x) / temperature)
				sum += weights[k]
			}
		}
		for k := range logits {
			want := weights[k] / sum
			if got := counts[k] / draws; math.Abs(got-want) > 5*math.Sqrt(want/draws)+1e-9 {
				t.Errorf("temperature %v: choice %d drawn in %.4f of all, want %.4f", temperature, k, got, want)
			}
		}
	}
}

// Drawing weighs only the legal choices; the plain way weighs all of them, and draws the same.
func TestDrawPlain(t *testing.T) {
	r := prng.New(3)
	for range 5000 {
		n, at := 1+r.IntN(200), r.IntN(130)
		mask := make([]uint64, (at+n+63)/64+r.IntN(2))
		for i := range mask {
			if mask[i] = r.Uint64(); r.IntN(2) == 0 { // few legal choices, or many
				mask[i] &= mask[i] >> 13 & (mask[i] << 7)
			}
		}
		logits := make([]float32, n)
		for k := range logits {
			switch r.IntN(20) {
			case 0:
				logits[k] = float32(math.NaN())
			case 1:
				logits[k] = float32(math.Inf(-1))
			default:
				logits[k] = float32(8 * r.Float64())
			}
		}
		found, expected := neural.SurveyAt(mask, at, logits)
		require.Equalf(t, expected, found, "best and most of mask %x from bit %d, logits %v", mask, at, logits)
		got, want := neural.DrawAt(mask, at, logits, 0.3+2*r.Float64(), r.Uint64())
		require.Equalf(t, want, got, "mask %x from bit %d, logits %v", mask, at, logits)
	}
}

// Network counts the rows with NaN or infinite outputs, and the choices whose largest logit is
// illegal. The actions of such rows are legal, and depend only on the row.
func TestNetworkCounts(t *testing.T) {
	for _, game := range []string{"tron", "towerdefence"} {
		for ending, least := range map[string]float64{"": 0, "Exp Neg Log": 1, "Neg Relu Reciprocal": 0.1} { // the least share that is broken
			v, b, p := seat(t, game, 20, neural.Options{Temperature: 1}, strings.Fields(ending)...)
			rows := all(b)
			p.Act(v, b, rows)
			want := slices.Clone(b.Action)
			var sum rollout.NetworkCounts
			for _, row := range rows {
				c := p.Network(b, row)
				sum.Add(c)
				if c.Evaluations != 1 || c.NotFinite > 1 || c.Choices != 1 || c.Illegal > c.Choices {
					t.Fatalf("%s, %q: row %d has %+v", game, ending, row, c)
				}
			}
			if share := float64(sum.NotFinite) / float64(sum.Evaluations); share < least || (share == 0) != (least == 0) {
				t.Errorf("%s, %q: %d of %d evaluations are broken", game, ending, sum.NotFinite, sum.Evaluations)
			}
			if ending == "" && sum.Illegal == 0 {
				t.Errorf("%s: %d illegal of %d choices: the test shows nothing", game, sum.Illegal, sum.Choices)
			}
			words := v.Spec().MaskWords
			for row, a := range want {
				if a < 0 || b.Mask[row*words+int(a)>>6]>>(a&63)&1 == 0 {
					t.Errorf("%s, %q: row %d: choice %d is not legal", game, ending, row, a)
				}
			}
			for _, row := range slices.Backward(rows) {
				p.Act(v, b, []int32{row})
			}
			if !slices.Equal(b.Action, want) {
				t.Errorf("%s, %q: alone the rows get other choices", game, ending)
			}
			if n := testing.AllocsPerRun(3, func() { p.Act(v, b, rows); p.Network(b, 0) }); n != 0 {
				t.Errorf("%s, %q: %v allocations", game, ending, n)
			}
		}
	}
}

// A choice counts as illegal if the largest of all logits exceeds the largest legal one.
func TestIllegal(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		logits          []float32
		mask            uint64
		illegal, broken bool
	}{
		{[]float32{1, 2, 3}, 0b111, false, false},
		{[]float32{1, 2, 3}, 0b011, true, false},
		{[]float32{1, 3, 3}, 0b011, false, false}, // no illegal choice is likelier
		{[]float32{-inf, 2, -inf}, 0b011, false, false},
		{[]float32{-inf, 2, -inf}, 0b101, true, true},
		{[]float32{1, nan, 0}, 0b001, false, true},
		{[]float32{1, 2, nan}, 0b001, true, true},
		{[]float32{1, inf, 0}, 0b001, true, true},
		{[]float32{nan, nan, nan}, 0b110, false, true},
	} {
		t.Run(fmt.Sprintf("%v with mask %b", c.logits, c.mask), func(t *testing.T) {
			illegal, broken := neural.Survey([]uint64{c.mask}, c.logits)
			require.Equal(t, c.illegal, illegal, "illegal")
			require.Equal(t, c.broken, broken, "broken")
		})
	}
}

// A network whose last operators convert its logits to probabilities plays as without these
// operators.
func TestProbabilities(t *testing.T) {
	for _, game := range []string{"tron", "towerdefence"} {
		for _, o := range []neural.Options{{Temperature: 1}, {Temperature: 0.25}, {Greedy: true}} {
			v, b, p := seat(t, game, 60, o)
			rows := all(b)
			p.Act(v, b, rows)
			want := slices.Clone(b.Action)
			for _, ending := range [][]string{{"LogSoftmax"}, {"Softmax"}, {"Softmax", "Identity", "Cast", "Flatten"}, {"LogSoftmax", "Exp", "Log", "Exp"}} {
				_, _, q := seat(t, game, 60, o, ending...)
				q.Act(v, b, rows)
				others := 0
				for i, a := range b.Action {
					if a != want[i] {
						others++
					}
				}
				if others > len(want)/50 {
					t.Errorf("%s, %+v, %v: %d of %d choices differ from those of the logits", game, o, ending, others, len(want))
				}
				if n := testing.AllocsPerRun(3, func() { q.Act(v, b, rows) }); n != 0 {
					t.Errorf("%s, %v: %v allocations", game, ending, n)
				}
			}
		}
	}
}
