//go:build onnxruntime && (linux || darwin)

package neural

import (
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
	"moonfarm/rollout/network/ort"
)

// foreign is a network that ONNX Runtime evaluates.
type foreign struct{ *ort.Model }

// Runner implements Model.
func (f foreign) Runner(most int) Runner { return f.NewRunner(most) }

// readONNXRuntime reads a network by ONNX Runtime, whose version it returns.
func readONNXRuntime(data []byte, device string) (m Model, version string, err error) {
	theirs, err := ort.Read(data, device)
	if err != nil {
		return nil, "", err
	}
	if g, err := onnx.Parse(data); err == nil { // else nothing is known of its outputs
		network.Scaled(theirs.Outputs(), g)
	}
	return foreign{theirs}, theirs.Version(), nil
}
