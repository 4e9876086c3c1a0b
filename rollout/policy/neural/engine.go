package neural

import (
	"cmp"
	"fmt"
	"strings"

	"moonfarm/rollout/network"
)

// Model is a network that can be evaluated: read-only, for any number of goroutines.
type Model interface {
	Inputs() []network.Value
	Outputs() []network.Value
	// Runner makes a runner for batches of up to most rows, for one goroutine at a time.
	Runner(most int) Runner
}

// Runner evaluates batches, as network.Runner does.
type Runner interface {
	Floats(name string) []float32
	Bytes(name string) []uint8
	Output(name string) []float32
	Run(n int)
}

// Own is a network that package network evaluates, with the same bits on every machine.
func Own(m *network.Model) Model { return own{m} }

type own struct{ *network.Model }

// Runner implements Model.
func (o own) Runner(most int) Runner { return o.NewRunner(most) }

// Engine says what evaluates a network, and where.
type Engine struct {
	Name   string // "": package network; ONNXRuntime, of any version, or behind a "-" of that version
	Device string // "cpu" or "", with ONNX Runtime also "cuda" and "cuda:N"
}

// ONNXRuntime is the name of the engine of package ort. Its bits depend on the machine.
const ONNXRuntime = "onnxruntime"

// Read reads a network from the bytes of an ONNX file. name is that of the engine, with
// its version. It fails for a file that the engine refuses, and for an engine, a version or
// a device that is not here.
func (e Engine) Read(data []byte) (m Model, name string, err error) {
	if e.Name == "" {
		own, err := network.Read(data)
		if err != nil {
			return nil, "", err
		}
		return Own(own), "", nil
	}
	m, version, err := readONNXRuntime(data, cmp.Or(e.Device, "cpu"))
	if err != nil {
		return nil, "", err
	}
	if name = ONNXRuntime + "-" + version; e.Name != name && e.Name != ONNXRuntime {
		return nil, "", fmt.Errorf("expected the engine %s, found %s", e.Name, name)
	}
	return m, name, nil
}

// Check fails for an engine of which nobody has heard, and for a device that no engine
// of that name has.
func (e Engine) Check() error {
	known := e.Name == ONNXRuntime || strings.HasPrefix(e.Name, ONNXRuntime+"-")
	if e.Name != "" && !known {
		return fmt.Errorf("engine=%s, expected %s or nothing", e.Name, ONNXRuntime)
	}
	switch kind, number, given := strings.Cut(e.Device, ":"); {
	case e.Device == "" || e.Device == "cpu":
		return nil
	case kind != "cuda" || given && (number == "" || len(number) > 3 || strings.Trim(number, "0123456789") != ""):
		return fmt.Errorf("device=%s, expected cpu, cuda or cuda:N", e.Device)
	case !known:
		return fmt.Errorf("device=%s, expected cpu: other devices want engine=%s, in a build with that", e.Device, ONNXRuntime)
	}
	return nil
}
