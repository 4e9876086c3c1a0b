package neural

import (
	"cmp"
	"fmt"
	"strings"

	"moonfarm/rollout/network"
)

// Model is a network. It is read-only and safe for concurrent use.
type Model interface {
	Inputs() []network.Value
	Outputs() []network.Value
	// Runner makes a runner for batches of at most `most` rows, for one goroutine at a time.
	Runner(most int) Runner
}

// Runner evaluates batches, as network.Runner does.
type Runner interface {
	Floats(name string) []float32
	Bytes(name string) []uint8
	Output(name string) []float32
	Run(n int)
}

// Own returns a Model that package network evaluates, with the same bits on every machine.
func Own(m *network.Model) Model { return own{m} }

type own struct{ *network.Model }

// Runner implements Model.
func (o own) Runner(most int) Runner { return o.NewRunner(most) }

// Engine is a library that evaluates networks, and its device.
type Engine struct {
	Name   string // "": package network; ONNXRuntime: any version; ONNXRuntime + "-" + version: that version
	Device string // "cpu" or "", with ONNX Runtime also "cuda" and "cuda:N"
	Work   int    // with package network: the most operations of an evaluation, in thousands of millions; 0: network.Most
}

// ONNXRuntime is the name of the engine of package ort. Its bits depend on the machine.
const ONNXRuntime = "onnxruntime"

// Read reads a network from the bytes of an ONNX file. name is the engine's name with its
// version. Read fails for a file that the engine refuses, and for an engine, a version or a
// device that is not available.
func (e Engine) Read(data []byte) (m Model, name string, err error) {
	if e.Name == "" {
		own, err := network.Read(data, int64(e.Work)*1e9)
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

// Check fails for an unknown engine, and for a device that the engine cannot have.
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
		return fmt.Errorf("device=%s, expected cpu: other devices need engine=%s, in a build with it", e.Device, ONNXRuntime)
	}
	return nil
}
