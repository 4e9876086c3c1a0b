//go:build !onnxruntime

package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/policytest"
)

// The error of a build without ONNX Runtime says so.
func TestNoEngine(t *testing.T) {
	path := modelFile(t, policytest.NewVector(t, "towerdefence", "", 1, 0).Spec(), true)
	for _, options := range []string{"engine=onnxruntime", "engine=onnxruntime-1.24.3,device=cuda"} {
		_, err := policy.New("towerdefence", path+"("+options+")")
		assert.ErrorContains(t, err, "this build has no ONNX Runtime; expected one that was made with -tags onnxruntime", options)
	}
}
