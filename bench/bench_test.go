package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env/catalog"
	"moonfarm/rollout/network"
	"moonfarm/sim/simtest"
)

// checksums are the checksums of play. A change that is not meant to change play keeps them.
// A change of play names the rule and raises the version of the rules.
var checksums = map[string]string{
	"codecraft step":               "aee1f49c0ab35cb9",
	"codecraft playout":            "aee1f49c0ab35cb9",
	"codecraft playout-300":        "7e26e4d8cf729dbb",
	"codecraft playout-near":       "4b08d176a0b143dc",
	"codecraft playout-break":      "d9634910aa36be4a",
	"codecraft playout-4p":         "bed4877c27137572",
	"codecraft policy":             "4fb126f5c336b500",
	"codecraft observe":            "89c5e8d6fe493432",
	"codecraft observe-packed":     "874abd89517dd1e1",
	"codecraft clone":              "8d0352ac4e920c41",
	"codecraft stepper":            "41308dc951ddeb0f",
	"terminal step":                "2fd5bbbc6dab22f0",
	"terminal step-events":         "9fc796012469f89e",
	"terminal playout":             "f7a4897d55c7adf3",
	"terminal observe":             "ac3c21f7155a000a",
	"terminal observe-packed":      "8cccca5d14283b82",
	"terminal field":               "d0cdf3677f7cb0cc",
	"terminal clone":               "5971eceaa19c07d3",
	"terminal search":              "6fec97115c4ff76d",
	"terminal search-playouts":     "b5e84fe0a29bc2e0",
	"terminal stepper":             "5d6bbadd64aea42f",
	"tron step":                    "a3e97a954d41ba96",
	"tron playout":                 "a3e97a954d41ba96",
	"tron observe":                 "4f6f4daab0a139ba",
	"tron observe-packed":          "7b5b3e42d0959bac",
	"tron stepper":                 "20928b667dad6a3f",
	"towerdefence step":            "3722e96d59d185ad",
	"towerdefence playout":         "ec42513cc1e740c0",
	"towerdefence batch-step":      "3722e96d59d185ad", // that of step: the same matches
	"towerdefence batch-playout":   "a57faffe7acd33a9",
	"towerdefence search":          "7a6f87ad77bb5ff0",
	"towerdefence search-playouts": "dabf90ab2c155d61",
	"towerdefence observe":         "a77d9c4ae69bb86b",
	"towerdefence observe-packed":  "f421b88859e82b13",
	"towerdefence stepper":         "e7db9e8bb1c0f3ff",
}

func TestSignatures(t *testing.T) {
	for _, g := range catalog.Games() {
		results, err := Run(context.Background(), g.Name, Options{Time: time.Millisecond, What: simulated(t, g.Name), Workers: 1})
		require.NoError(t, err)
		for _, r := range results {
			key := r.Game + " " + r.What
			t.Run(key, func(t *testing.T) {
				assert.Equal(t, checksums[key], r.Checksum)
				assert.Zero(t, r.AllocsPerOp, "allocations per operation")
				assert.Positive(t, r.Value)
				assert.GreaterOrEqual(t, r.Best, r.Value)
				assert.GreaterOrEqual(t, r.Passes, minPasses)
				assert.Equal(t, 1, r.Cores)
			})
		}
	}
}

// networkChecksums are the checksums of the outputs of networks, by name and batch. They are
// the same on every path of every machine.
var networkChecksums = map[string]string{
	"small 1":  "b9b76f12b89a8280",
	"small 32": "b9f07543e8445174",
	"medium 1": "54135419427e7551",
	"28x28 1":  "76c8e19704e59650",
	"80x80 1":  "105344e96b28e6a8",

	"towerdefence 1":  "56c9d8155042b438",
	"towerdefence 32": "426af7f8a6c42e54",
	"terminal 1":      "8132a5a068f4d4c3",
	"terminal 32":     "2430f9830c4f3397",
	"codecraft 1":     "83ed1b250250e8a2",
	"codecraft 32":    "797907a3d75d2535",
}

// TestNetworks compares the bits of the outputs of networks on all paths of this machine
// with those of other machines. Without assembly the largest network and batches take too long.
func TestNetworks(t *testing.T) {
	for _, name := range NetworkNames() {
		assert.NotEqualf(t, "", networkChecksums[name+" 1"], "%s has no checksum here", name)
	}
	for _, path := range []string{"avx512", "avx2", "neon", "portable"} {
		restore, err := network.UsePath(path)
		if err != nil {
			continue
		}
		for key, want := range networkChecksums {
			model, size, _ := strings.Cut(key, " ")
			batch, _ := strconv.Atoi(size)
			if path == "portable" && (model == "80x80" || batch > 1) || testing.Short() && model != "small" {
				continue
			}
			t.Run(path+" "+key, func(t *testing.T) {
				results, err := Networks(context.Background(), []string{model}, NetworkOptions{Time: time.Millisecond, Batches: []int{batch}})
				require.NoError(t, err)
				require.Len(t, results, 1)
				r := results[0]
				assert.Equal(t, want, r.Checksum)
				assert.Equal(t, []any{model, path, batch}, []any{r.Model, r.Path, r.Batch})
				assert.Positive(t, r.Value)
				assert.GreaterOrEqual(t, r.Best, r.Value)
				assert.GreaterOrEqual(t, r.MFLOP, 1.0)
				assert.Positive(t, r.Share)
				assert.InDelta(t, r.Value, r.GFLOPS*1000/r.MFLOP, 0.1+0.01*r.Value)
			})
		}
		restore()
	}
}

