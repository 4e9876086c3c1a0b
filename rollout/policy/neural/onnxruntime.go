//go:build onnxruntime && (linux || darwin)

package neural

import (
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
	"moonfarm/rollout/network/ort"
)

// foreign adapts a network of ONNX Runtime to Model.
type foreign struct{ *ort.Model }

// Runner implements Model.
func (f foreign) Runner(most int) Runner { return f.NewRunner(most) }

// readONNXRuntime reads a network with ONNX Runtime, and returns the library's version.
func readONNXRuntime(data []byte, device string) (m Model, version string, err error) {
	theirs, err := ort.Read(data, device)
	if err != nil {
		return nil, "", err
	}
	if g, err := onnx.Parse(data); err == nil { // else the scales of the outputs stay unknown
		network.Scaled(theirs.Outputs(), g)
	}
	return foreign{theirs}, theirs.Version(), nil
}
