//go:build onnxruntime && linux

package policy_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"moonfarm/env"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/policytest"
)

// TestEngine: a network that ONNX Runtime evaluates plays like the same network here, greedily
// and in a search, and its name has the version of the library.
func TestEngine(t *testing.T) {
	if os.Getenv("MOONFARM_ONNXRUNTIME") == "" {
		t.Skip("set MOONFARM_ONNXRUNTIME to the path of ONNX Runtime's library to play by it")
	}
	v := policytest.NewVector(t, "towerdefence", "", 20, 0)
	s := v.Spec()
	path := modelFile(t, s, true)
	for own, theirs := range map[string]string{
		path + "(greedy)":                 path + "(greedy,engine=onnxruntime,device=cpu)",
		"mcts(sims=9,model=" + path + ")": "mcts(sims=9,model=" + path + ",engine=onnxruntime)",
	} {
		here, there := policytest.NewPolicy(t, "towerdefence", own, s), policytest.NewPolicy(t, "towerdefence", theirs, s)
		if !regexp.MustCompile(`[,(]engine=onnxruntime-[0-9.]+,`).MatchString(there.Name()) {
			t.Errorf("%s is called %s", theirs, there.Name())
		}
		name := strings.Replace(there.Name(), "untrained.onnx", path, 1)
		if again := policytest.NewPolicy(t, "towerdefence", name, s); again.Name() != there.Name() {
			t.Errorf("%s is called %s", name, again.Name())
		}
		b := env.NewBatch(s, 20, here.Wants()|there.Wants())
		for i := range 20 {
			v.Reset(i, uint64(i))
		}
		for turn := range 5 {
			v.Observe(b)
			there.Act(v, b, numbers(b.Rows))
			action, orders := slices.Clone(b.Action), slices.Clone(b.Orders)
			here.Act(v, b, numbers(b.Rows))
			if !slices.Equal(b.Action, action) || !slices.Equal(b.Orders, orders) {
				t.Errorf("%s: another choice in turn %d", theirs, turn)
			}
			v.Step(b)
		}
	}
	_, err := policy.New("towerdefence", path+"(engine=onnxruntime-1.2.3)")
	if err == nil || !strings.Contains(err.Error(), "untrained.onnx: expected the engine onnxruntime-1.2.3, found onnxruntime-") {
		t.Errorf("the error for another version is %v", err)
	}
}
