package policy_test

import (
	"slices"
	"strings"
	"testing"

	"moonfarm/env"
	"moonfarm/rollout/policy/policytest"
)

// TestMisusePanics: Act panics with a message about the missing part if the batch lacks slabs
// that the policy wants, or if the vector plays another game.
func TestMisusePanics(t *testing.T) {
	for i, c := range games {
		v := policytest.NewVector(t, c.name, c.rules, 1, 0)
		other := policytest.NewVector(t, games[(i+1)%len(games)].name, "", 1, 0)
		names := slices.Concat([]string{"random", "empty", "mix(1*random,1*random)"}, policytest.Scripts(c.name), c.searches)
		for _, name := range names {
			p := policytest.NewPolicy(t, c.name, name, v.Spec())
			panicOf := func(v env.Vector, b *env.Batch) (fault string) {
				defer func() { fault, _ = recover().(string) }()
				p.Act(v, b, []int32{0})
				return ""
			}
			if p.Wants() == 0 {
				continue
			}
			if got, want := panicOf(v, env.NewBatch(v.Spec(), 1, 0)), "env: "+name+" needs the slab "; !strings.HasPrefix(got, want) {
				t.Errorf("%s: panic %q, want %q", c.name, got, want)
			}
			if name == "random" || strings.HasPrefix(name, "mix(") {
				continue
			}
			if got, want := panicOf(other, env.NewBatch(v.Spec(), 1, p.Wants())), "policy: "+name+" plays no "; !strings.HasPrefix(got, want) {
				t.Errorf("%s: panic %q, want %q", c.name, got, want)
			}
		}
	}
}
