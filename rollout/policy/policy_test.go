package policy_test

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
	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// slabs returns a batch of rows without a game, for policies that do not read the state.
func slabs(heads []int, rows int) (env.Spec, *env.Batch) {
	var s env.Spec
	s.Info.Players, s.Info.MaxOrders = 1, 1
	s.Heads, s.MaskWords = heads, features.MaskWords(heads)
	b := env.NewBatch(s, rows, env.WantMask|env.WantAction|env.WantRowSeed)
	for row := range rows {
		b.RowSeed[row] = prng.StreamSeed(5, uint64(row), 0, 0, prng.PurposePolicy)
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

// Random choices are legal and equally frequent, in heads of any size and at any offset in the
// mask.
func TestRandomIsUniform(t *testing.T) {
	const rows = 40000
	heads := []int{5, 64, 1, 130, 63, 322, 9}
	s, b := slabs(heads, rows)
	p := policytest.NewPolicy(t, "toy", "random", s)
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
	n := testing.AllocsPerRun(3, func() { p.Act(nil, b, numbers(0)) })
	assert.Zerof(t, n, "%v allocations", n)
}

// sparse returns a random word in which about one bit of eight is set.
func sparse(r *prng.Rand) uint64 {
	w := r.Uint64()
	w &= r.Uint64()
	return w & r.Uint64()
}

// A mixture plays its members in proportion to their weights, also nested ones.
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
		t.Run(spec, func(t *testing.T) {
			counts, p := policy.Counting(t, spec, s)
			assert.Truef(t, p.Name() == strings.ReplaceAll(spec, " ", "") || strings.Contains(spec, "e"), "%s is called %s", spec, p.Name())
			p.Act(nil, b, numbers(rows))
			for i, n := range counts() {
				w := want[i] * rows
				assert.LessOrEqualf(t, math.Abs(float64(n)-w), 5*math.Sqrt(w+1), "%s: member %d played %d rows, expected %.0f", spec, i, n, w)
			}
			n := testing.AllocsPerRun(3, func() { p.Act(nil, b, b0) })
			assert.Zerof(t, n, "%s: %v allocations", spec, n)
			if err := rollout.CloseSeats(p); err != nil || counts()[0] != -1 || counts()[1] != -1 {
				t.Errorf("%s: members are not closed: %v, %v", spec, counts(), err)
			}
		})
	}
}

// Chosen returns the member that chose: the row is the same as if only that member had
// played.
func TestMixtureTellsWhoChose(t *testing.T) {
	const rows = 2000
	s, b := slabs([]int{50, 7}, rows)
	for i := range b.Mask {
		b.Mask[i] = 1<<57 - 1
	}
	spec := "mix(0.3*empty,0.5*mix(0.5*random,0.5*mix(1*empty,1*empty)),0.2*random)"
	p := policytest.NewPolicy(t, "toy", spec, s).(rollout.Mixture)
	members := []string{"empty", "random", "empty", "empty", "random"}
	for i, m := range p.Members() {
		require.Equal(t, members[i], m.Name())
	}
	act := func(p rollout.Policy) []int32 {
		for i := range b.Action {
			b.Action[i] = -7
		}
		for i := range b.OrderLen {
			b.OrderLen[i] = -1
		}
		p.Act(nil, b, numbers(rows))
		return slices.Concat(b.Action, b.OrderLen)
	}
	alone := map[string][]int32{}
	for _, name := range members {
		alone[name] = act(policytest.NewPolicy(t, "toy", name, s))
	}
	got := act(p)
	counts := make([]int, len(members))
	for row := range int32(rows) {
		c := p.Chosen(b, row)
		counts[c]++
		for _, at := range []int32{2 * row, 2*row + 1, 2*rows + row} {
			if got[at] != alone[members[c]][at] {
				t.Fatalf("row %d: the mixture chose %d, its member %s chooses %d", row, got[at], members[c], alone[members[c]][at])
			}
		}
	}
	for i, n := range counts {
		assert.NotEqualf(t, 0, n, "member %d never chose: %v", i, counts)
	}
	n := testing.AllocsPerRun(3, func() { p.Chosen(b, 5) })
	assert.Zerof(t, n, "%v allocations", n)
}

var b0 = numbers(100)

func TestSpecErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                            "character 1: the text ends, expected the name of a policy",
		"best":                        `character 1: no policy "best" for toy; there are: random, empty, mix(…)`,
		"random,random":               `character 7: found ',', expected the end`,
		"random(3)":                   `character 9: found ')', expected "="`,
		"random()":                    `character 8: found ')', expected an option, as in sims=400`,
		"random(sims=3)":              `character 8: "random" takes no options`,
		"random(sims=)":               `character 13: found ')', expected the value of sims`,
		"mix(1*best(sims=3))":         `character 7: no policy "best" for toy`,
		"mix":                         "character 1: mix needs members",
		"mix()":                       `character 5: found ')', expected a weight, as in 0.5*random`,
		"mix(random)":                 `character 5: found 'r', expected a weight`,
		"mix(0.5*random":              `character 15: the text ends, expected "," or ")"`,
		"mix(0.5*random;1*random)":    `character 15: found ';', expected "," or ")"`,
		"mix(0*random)":               "character 5: weight 0, expected a number above 0",
		"mix(-1*random,2*random)":     "character 5: weight -1,",
		"mix(1*random,1e999*random)":  "character 14: weight 1e999,",
		"mix(0.5random)":              `character 8: found 'r', expected "*"`,
		"mix(1*random,2* nix)":        `character 17: no policy "nix" for toy`,
		"mix(1*mix(1*random,1*),1*a)": `character 22: found ')', expected the name of a policy`,
		"mix(1*random)é":              `character 14: found 'é', expected the end`,
		`mix(1*"é.onnx"(greedy),é*a)`: `character 24: found 'é', expected a weight`,
		`"random"`:                    `character 1: found "random" in quotes, expected the path of a network, FILE.onnx`,
		` "a.onnx`:                    `character 2: the quote " is not closed`,
		`'a"".onnx`:                   `character 1: the quote ' is not closed`,
		`mix(1*"")`:                   `character 7: the quotes are empty`,
		"\"a\nb.onnx\"":               `character 1: "a\nb.onnx" has a control character`,
		"\"a\xff.onnx\"":              `character 1: "a\xff.onnx" is not UTF-8`,
		`"a.onnx" b`:                  `character 10: found 'b', expected the end`,
		"nets v2/td.onnx":             `character 6: found 'v', expected the end; a path with blanks or signs is written in quotes: "my nets/small.onnx"(greedy)`,
		"nets(v2)/td.ONNX(greedy)":    `; a path with blanks or signs is written in quotes`,
		"nets=2.onnx":                 `; a path with blanks or signs is written in quotes`,
		`"nets v2/td.onnx"`:           `character 1: nets v2/td.onnx: no such file or directory`,
		"é/ü.ONNX":                    `character 1: é/ü.ONNX: no such file or directory`,
		"mix(" + strings.Repeat("1*random,", 256) + "1*random)": "character 2309: more than the 256 policies",
		strings.Repeat("mix(1*", 1000):                          "mixtures nested more than 16 deep",
	} {
		t.Run(fmt.Sprintf("%.40q", spec), func(t *testing.T) {
			_, err := policy.New("toy", spec)
			assert.ErrorContainsf(t, err, want, "%.40q", spec)
		})
	}
	s, _ := slabs([]int{2}, 1)
	assert.Equal(t, "mix(0.5*random,1*mix(2*random))", policytest.NewPolicy(t, "toy", "  mix ( 0.50 * random , 1 * mix(2*random)) ", s).Name(), "canonical name")
}

func FuzzSpec(f *testing.F) {
	for _, s := range []string{"random", "mix(0.8*random,0.2*random)", "mix(1*mix(2*random))", "mix(.5*", "é"} {
		f.Add(s)
	}
	s, _ := slabs([]int{2}, 1)
	f.Fuzz(func(t *testing.T, spec string) {
		policy.CheckWritten(t, spec)
		m, err := policy.New("toy", spec)
		if err != nil {
			return
		}
		p, err := m(s)
		if err != nil {
			t.Fatal(err)
		}
		// The name is a spec of itself.
		if again := policytest.NewPolicy(t, "toy", p.Name(), s); again.Name() != p.Name() {
			t.Fatalf("%q is called %q, that is called %q", spec, p.Name(), again.Name())
		}
	})
}

func TestNames(t *testing.T) {
	all := []string{"toy"}
	for _, g := range catalog.Games() {
		all = append(all, g.Name)
	}
	for _, game := range all {
		names := policy.Names(game)
		assert.Truef(t, len(policytest.Scripts(game)) == 0 || slices.ContainsFunc(games, func(c gameTests) bool { return c.name == game }), "the tests of scripts leave out %s", game)
		if _, example, ok := strings.Cut(names[len(names)-1].Doc, ": "); ok {
			_, err := policy.New(game, example)
			assert.NoErrorf(t, err, "%s: the example of a mixture", game)
		} else if len(names) > 4 {
			t.Errorf("%s: no example of a mixture", game)
		}
		assert.Truef(t, names[0].Name == "random" && names[1].Name == "empty", "%s: the first are %q and %q", game, names[0].Name, names[1].Name)
		for i, e := range names {
			if e.Doc == "" || strings.Contains(e.Doc, "\n") {
				t.Errorf("%s: %s has no line of documentation", game, e.Name)
			}
			form := i >= len(names)-2 // of a network and of a mixture, not names
			if _, err := policy.New(game, e.Name); (err != nil) != form {
				t.Errorf("%s: %s: %v", game, e.Name, err)
			}
		}
	}
}

