package policy_test

import (
	"slices"
	"strings"
	"testing"

	"moonfarm/env"
)

// TestMisusePanics: a policy that is asked without the slabs that it wants, or
// without a game of its own, says what it misses.
func TestMisusePanics(t *testing.T) {
	for i, c := range games {
		v := newGames(t, c.name, c.rules, 1, 0)
		other := newGames(t, games[(i+1)%len(games)].name, "", 1, 0)
		names := slices.Concat([]string{"random", "empty", "mix(1*random,1*random)"}, scripts(c.name), c.searches)
		for _, name := range names {
			p := newPolicy(t, c.name, name, v.Spec())
			said := func(v env.Vector, b *env.Batch) (fault string) {
				defer func() { fault, _ = recover().(string) }()
				p.Act(v, b, []int32{0})
				return ""
			}
			if got, want := said(v, nil), "env: "+name+": the Batch is nil"; got != want {
				t.Errorf("%s: panic %q, want %q", c.name, got, want)
			}
			if p.Wants() == 0 {
				continue
			}
			if got, want := said(v, env.NewBatch(v.Spec(), 1, 0)), "env: "+name+" needs the slab "; !strings.HasPrefix(got, want) {
				t.Errorf("%s: panic %q, want %q", c.name, got, want)
			}
			if name == "random" || strings.HasPrefix(name, "mix(") {
				continue
			}
			if got, want := said(other, env.NewBatch(v.Spec(), 1, p.Wants())), "policy: "+name+" plays no "; !strings.HasPrefix(got, want) {
				t.Errorf("%s: panic %q, want %q", c.name, got, want)
			}
			if got, want := said(nil, env.NewBatch(v.Spec(), 1, p.Wants())), "policy: "+name+" needs the Vector of its game"; !strings.HasPrefix(got, want) {
				t.Errorf("%s: panic %q, want %q", c.name, got, want)
			}
		}
	}
}
