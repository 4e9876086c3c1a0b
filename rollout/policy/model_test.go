package policy_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/neural/neuraltest"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// modelFile writes a network for the games, and returns its path.
func modelFile(t testing.TB, s env.Spec, value bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "untrained.onnx")
	require.NoError(t, os.WriteFile(path, neuraltest.Model(s, 1, value), 0o666))
	return path
}

// sumOf returns the digits of the file's sha256 in the canonical name of a policy.
func sumOf(t testing.TB, path string) string {
	t.Helper()
	files := policytest.NewPolicy(t, "towerdefence", path, policytest.NewVector(t, "towerdefence", "", 1, 0).Spec()).(rollout.WithFiles).Files()
	return files[0].SHA256[:16]
}

// NewStored reads no file of this machine: the networks of the spec must be among the given
// files.
func TestStored(t *testing.T) {
	s := policytest.NewVector(t, "towerdefence", "", 1, 0).Spec()
	path := modelFile(t, s, true)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sumOf(t, path)
	files := func(sha256 string) ([]byte, error) {
		if sha256 == sum {
			return data, nil
		}
		return nil, fs.ErrNotExist
	}
	for _, spec := range []string{
		"econ", "net", "untrained.onnx(sha256=" + sum + ")", "mcts(sims=2,model=untrained.onnx,sha256=" + sum + ")",
		"mix(1*econ,2*untrained.onnx(sha256=" + sum + "))",
	} {
		_, err = policy.NewStored("towerdefence", spec, files)
		assert.NoError(t, err, spec)
	}
	q := policy.Quote(path)
	for _, spec := range []string{
		q, q + "(sha256=" + sum + ")", "mcts(sims=2,model=" + q + ")", "mix(1*econ,2*" + q + ")", "untrained.onnx", "../untrained.onnx(sha256=" + sum + ")",
		policy.Quote(path + ".none.onnx"),
	} {
		_, err = policy.NewStored("towerdefence", spec, files)
		assert.ErrorContainsf(t, err, "a file of this machine", "%s: %v, want that it is a file of this machine", spec, err)
	}
	_, err = policy.NewStored("towerdefence", "mcts(ms=5)", files)
	assert.ErrorContains(t, err, "speed of the machine", "a policy that depends on time")
}

