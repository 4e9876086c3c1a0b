package bench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"moonfarm/rollout/network"
	"moonfarm/rollout/network/benchnets"
	"moonfarm/rollout/network/onnx"
	"moonfarm/sim/prng"
)

// NetworkFigure is the speed of a network in batches of one size, on one core.
type NetworkFigure struct {
	Model    string  `json:"model"` // a name of NetworkNames, or a file
	Batch    int     `json:"batch"`
	Value    float64 `json:"value"` // evaluations a second of processor time, median over the passes
	Best     float64 `json:"best"`  // the fastest pass
	MFLOP    float64 `json:"mflop"` // of an evaluation, in convolutions and products of matrices
	GFLOPS   float64 `json:"gflops"`
	Peak     float64 `json:"peak_gflops"` // of the core, measured beside the passes
	Share    float64 `json:"share_of_peak"`
	Path     string  `json:"path"` // the kernels: avx512, avx2, neon or portable
	Passes   int     `json:"passes"`
	Ops      int     `json:"ops_per_pass"` // evaluations
	Checksum string  `json:"checksum"`     // of all outputs: the same on every machine
}

// NetworkOptions select the batches and the time for each figure.
type NetworkOptions struct {
	Time     time.Duration // minimum time per figure
	Batches  []int         // sizes of batches, at least 1
	Work     int           // most operations of an evaluation of a file, in thousands of millions; 0: network.Most
	Progress func(what string)
}

// Batches are the default sizes of batches.
var Batches = []int{1, 32, 256}

// NetworkNames returns the names of the networks that are measured by default: those of package benchnets, and the games
// with a network for the policy net.
func NetworkNames() (names []string) {
	for _, t := range benchnets.All {
		names = append(names, t.Name)
	}
	for _, game := range slices.Sorted(maps.Keys(suites)) {
		if suites[game].network != nil {
			names = append(names, game)
		}
	}
	return names
}

// Networks measures models, by default those of NetworkNames. A model is a name of
// NetworkNames or the path of an ONNX file. Networks fails for a file that cannot be read,
// and if two passes differ.
func Networks(ctx context.Context, models []string, o NetworkOptions) ([]NetworkFigure, error) {
	if len(models) == 0 {
		models = NetworkNames()
	}
	runtime.LockOSThread() // its processor time is measured
	defer runtime.UnlockOSThread()
	var results []NetworkFigure
	peak := 0.0
	for _, model := range models {
		name, m, err := readNetwork(model, o.Work)
		if err != nil {
			return nil, err
		}
		for _, batch := range o.Batches {
			if o.Progress != nil {
				o.Progress(fmt.Sprintf("%s, batches of %d", name, batch))
			}
			peak = max(peak, network.Peak())
			r, err := runNetwork(ctx, m, batch, o.Time)
			if err != nil {
				return nil, fmt.Errorf("%s, batches of %d: %w", name, batch, err)
			}
			r.Model = name
			results = append(results, r)
		}
	}
	peak = max(peak, network.Peak())
	for i := range results {
		r := &results[i]
		r.Peak, r.Share = tenths(peak/1e9), math.Round(1e12*r.GFLOPS/peak)/1e3
	}
	return results, nil
}

// readNetwork reads a network of NetworkNames, or a file.
func readNetwork(model string, work int) (name string, m *network.Model, err error) {
	if i := slices.IndexFunc(benchnets.All, func(t benchnets.Net) bool { return t.Name == model }); i >= 0 {
		m, err = network.Read(benchnets.All[i].File(), 0)
		return model, m, err
	}
	if file := suites[model].network; file != nil {
		m, err = network.Read(file, 0)
		return model, m, err
	}
	data, err := onnx.ReadFile(model)
	if err != nil {
		return "", nil, err
	}
	if m, err = network.Read(data, int64(work)*1e9); err != nil {
		err = fmt.Errorf("%s: %w", model, err)
	}
	return filepath.Base(model), m, err
}

// passTime is the approximate time of a pass. A batch may take longer.
const passTime = 10 * time.Millisecond

// runNetwork measures a model in batches of a size.
func runNetwork(ctx context.Context, m *network.Model, batch int, least time.Duration) (NetworkFigure, error) {
	n, clock := newRunner(m, batch), processorClock()
	n.Run(batch) // the first run touches fresh memory
	begin := clock()
	n.Run(batch)
	times := 1 + int(passTime/max(1, clock()-begin))
	pass := func() (uint64, error) {
		for range times {
			n.Run(batch)
		}
		return n.checksum(), nil
	}
	t, err := timed(ctx, pass, least, clock)
	if err != nil {
		return NetworkFigure{}, err
	}
	ops := float64(times * batch)
	r := NetworkFigure{Batch: batch, Path: network.Path(), Passes: len(t.seconds), Ops: times * batch, Checksum: t.checksum}
	r.Value, r.Best = tenths(ops/t.median()), tenths(ops/t.seconds[0])
	r.MFLOP = math.Round(float64(m.FLOPs())/1e3) / 1e3
	r.GFLOPS = math.Round(ops/t.median()*float64(m.FLOPs())/1e6) / 1e3
	return r, nil
}

func tenths(x float64) float64 { return math.Round(x*10) / 10 }

// runner is a network.Runner with inputs.
type runner struct {
	*network.Runner
	outputs [][]float32
}

// newRunner makes a runner for batches of that size. The inputs are random numbers from 0
// to 1, or random bytes 0 or 1, and the same on every machine.
func newRunner(m *network.Model, batch int) *runner {
	n := &runner{Runner: m.NewRunner(batch)}
	random := prng.New(1)
	for _, v := range m.Inputs {
		for i := range v.Len() * batch {
			x := random.Uint64() >> 40 // 24 bits, which a float32 holds exactly
			if v.Type == onnx.Float32 {
				n.Floats(v.Name)[i] = float32(x) / (1 << 24)
			} else {
				n.Bytes(v.Name)[i] = uint8(x >> 23)
			}
		}
	}
	for _, v := range m.Outputs {
		n.outputs = append(n.outputs, n.Output(v.Name))
	}
	return n
}

// checksum returns the checksum of the bits of all outputs.
func (r *runner) checksum() uint64 {
	d := prng.Digest(0)
	for _, out := range r.outputs {
		for _, x := range out {
			bits := math.Float32bits(x)
			if x != x { // NaN has many bit patterns
				bits = 0x7fc00000
			}
			d.Add(uint64(bits))
		}
	}
	return d.Sum()
}