// TestResults: the page of results has these checksums, and stays a page of figures.
func TestResults(t *testing.T) {
	page := string(simtest.Text(t, "RESULTS.md"))
	assert.LessOrEqual(t, strings.Count(page, "\n"), 250, "lines of RESULTS.md: figures of one commit, no diary")
	for _, sums := range []map[string]string{checksums, networkChecksums} {
		for of, sum := range sums {
			assert.Contains(t, page, sum, of)
		}
	}
}

// quick has, for games whose passes take long, the figures that the short form of the tests
// measures.
var quick = map[string][]string{"codecraft": {"playout-300", "clone", "stepper"}}

// simulated lists the figures of a game that need no files: all but generate.
func simulated(t *testing.T, game string) (names []string) {
	if list := quick[game]; list != nil && os.Getenv("MOONFARM_LONG") == "" {
		return list
	}
	all, err := FigureNames(game)
	require.NoError(t, err)
	for _, name := range all {
		if !strings.HasPrefix(name, "generate") {
			names = append(names, name)
		}
	}
	return names
}

func TestGenerate(t *testing.T) {
	results, err := Run(context.Background(), "towerdefence", Options{Time: time.Millisecond, What: []string{"generate-none"}, Workers: 2})
	require.NoErrorf(t, err, "%+v", results)
	require.Truef(t, len(results) == 1 && results[0].Value > 0, "%+v", results)
}

func TestRecordedCommands(t *testing.T) {
	file := simtest.Shared(t, "traces", "towerdefence", "playout.jsonl.gz")
	results, err := Run(context.Background(), "towerdefence", Options{Time: time.Millisecond, What: []string{"step", "batch-step"}, Recordings: []string{file}})
	require.NoErrorf(t, err, "%+v", results)
	require.Truef(t, len(results) == 2 && results[0].Ops >= 7000 && results[1].Ops == results[0].Ops, "%+v", results)
	require.Equal(t, results[0].Checksum, results[1].Checksum, "the block plays other games")
	file = simtest.Shared(t, "replays", "terminal", "2026-001.replay.gz")
	results, err = Run(context.Background(), "terminal", Options{Time: time.Millisecond, What: []string{"step", "step-events"}, Recordings: []string{file}})
	require.NoErrorf(t, err, "%+v", results)
	require.Truef(t, len(results) == 2 && results[0].Ops%52 == 0 && results[1].Ops == results[0].Ops, "%+v", results)
}

func TestErrors(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.jsonl")
	require.NoError(t, os.WriteFile(broken, []byte("{\"r\":0"), 0o600))
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name, game, want string
		ctx              context.Context
		o                Options
	}{
		{"game", "chess", "no game", context.Background(), Options{}},
		{"file", "towerdefence", "no such file", context.Background(), Options{What: []string{"step"}, Recordings: []string{broken + "x"}}},
		{"content", "towerdefence", "not a recording", context.Background(), Options{What: []string{"step"}, Recordings: []string{broken}}},
		{"recordings", "codecraft", "not played here", context.Background(), Options{What: []string{"step"}, Recordings: []string{broken}}},
		{"cancel", "towerdefence", "canceled", cancelled, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(c.ctx, c.game, c.o)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// BenchmarkNetworks runs the networks under the testing package's harness, for profiles:
// go test -bench Networks/medium/32 -cpuprofile p ./bench
func BenchmarkNetworks(b *testing.B) {
	for _, model := range NetworkNames() {
		for _, batch := range Batches {
			b.Run(fmt.Sprintf("%s/%d", model, batch), func(b *testing.B) {
				_, m, err := readNetwork(model, 0)
				if err != nil {
					b.Fatal(err)
				}
				n := newRunner(m, batch)
				b.ResetTimer()
				for b.Loop() {
					n.Run(batch)
				}
				b.ReportMetric(float64(batch)*float64(b.N)/b.Elapsed().Seconds(), "evaluations/s")
				b.Logf("%s, checksum %016x", network.Path(), n.checksum())
			})
		}
	}
}

// Benchmark runs every figure under the testing package's harness, for
// profiles: go test -bench towerdefence/playout -cpuprofile p ./bench
func Benchmark(b *testing.B) {
	for game, e := range suites {
		for _, m := range append(append(e.figures(), stepped(game, e)), generated(game, e)...) {
			b.Run(game+"/"+m.what, func(b *testing.B) {
				o := Options{Workers: 2}
				pass, ops, err := m.setup(&o)
				if err != nil {
					b.Fatal(err)
				}
				sum := uint64(0)
				b.ResetTimer()
				for b.Loop() {
					if sum, err = pass(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(ops)*float64(b.N)/b.Elapsed().Seconds(), strings.ReplaceAll(m.unit, "/", "_per_"))
				b.Logf("checksum %016x", sum)
			})
		}
	}
}

// TestAllocations: only the allocations of the median pass count, so that allocations in a
// few passes do not.
func TestAllocations(t *testing.T) {
	var kept []*[16]byte
	passes := 0
	for _, c := range []struct {
		name  string
		every int // every n-th pass allocates
		want  float64
	}{{"every third pass", 3, 0}, {"every pass", 1, 100}} {
		t.Run(c.name, func(t *testing.T) {
			p := func() (uint64, error) {
				if passes++; passes%c.every == 0 {
					for range 1000 {
						kept = append(kept[:0], new([16]byte))
					}
				}
				return 1, nil
			}
			begin := time.Now()
			r, err := timed(t.Context(), p, 0, func() time.Duration { return time.Since(begin) })
			require.NoError(t, err)
			assert.InDelta(t, c.want, r.allocs(10), 1, "allocations per operation")
		})
	}
}
