//go:build onnxruntime && linux

package ort

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"moonfarm/rollout/network"
	"moonfarm/rollout/network/benchnets"
	"moonfarm/rollout/network/onnx"
	"moonfarm/sim/prng"
)

// needLibrary skips a test if there is no library.
func needLibrary(t testing.TB) {
	t.Helper()
	if os.Getenv(libraryVariable) == "" {
		t.Skipf("set %s to the path of ONNX Runtime's library to compare with it", libraryVariable)
	}
}

// runner is the common interface of both engines' runners.
type runner interface {
	Floats(name string) []float32
	Bytes(name string) []uint8
	Output(name string) []float32
	Run(n int)
}

// fill fills all inputs with random numbers.
func fill(r runner, inputs []network.Value, rows int) {
	random := prng.New(1)
	for _, v := range inputs {
		for i := range rows * v.Len() {
			x := random.Uint64() >> 40
			if v.Type == onnx.Float32 {
				r.Floats(v.Name)[i] = float32(x) / (1 << 24)
			} else {
				r.Bytes(v.Name)[i] = uint8(x >> 23)
			}
		}
	}
}

// both reads a file with both engines.
func both(t testing.TB, data []byte) (*network.Model, *Model) {
	t.Helper()
	own, err := network.Read(data, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := Read(data, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	return own, theirs
}

// TestSame: ONNX Runtime has the same inputs, outputs and, up to rounding, results as package
// network, and the results of a row do not depend on the size of the batch.
func TestSame(t *testing.T) {
	needLibrary(t)
	files, err := filepath.Glob("../testdata/*.onnx")
	if err != nil || len(files) < 12 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		const rows = 5
		own, theirs := both(t, data)
		if !sameValues(own.Inputs(), theirs.Inputs()) || !sameValues(own.Outputs(), theirs.Outputs()) {
			t.Errorf("%s: ONNX Runtime has %v and %v, package network %v and %v", file, theirs.Inputs(), theirs.Outputs(), own.Inputs(), own.Outputs())
			continue
		}
		a, b := own.NewRunner(rows), theirs.NewRunner(rows)
		fill(a, own.Inputs(), rows)
		fill(b, own.Inputs(), rows)
		a.Run(rows)
		b.Run(rows)
		for _, v := range own.Outputs() {
			want, got := a.Output(v.Name), b.Output(v.Name)
			off := 0.0
			for i := range want {
				d := math.Abs(float64(got[i])-float64(want[i])) / max(1, math.Abs(float64(want[i])))
				if !(d <= off) {
					off = d
				}
			}
			t.Logf("%-18s %-7s off by %.1e", filepath.Base(file), v.Name, off)
			if !(off <= 1e-4) || len(got) != len(want) {
				t.Errorf("%s: output %s is off by %g", file, v.Name, off)
			}
			first := slices.Clone(got[:2*v.Len()])
			clear(got)
			b.Run(2)
			if !slices.Equal(got[:2*v.Len()], first) || slices.ContainsFunc(got[2*v.Len():], func(x float32) bool { return x != 0 }) {
				t.Errorf("%s: output %s of two rows differs from that of five", file, v.Name)
			}
		}
	}
}

func sameValues(a, b []network.Value) bool {
	return slices.EqualFunc(a, b, func(x, y network.Value) bool {
		return x.Name == y.Name && x.Type == y.Type && slices.Equal(x.Dims, y.Dims)
	})
}

// TestMore evaluates an operator that package network lacks.
func TestMore(t *testing.T) {
	needLibrary(t)
	g := onnx.Graph{Opset: 13,
		Inputs:  []onnx.Value{{Name: "x", Type: onnx.Float32, Dims: []onnx.Dim{{Size: -1}, {Size: 3}}}},
		Outputs: []onnx.Value{{Name: "y", Type: onnx.Float32}},
		Nodes:   []*onnx.Node{{Name: "n", Op: "Acosh", Inputs: []string{"x"}, Outputs: []string{"y"}}},
	}
	data := onnx.Encode(&g)
	if _, err := network.Read(data, 0); err == nil {
		t.Error("package network has the operator, too")
	}
	m, err := Read(data, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	r := m.NewRunner(1)
	copy(r.Floats("x"), []float32{1, 2, 3})
	r.Run(1)
	for i, x := range r.Output("y") {
		if want := math.Acosh(float64(i + 1)); math.Abs(float64(x)-want) > 1e-6 {
			t.Errorf("acosh %d is %v, want %v", i+1, x, want)
		}
	}
	if r.Floats("z") != nil || r.Bytes("x") != nil || r.Output("x") != nil {
		t.Error("memory of what the model does not have")
	}
}

func TestErrors(t *testing.T) {
	needLibrary(t)
	file := func(typ onnx.Type, dims ...int64) []byte {
		g := onnx.Graph{Opset: 13, Inputs: []onnx.Value{{Name: "x", Type: typ}}, Outputs: []onnx.Value{{Name: "y", Type: typ}},
			Nodes: []*onnx.Node{{Op: "Identity", Inputs: []string{"x"}, Outputs: []string{"y"}}}}
		for _, d := range dims {
			g.Inputs[0].Dims = append(g.Inputs[0].Dims, onnx.Dim{Size: d})
		}
		return onnx.Encode(&g)
	}
	good := file(onnx.Float32, -1, 3)
	for _, c := range []struct {
		name, device, want string
		data               []byte
	}{
		{"nothing", "cpu", "expected an ONNX file, found nothing", nil},
		{"noise", "cpu", "ONNX Runtime: ", []byte("noise")},
		{"half", "cpu", "ONNX Runtime: ", good[:len(good)/2]},
		{"whole numbers", "cpu", `input "x": expected elements of float32, uint8 or bool, found int64`, file(onnx.Int64, -1, 3)},
		{"bytes out", "cpu", `output "y": expected elements of float32, found uint8`, file(onnx.Uint8, -1, 3)},
		{"fixed", "cpu", `input "x": expected a batch of any size or of 1 as first dimension, found [8 3]`, file(onnx.Float32, 8, 3)},
		{"unknown", "cpu", `input "x": expected known dimensions of 1 to 16777216 elements in all, found [-1 -1]`, file(onnx.Float32, -1, -1)},
		{"large", "cpu", `input "x": expected known dimensions`, file(onnx.Float32, -1, 1<<20, 1<<40)},
		{"device", "cuda:7", "device cuda:7: ONNX Runtime: ", good},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Read(c.data, c.device); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	m, err := Read(good, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if fault, _ := recover().(string); fault != "ort: expected 0 to 2 rows, found 3" {
			t.Errorf("the panic for too many rows is %q", fault)
		}
	}()
	m.NewRunner(2).Run(3)
}

// cpuTime returns the processor time of all threads of this process, including those of a
// library.
func cpuTime(b *testing.B) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// BenchmarkRatio evaluates the networks of benchnets with both engines in turn. It reports the
// processor time of ONNX Runtime divided by that of package network, as the median of the turns.
func BenchmarkRatio(b *testing.B) {
	needLibrary(b)
	type named struct {
		name string
		file []byte
	}
	var nets []named
	for _, net := range benchnets.All {
		nets = append(nets, named{net.Name, net.File()})
	}
	shipped, err := filepath.Glob("../../policy/models/*.onnx")
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range shipped {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		nets = append(nets, named{filepath.Base(file), data})
	}
	for _, net := range nets {
		own, theirs := both(b, net.file)
		for _, batch := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/%d", net.name, batch), func(b *testing.B) {
				engines := []runner{own.NewRunner(batch), theirs.NewRunner(batch)}
				for _, r := range engines {
					fill(r, own.Inputs(), batch)
					r.Run(batch)
				}
				const turn = 40 * time.Millisecond
				begin := cpuTime(b)
				engines[0].Run(batch)
				times := 1 + int(turn/(cpuTime(b)-begin))
				var ratios []float64
				var spent [2]time.Duration
				for range b.N {
					var each [2]time.Duration
					for i, r := range engines {
						begin := cpuTime(b)
						for range times {
							r.Run(batch)
						}
						each[i] = cpuTime(b) - begin
						spent[i] += each[i]
					}
					ratios = append(ratios, each[1].Seconds()/each[0].Seconds())
				}
				slices.Sort(ratios)
				n := float64(b.N * times * batch)
				b.ReportMetric(ratios[len(ratios)/2], "ratio")
				b.ReportMetric(n/spent[0].Seconds(), "own/s")
				b.ReportMetric(n/spent[1].Seconds(), "ort/s")
			})
		}
	}
}
