package policy_test

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

func newPolicy(t testing.TB, game, spec string, s env.Spec) rollout.Policy {
	t.Helper()
	m, err := policy.New(game, spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// slabs is a batch of rows without a game, for policies that read no state.
func slabs(heads []int, rows int) (env.Spec, *env.Batch) {
	var s env.Spec
	s.Info.Players, s.Info.MaxOrders = 1, 1
	s.Heads, s.MaskWords = heads, features.MaskWords(heads)
	b := env.NewBatch(s, rows, env.WantMask|env.WantAction|env.WantKey)
	for row := range rows {
		b.Key[row] = prng.Key(5, uint64(row), 0, 0, prng.PurposePolicy)
		b.OrderLen[row] = -1
	}
	return s, b
}

func numbers(n int) []int32 {
	l := make([]int32, n)
	for i := range l {
		l[i] = int32(i)
	}
	return l
}

// Random choices are legal and equally frequent in heads of any size, wherever
// they lie in the mask.
func TestRandomIsUniform(t *testing.T) {
	const rows = 40000
	heads := []int{5, 64, 1, 130, 63, 322, 9}
	s, b := slabs(heads, rows)
	p := newPolicy(t, "toy", "random", s)
	r := prng.New(1)
	legal := make([]bool, features.Choices(heads))
	for i := range legal {
		legal[i] = r.IntN(3) > 0
	}
	legal[69] = true // the head of one choice
	clear(legal[features.Choices(heads)-9:])
	for row := range rows {
		for i, ok := range legal {
			if ok {
				b.Mask[row*s.MaskWords+i/64] |= 1 << (i % 64)
			}
		}
	}
	p.Act(nil, b, numbers(rows))
	at := 0
	for h, size := range heads {
		count := make([]int, size)
		for row := range rows {
			c := b.Action[row*len(heads)+h]
			if h == len(heads)-1 {
				if c != -1 {
					t.Fatalf("head without a legal choice: %d", c)
				}
				continue
			}
			count[c]++
		}
		n := 0
		for i := range size {
			if legal[at+i] {
				n++
			}
		}
		for i, got := range count {
			want := 0.0
			if legal[at+i] {
				want = rows / float64(n)
			}
			if math.Abs(float64(got)-want) > 5.5*math.Sqrt(want) {
				t.Errorf("head %d, choice %d: chosen %d times, expected %.0f", h, i, got, want)
			}
		}
		at += size
	}
	if n := testing.AllocsPerRun(3, func() { p.Act(nil, b, numbers(0)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// sparse draws a word in which about one bit of eight is set.
func sparse(r *prng.Rand) uint64 {
	w := r.Uint64()
	w &= r.Uint64()
	return w & r.Uint64()
}

// A single head is drawn as the same head is among others.
func TestRandomSingleHead(t *testing.T) {
	const rows, size = 500, 322
	one, a := slabs([]int{size}, rows)
	two, b := slabs([]int{size, 1}, rows)
	r := prng.New(3)
	for row := range rows {
		for i := range one.MaskWords {
			w := sparse(&r) // and whole words empty in some rows
			if row%7 == i || row == 0 {
				w = 0
			}
			if i == one.MaskWords-1 {
				w &= 1<<(size%64) - 1
			}
			a.Mask[row*one.MaskWords+i], b.Mask[row*two.MaskWords+i] = w, w
		}
	}
	newPolicy(t, "toy", "random", one).Act(nil, a, numbers(rows))
	newPolicy(t, "toy", "random", two).Act(nil, b, numbers(rows))
	for row := range rows {
		if a.Action[row] != b.Action[2*row] || row == 0 && a.Action[0] != -1 {
			t.Fatalf("row %d: %d alone, %d among others", row, a.Action[row], b.Action[2*row])
		}
	}
}

// A mixture plays its members as often as their weights say, also nested.
func TestMixtureFrequencies(t *testing.T) {
	const rows = 60000
	s, b := slabs([]int{2}, rows)
	for spec, want := range map[string][]float64{
		"mix(0.8*a,0.2*b)":                     {0.8, 0.2, 0},
		"mix(1*a,3*b)":                         {0.25, 0.75, 0},
		"mix(0.5*a,0.5*mix(0.5*b,0.5*c))":      {0.5, 0.25, 0.25},
		"mix(3*mix(1*a,1*b),1*mix(1*c,1*a))":   {0.5, 0.375, 0.125},
		"mix(1e-300*a,1e300*b)":                {0, 1, 0},
		"mix(1e308*a,1e308*b,1e308*c,1e308*b)": {0.25, 0.5, 0.25},
	} {
		counts, p := policy.Counting(t, spec, s)
		if p.Name() != strings.ReplaceAll(spec, " ", "") && !strings.Contains(spec, "e") {
			t.Errorf("%s is called %s", spec, p.Name())
		}
		p.Act(nil, b, numbers(rows))
		for i, n := range counts() {
			w := want[i] * rows
			if math.Abs(float64(n)-w) > 5*math.Sqrt(w+1) {
				t.Errorf("%s: member %d played %d rows, expected %.0f", spec, i, n, w)
			}
		}
		if n := testing.AllocsPerRun(3, func() { p.Act(nil, b, b0) }); n != 0 {
			t.Errorf("%s: %v allocations", spec, n)
		}
		if err := p.(io.Closer).Close(); err != nil || counts()[0] != -1 || counts()[1] != -1 {
			t.Errorf("%s: members are not closed: %v, %v", spec, counts(), err)
		}
	}
}

var b0 = numbers(100)

func TestSpecErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                             "character 1: the text ends, expected the name of a policy",
		"best":                         `character 1: no policy "best" for toy; there are: random, mix(…)`,
		"random,random":                `character 7: found ',', expected the end`,
		"random(3)":                    `character 7: "random" takes no arguments; only mix does`,
		"mix":                          "character 1: mix needs members",
		"mix()":                        `character 5: found ')', expected a weight, as in 0.5*random`,
		"mix(random)":                  `character 5: found 'r', expected a weight`,
		"mix(0.5*random":               `character 15: the text ends, expected "," or ")"`,
		"mix(0.5*random;1*random)":     `character 15: found ';', expected "," or ")"`,
		"mix(0*random)":                "character 5: weight 0, expected a number above 0",
		"mix(-1*random,2*random)":      "character 5: weight -1,",
		"mix(1*random,1e999*random)":   "character 14: weight 1e999,",
		"mix(0.5random)":               `character 8: found 'r', expected "*"`,
		"mix(1*random,2* nix)":         `character 17: no policy "nix" for toy`,
		"mix(1*mix(1*random,1*),1*a)":  `character 22: found ')', expected the name of a policy`,
		"mix(1*random)é":               `character 14: found 'é', expected the end`,
		strings.Repeat("mix(1*", 1000): "mixtures nested more than 16 deep",
	} {
		_, err := policy.New("toy", spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want one with %q", spec, err, want)
		}
	}
	m, err := policy.New("toy", "  mix ( 0.50 * random , 1 * mix(2*random)) ")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := slabs([]int{2}, 1)
	if p, err := m(s); err != nil || p.Name() != "mix(0.5*random,1*mix(2*random))" {
		t.Errorf("canonical name %v, error %v", p.Name(), err)
	}
}

func FuzzSpec(f *testing.F) {
	for _, s := range []string{"random", "mix(0.8*random,0.2*random)", "mix(1*mix(2*random))", "mix(.5*", "é"} {
		f.Add(s)
	}
	s, _ := slabs([]int{2}, 1)
	f.Fuzz(func(t *testing.T, spec string) {
		m, err := policy.New("toy", spec)
		if err != nil {
			return
		}
		p, err := m(s)
		if err != nil {
			t.Fatal(err)
		}
		// The name is a spec of itself.
		if again := newPolicy(t, "toy", p.Name(), s); again.Name() != p.Name() {
			t.Fatalf("%q is called %q, that is called %q", spec, p.Name(), again.Name())
		}
	})
}

func TestNames(t *testing.T) {
	for _, game := range []string{"toy", "towerdefence", "terminal", "terminal-sequential", "codecraft"} {
		names := policy.Names(game)
		if _, example, ok := strings.Cut(names[len(names)-1].Doc, ": "); ok {
			if _, err := policy.New(game, example); err != nil {
				t.Errorf("%s: the example of a mixture: %v", game, err)
			}
		} else if len(names) > 2 {
			t.Errorf("%s: no example of a mixture", game)
		}
		if names[0].Name != "random" {
			t.Errorf("%s: the first is %q", game, names[0].Name)
		}
		for i, e := range names {
			if e.Doc == "" || strings.Contains(e.Doc, "\n") {
				t.Errorf("%s: %s has no line of documentation", game, e.Name)
			}
			if _, err := policy.New(game, e.Name); (err != nil) != (i == len(names)-1) {
				t.Errorf("%s: %s: %v", game, e.Name, err)
			}
		}
	}
}

// What random gives is accepted by the rules of the game.
func TestRandomIsLegal(t *testing.T) {
	g := simtest.Toy{Seats: 3, Orders: 1}
	v, err := env.New(g, featuretest.ToyKit(g), env.Config{N: 20})
	if err != nil {
		t.Fatal(err)
	}
	p := newPolicy(t, "toy", "random", v.Spec())
	b := env.NewBatch(v.Spec(), 20, p.Wants())
	states, _ := env.States[simtest.ToyState](v)
	before := make([]simtest.ToyState, len(states))
	for i := range 20 {
		v.Reset(i, uint64(i))
	}
	for range simtest.ToyTurns {
		v.Observe(b)
		copy(before, states)
		p.Act(v, b, numbers(b.Rows))
		v.Step(b)
		for row := range b.Rows {
			legal := g.AppendOrders(nil, &before[row/3], seat(row, 3))
			for _, o := range b.Orders[row:][:b.OrderLen[row]] {
				if !slices.Contains(legal, o) {
					t.Fatalf("row %d: order %d, legal are %v", row, o, legal)
				}
			}
		}
	}
}

func seat(row, players int) sim.Player { return sim.Player(row % players) }