// The file of a network is found by its path or by its sum, and its name says which
// it is.
func TestModelNames(t *testing.T) {
	s := policytest.NewVector(t, "towerdefence", "", 1, 0).Spec()
	path := modelFile(t, s, true)
	sum := sumOf(t, path)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	known := func(begin string) ([]byte, error) {
		if strings.HasPrefix(sum, begin) {
			return data, nil
		}
		return nil, fs.ErrNotExist
	}
	for spec, want := range map[string]string{
		path: "untrained.onnx(sha256=" + sum + ")",
		" " + path + " ( greedy , sha256 = " + strings.ToUpper(sum[:9]) + " )": "untrained.onnx(greedy,sha256=" + sum + ")",
		path + "(head=logits, greedy)":                                         "untrained.onnx(head=logits,greedy,sha256=" + sum + ")",
		"mcts(model=" + path + ",head=logits)":                                 "mcts(model=untrained.onnx,head=logits,sha256=" + sum + ")",
		path + "(work=050)":                                                    "untrained.onnx(work=50,sha256=" + sum + ")",
		"mcts(model=" + path + ",work=30)":                                     "mcts(model=untrained.onnx,work=30,sha256=" + sum + ")",
		path + "(temperature=0.50)":                                            "untrained.onnx(temperature=0.5,sha256=" + sum + ")",
		"mix(1*econ,2*" + path + ")":                                           "mix(1*econ,2*untrained.onnx(sha256=" + sum + "))",
		"mcts(sims=9,model=" + path + ",c=1.0)":                                "mcts(sims=9,model=untrained.onnx,c=1,sha256=" + sum + ")",
		"elsewhere/x.onnx(sha256=" + sum + ")":                                 "x.onnx(sha256=" + sum + ")",
		"mix(1*mcts(sims=1,model=" + path + "),1*" + path + "(greedy))":        "mix(1*mcts(sims=1,model=untrained.onnx,sha256=" + sum + "),1*untrained.onnx(greedy,sha256=" + sum + "))",
	} {
		t.Run(want, func(t *testing.T) {
			for _, name := range []string{spec, want} { // the canonical form is one of itself
				maker, err := policy.New("towerdefence", name, known)
				require.NoError(t, err)
				p, err := maker(s)
				require.NoError(t, err)
				assert.Equalf(t, want, p.Name(), "%q is called", name)
				files := rollout.FilesOf(p)
				assert.Truef(t, len(files) != 0 && slices.Equal(files[0].Data, data) && files[0].SHA256[:16] == sum, "%q has the files %v", name, files)
			}
		})
	}
	for spec, want := range map[string]string{
		path + "(temperature=0)":             "temperature=0, expected a number above 0",
		path + "(greedy,temperature=2)":      "greedy and temperature are both set",
		path + "(work=0)":                    "work=0, expected a whole number from 1 to 1000000",
		"mcts(work=3)":                       "work is set without model",
		path + "(greedy=1)":                  `found '=', expected "," or ")"`,
		path + "(sims=3)":                    `no option "sims"; there are: greedy, temperature, head, work, sha256`,
		path + "(sha256=1234567)":            "sha256=1234567, expected 8 to 64 hexadecimal digits",
		path + "(sha256=0123456789abcdef)":   "untrained.onnx: its sha256 is " + sum + ", expected 0123456789abcdef",
		"mcts(model=econ)":                   "model=econ, expected the path of a network, FILE.onnx",
		"mcts(head=a)":                       "head is set without model",
		"mcts(sha256=0123456789abcdef)":      "sha256 is set without model",
		"nowhere.onnx":                       "nowhere.onnx: no such file or directory",
		filepath.Dir(path) + "/.onnx":        "expected the name of a policy",
		"mcts(trust=0.5)":                    "trust is set without model",
		"mcts(model=" + path + ",trust=1.1)": "trust=1.1, expected a number from 0 to 1",
	} {
		t.Run(want, func(t *testing.T) {
			_, err := policy.New("towerdefence", spec)
			assert.ErrorContainsf(t, err, want, "%q", spec)
		})
	}
	for _, spec := range []string{path + "(head=worth/Tanh:0)", "mcts(model=" + path + ",head=worth/Tanh:0)"} {
		_, err = policytest.NewMaker(t, "towerdefence", spec)(s)
		assert.ErrorContainsf(t, err, `no output is named "worth/Tanh:0"`, "%q", spec)
	}
	require.NoError(t, os.WriteFile(path, data[:len(data)/2], 0o666))
	_, err = policy.New("towerdefence", path)
	assert.ErrorContains(t, err, "untrained.onnx: ", "the error for half a file")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o777))
	_, err = policy.New("towerdefence", path)
	assert.ErrorContains(t, err, "expected a file, found a folder", "the error for a folder")
	_, err = policy.New("towerdefence", "gone.onnx(sha256=0123456789)", known)
	assert.ErrorIs(t, err, fs.ErrNotExist, "the error for a missing file")
}

// sharedNetwork returns the path of a network of the shared cases.
func sharedNetwork(t *testing.T, name string) string {
	return policy.Quote(simtest.Shared(t, "cases", "onnx", name))
}

// A network that ends in a Softmax plays like the same network without it. A vector is not
// taken for the scalars only because of its shape.
func TestSharedScales(t *testing.T) {
	v := policytest.NewVector(t, "tron", "", 2000, 0)
	s := v.Spec()
	for _, name := range []string{"five_logits.onnx", "five_softmax.onnx"} {
		p := policytest.NewPolicy(t, "tron", sharedNetwork(t, name), s)
		b := env.NewBatch(s, 2000, p.Wants())
		for i := range 2000 {
			v.Reset(i, uint64(i))
		}
		v.Observe(b)
		for i := range b.RowSeed {
			b.RowSeed[i] = prng.StreamSeed(5, uint64(i), 0, 0, prng.PurposePolicy)
		}
		p.Act(v, b, numbers(b.Rows))
		ones := 0
		for _, a := range b.Action {
			if a == 1 {
				ones++
			}
		}
		share := float64(ones) / float64(len(b.Action))
		assert.LessOrEqualf(t, math.Abs(share-0.989), 0.01, "%s: choice 1 is played %.3f of the time, want about 0.989", name, share)
	}
	_, err := policytest.NewMaker(t, "tron", sharedNetwork(t, "unusedin.onnx"))(s)
	assert.ErrorContains(t, err, `input "state_ins" float32 [1] has the shape of the scalars, and its name says something else`, "the error for an input that is not part of the game")
}

// Networks of other programs play: with their data in another file, and with weights of two
// bytes. The name has the sha256 of the network with all its data.
func TestSharedForms(t *testing.T) {
	s := policytest.NewVector(t, "tron", "", 1, 0).Spec()
	for _, name := range []string{"ext.onnx", "bf16w.onnx"} {
		p := policytest.NewPolicy(t, "tron", sharedNetwork(t, name), s)
		f := rollout.FilesOf(p)[0]
		found := func(string) ([]byte, error) { return f.Data, nil }
		again, err := policy.New("tron", p.Name(), found) // without the other file
		require.NoError(t, err)
		q, err := again(s)
		require.NoErrorf(t, err, "%s: %s", name, q)
		assert.Equalf(t, p.Name(), q.Name(), "%s: %s", name, q)
	}
}

