//go:build !onnxruntime || !(linux || darwin)

package neural

import "errors"

// readONNXRuntime fails: this build has no ONNX Runtime.
func readONNXRuntime([]byte, string) (m Model, version string, err error) {
	return nil, "", errors.New("this build has no ONNX Runtime; expected one that was made with -tags onnxruntime, for Linux or macOS")
}