// The orders of random are legal.
func TestRandomIsLegal(t *testing.T) {
	g := simtest.Toy{Seats: 3, Orders: 1}
	v, err := env.New(g, featuretest.ToyKit(g), env.Settings{N: 20})
	require.NoError(t, err)
	p := policytest.NewPolicy(t, "toy", "random", v.Spec())
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

// The empty policy gives no orders, in any game, and allocates nothing.
func TestEmpty(t *testing.T) {
	for _, game := range catalog.Games() {
		v := policytest.NewVector(t, game.Name, "", 2, 0)
		p := policytest.NewPolicy(t, game.Name, "empty", v.Spec())
		b := env.NewBatch(v.Spec(), 2, p.Wants())
		for range 3 {
			v.Observe(b)
			p.Act(v, b, numbers(b.Rows))
			v.Step(b)
			for row, n := range b.OrderLen {
				if n != 0 {
					t.Fatalf("%s: row %d has %d orders", game.Name, row, n)
				}
			}
		}
		assert.Equalf(t, int32(3), b.Turn[0], "%s: %d turns played, want 3", game.Name, b.Turn[0])
		all := numbers(b.Rows)
		n := testing.AllocsPerRun(3, func() { p.Act(v, b, all) })
		assert.Zerof(t, n, "%s: %v allocations", game.Name, n)
	}
}

// Begins is true for texts that begin like a spec, and for no others.
func TestBegins(t *testing.T) {
	for text, want := range map[string]bool{
		"econ": true, " econ ": true, "mix(1*econ)": true, "mix (": true, "mix": true, "econ(3)": true, "empty": true,
		"": false, "ecno": false, "./econ": false, "econ.sh": false, "econ --fast": false, "econ:1": false, "mix(1)/b.sh": true,
		"./a(1)/b.sh": false, "python3 ./a(1)/b.py": false, "a(1)": false, "Econ": false, "é": false,
		`"my nets/a.onnx"`: true, ` 'it''s.ONNX' (greedy)`: true, "nets/a.onnx --fast": true, `"my bot/a.onnx" --fast`: true,
		`"./my bot" --fast`: false, `"econ"`: false, `"`: false, "nets v2/a.onnx": false,
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equalf(t, want, policy.Begins("codecraft", text), "%q", text)
		})
	}
}

// Ends is true for texts that may be paths of networks without quotes.
func TestEnds(t *testing.T) {
	for text, want := range map[string]bool{
		"nets v2/a.onnx": true, "nets v2/a.ONNX (greedy)": true, `nets v2/a.onnx(model="x(1)")`: true, "python3 main.py a.onnx": true,
		"python3 main.py --net a.onnx": false, "python3 main.py --net=a.onnx": false, "./bot a.onnx.py": false, "./bot 'my net.onnx'": false,
		"./bot (greedy)": false, "": false, ")": false, ".onnx": false,
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equalf(t, want, policy.Ends(text), "%q", text)
		})
	}
}

// Lists of texts are split at commas outside of parentheses and quotes.
func TestSplitList(t *testing.T) {
	for text, want := range map[string][]string{
		"a":                           {"a"},
		"a, b":                        {"a", "b"},
		"mix(0.5*a,0.5*b),c":          {"mix(0.5*a,0.5*b)", "c"},
		"mix(1*mix(1*a,1*b),1*c),d,":  {"mix(1*mix(1*a,1*b),1*c)", "d", ""},
		"mix(1*a":                     {"mix(1*a"},
		`"a,(b.onnx",c`:               {`"a,(b.onnx"`, "c"},
		`'a"",''b.onnx'(head=",)"),c`: {`'a"",''b.onnx'(head=",)")`, "c"},
		`mix(1*"),",2*b),c`:           {`mix(1*"),",2*b)`, "c"},
		`bot:it's,bot:that's`:         {"bot:it's", "bot:that's"},
		`"a,b`:                        {`"a`, "b"},
		`./bot "a,b" --x="c,d",e`:     {`./bot "a,b" --x="c,d"`, "e"},
	} {
		t.Run(text, func(t *testing.T) {
			assert.Truef(t, slices.Equal(policy.SplitList(text), want), "%q", text)
		})
	}
}

// A head without a legal choice gets −1, whatever the other heads have.
func TestRandomWithoutChoices(t *testing.T) {
	const rows = 500
	for _, heads := range [][]int{{64, 64}, {322}, {5, 40}, {128, 128, 128}} {
		s, b := slabs(heads, rows)
		r := prng.New(4)
		for i := range b.Mask {
			if b.Mask[i] = sparse(&r); r.IntN(4) == 0 {
				b.Mask[i] = 0
			}
			if n := features.Choices(heads) % 64; n != 0 && i%s.MaskWords == s.MaskWords-1 {
				b.Mask[i] &= 1<<n - 1
			}
		}
		policytest.NewPolicy(t, "toy", "random", s).Act(nil, b, numbers(rows))
		none := 0
		for row := range rows {
			at, mask := 0, b.Mask[row*s.MaskWords:][:s.MaskWords]
			for h, n := range heads {
				some := false
				for c := at; c < at+n; c++ {
					some = some || mask[c/64]>>(c%64)&1 != 0
				}
				c := int(b.Action[row*len(heads)+h])
				if some != (c >= 0) || some && mask[(at+c)/64]>>((at+c)%64)&1 == 0 {
					t.Fatalf("heads %v, row %d, head %d: choice %d, some are legal: %v", heads, row, h, c, some)
				}
				if at += n; !some {
					none++
				}
			}
		}
		assert.NotZero(t, none, "heads %v: all have choices", heads)
	}
}