// A network whose data is in another file is the same policy as one that contains the data, and
// Files returns a single file with all data.
func TestModelData(t *testing.T) {
	s := policytest.NewVector(t, "towerdefence", "", 1, 0).Spec()
	whole := neuraltest.Model(s, 1, true)
	rest, data := neuraltest.Split(whole, "untrained.onnx.data")
	path := filepath.Join(t.TempDir(), "untrained.onnx")
	require.NoError(t, errors.Join(os.WriteFile(path, rest, 0o666), os.WriteFile(path+".data", data, 0o666)))
	want := policytest.NewPolicy(t, "towerdefence", modelFile(t, s, true), s)
	p := policytest.NewPolicy(t, "towerdefence", path, s)
	files := rollout.FilesOf(p)
	assert.Truef(t, p.Name() == want.Name() && slices.Equal(files[0].Data, whole), "%s has %d bytes, want %s with %d", p.Name(), len(files[0].Data), want.Name(), len(whole))
	require.NoError(t, os.Remove(path+".data"))
	_, err := policy.New("towerdefence", path)
	assert.Truef(t, errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), `"untrained.onnx.data": there is no such file beside the model`), "without its data: %v", err)
}

// Episodes have the counts of networks, also of those in mixtures and searches, and the same
// counts for any number of games at once.
func TestEpisodeNetworks(t *testing.T) {
	s := policytest.NewVector(t, "towerdefence", "", 1, 0).Spec()
	good, bad := modelFile(t, s, true), filepath.Join(t.TempDir(), "nan.onnx")
	require.NoError(t, os.WriteFile(bad, neuraltest.Ending(s, 1, true, "Exp", "Neg", "Log"), 0o666))
	for _, c := range []struct {
		spec   string
		broken bool
	}{
		{good, false}, {bad, true}, {"mix(1*econ,1*mix(1*" + bad + ",1*random))", true}, {"mix(1*mcts(sims=3,model=" + good + "),1*econ)", false},
		{"mcts(sims=5,model=" + bad + ",trust=0)", true}, {"mcts(sims=5,model=" + good + ",trust=0)", false}, {"econ", false},
	} {
		t.Run(c.spec, func(t *testing.T) {
			var want [][]rollout.NetworkCounts
			for games := 1; games <= 3; games += 2 {
				v := policytest.NewVector(t, "towerdefence", "", games, 6)
				var got networkSink
				seats := []rollout.Policy{policytest.NewPolicy(t, "towerdefence", c.spec, s), policytest.NewPolicy(t, "towerdefence", "econ", s)}
				require.NoError(t, rollout.Shard(t.Context(), v, seats, 2, 0, 4, &got))
				if c.spec == "econ" {
					assert.Nilf(t, got[0], "%s: %v", c.spec, got)
					continue
				}
				var sum rollout.NetworkCounts
				for _, e := range got {
					sum.Add(e[0])
					if e[1] != (rollout.NetworkCounts{}) {
						t.Errorf("%s: econ has %+v", c.spec, e[1])
					}
				}
				assert.Truef(t, sum.Evaluations != 0 && (sum.NotFinite > 0) == c.broken && sum.NotFinite <= sum.Evaluations, "%s: %+v", c.spec, sum)
				if want == nil {
					want = got
				} else if !reflect.DeepEqual(want, [][]rollout.NetworkCounts(got)) {
					t.Errorf("%s: %v, one game after the other %v", c.spec, got, want)
				}
			}
		})
	}
}

// networkSink stores the counts of episodes.
type networkSink [][]rollout.NetworkCounts

func (n *networkSink) Episode(e *rollout.Episode) error {
	*n = append(*n, slices.Clone(e.Networks))
	return nil
}

