//go:build !onnxruntime || !(linux || darwin)

package neural

import "errors"

// readONNXRuntime tells that the engine is not here.
func readONNXRuntime([]byte, string) (m Model, version string, err error) {
	return nil, "", errors.New("this build has no ONNX Runtime; expected one that was made with -tags onnxruntime, for Linux or macOS")
}