// Quote makes any path a part of a spec, and names have quotes only if necessary.
func TestModelPaths(t *testing.T) {
	s := policytest.NewVector(t, "towerdefence", "", 1, 0).Spec()
	sum := sumOf(t, modelFile(t, s, true))
	dir := filepath.Join(t.TempDir(), "nets v2, (old)")
	require.NoError(t, os.Mkdir(dir, 0o777))
	for name, want := range map[string]string{
		"td.onnx": "td.onnx", "a b.onnx": `"a b.onnx"`, "é.ONNX": "é.ONNX", "a,b=(c)'d'.Onnx": `"a,b=(c)'d'.Onnx"`,
		`say "x"*.onnx`: `"say ""x""*.onnx"`, " .onnx": `" .onnx"`, "%$#.onnx": `"%$#.onnx"`,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, neuraltest.Model(s, 1, true), 0o666))
		q := policy.Quote(path)
		for spec, want := range map[string]string{
			q:                              want + "(sha256=" + sum + ")",
			q + "(greedy)":                 want + "(greedy,sha256=" + sum + ")",
			q + "(head='logits')":          want + "(head=logits,sha256=" + sum + ")",
			"mix(1*econ,2*" + q + ")":      "mix(1*econ,2*" + want + "(sha256=" + sum + "))",
			"mcts(sims=2,model=" + q + ")": "mcts(sims=2,model=" + want + ",sha256=" + sum + ")",
		} {
			t.Run(want, func(t *testing.T) {
				p := policytest.NewPolicy(t, "towerdefence", spec, s)
				assert.Equalf(t, want, p.Name(), "%s is called", spec)
				files := rollout.FilesOf(p)
				found := func(string) ([]byte, error) { return files[0].Data, nil }
				again, err := policy.New("towerdefence", p.Name(), found)
				require.NoError(t, err)
				if p, err := again(s); err != nil || p.Name() != want {
					t.Errorf("%s is called %s, %v", want, p.Name(), err)
				}
			})
		}
	}
}

// The network that comes with the program plays, alone and in a search, and its name has its
// sha256.
func TestBuiltIn(t *testing.T) {
	s := policytest.NewVector(t, "towerdefence", "", 1, 0).Spec()
	sum := sumOf(t, "net")
	for spec, want := range map[string]string{
		"net":                    "net(sha256=" + sum + ")",
		"net(greedy)":            "net(greedy,sha256=" + sum + ")",
		"mcts(sims=2,model=net)": "mcts(sims=2,model=net,sha256=" + sum + ")",
	} {
		t.Run(spec, func(t *testing.T) {
			assert.Equalf(t, want, policytest.NewPolicy(t, "towerdefence", spec, s).Name(), "%q is called", spec)
		})
	}
	for game, specs := range map[string]map[string]string{
		"towerdefence": {"net(sha256=0123456789)": "net: its sha256 is " + sum + ", expected 0123456789"},
		"tron":         {"net": `no policy "net" for tron`},
	} {
		for spec, want := range specs {
			t.Run(game+" "+spec, func(t *testing.T) {
				_, err := policy.New(game, spec)
				assert.ErrorContainsf(t, err, want, "%s, %q", game, spec)
			})
		}
	}
}

// A search with a network has the same result for a row with and without other rows, and
// allocates nothing.
func TestModelSearch(t *testing.T) {
	for _, c := range [][2]string{{"towerdefence", ""}, {"towerdefence", "0.5"}, {"towerdefence", "1"}, {"terminal", ""}} {
		t.Run(c[0]+" "+c[1], func(t *testing.T) {
			game, trust := c[0], c[1]
			v := policytest.NewVector(t, game, "", 11, 0)
			s := v.Spec()
			spec := "mcts(sims=20,model=" + modelFile(t, s, true)
			if trust != "" {
				spec += ",trust=" + trust
			}
			p := policytest.NewPolicy(t, game, spec+")", s)
			b := env.NewBatch(s, 11, p.Wants())
			for i := range 11 {
				v.Reset(i, uint64(i))
			}
			for range 3 {
				v.Observe(b)
				p.Act(v, b, numbers(b.Rows))
				v.Step(b)
			}
			v.Observe(b)
			rows := numbers(b.Rows)
			p.Act(v, b, rows)
			want, lengths := slices.Clone(b.Orders), slices.Clone(b.OrderLen)
			found := p.(rollout.Searcher).SearchResult(20).Shares
			shares := slices.Clone(found)
			for _, row := range slices.Backward(rows) {
				p.Act(v, b, []int32{row})
				if row == 20 && !slices.Equal(p.(rollout.Searcher).SearchResult(row).Shares, shares) {
					t.Errorf("%s: without other rows the shares are %v, with them %v", game, p.(rollout.Searcher).SearchResult(row).Shares, shares)
				}
			}
			for row := range b.Rows {
				from := row * s.Info.MaxOrders
				assert.Truef(t, b.OrderLen[row] == lengths[row] && slices.Equal(b.Orders[from:][:lengths[row]], want[from:][:lengths[row]]), "%s: row %d plays another move alone", game, row)
			}
			n := testing.AllocsPerRun(2, func() { p.Act(v, b, rows) })
			assert.Zerof(t, n, "%s: %v allocations", game, n)
			_, err := policytest.NewMaker(t, game, "mcts(trust=1,model="+modelFile(t, s, false)+")")(s)
			assert.ErrorContainsf(t, err, "untrained.onnx has no output for the value, which a search with trust=1 needs", "%s: the error for a network without a value", game)
		})
	}
}
