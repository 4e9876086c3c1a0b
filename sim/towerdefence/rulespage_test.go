package towerdefence_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
)

// Tests that compare RULES.md with the code.

// TestClauses checks that every numbered clause has a test, every such test a
// clause, and that clauses are numbered without gaps.
func TestClauses(t *testing.T) {
	simtest.RulesPage(t).Clauses(t)
}

// TestRuleValues compares the values of the page with the configuration file;
// every key must be there.
func TestRuleValues(t *testing.T) {
	want := map[string]string{}
	for line := range strings.Lines(string(towerdefence.DefaultRules().AppendText(nil))) {
		key, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "game.config.")), "=")
		want[key] = value
	}
	got := map[string]string{}
	page := simtest.RulesPage(t)
	for _, row := range page.Tables(t, "key", "value", "key", "value")[0].Rows {
		got[row[0]], got[row[2]] = row[1], row[3]
	}
	kinds := page.Tables(t, "key, after `<kind>.config.")[0]
	for _, row := range kinds.Rows {
		for i, k := range kinds.Head[1:] {
			got[k+".config."+row[0]] = row[i+1]
		}
	}
	delete(got, "")
	for key, value := range want {
		assert.Equalf(t, value, got[key], "%s: the page says %q, the rules %q", key, got[key], value)
	}
	assert.Equalf(t, len(want), len(got), "%d keys on the page, want %d", len(got), len(want))
}

// TestOrderBits compares the bit table of the page with Decode and the orders
// that the package makes.
func TestOrderBits(t *testing.T) {
	bits := simtest.RulesPage(t).OrderBits(t)
	orders := map[string]sim.Order{
		"nothing": towerdefence.Nothing, "curtain": towerdefence.Curtain, "refused": towerdefence.Refused,
		"defense": towerdefence.Build(towerdefence.Defense, 5, 6), "attack": towerdefence.Build(towerdefence.Attack, 5, 6),
		"energy": towerdefence.Build(towerdefence.Energy, 5, 6), "tesla": towerdefence.Build(towerdefence.Tesla, 5, 6),
		"deconstruct": towerdefence.Deconstruct(5, 6),
	}
	assert.Equalf(t, len(orders), len(bits.Ops), "the page lists the ops %v", bits.Ops)
	for name, o := range orders {
		for failures := range 4 {
			want := towerdefence.Command{Op: towerdefence.Op(bits.Ops[name]), X: 5, Y: 6, Failures: failures}
			if name == "nothing" || name == "curtain" || name == "refused" {
				want.X, want.Y = 0, 0
			}
			got := towerdefence.Failed(o, failures)
			fields := map[string]uint64{"op": bits.Ops[name], "cell": uint64(want.Y*8 + want.X), "failures": uint64(failures)}
			if packed := bits.Pack(t, fields); got != packed || towerdefence.Decode(got) != want {
				t.Errorf("%s, %d failures: the order is %#x, by the table %#x: %+v, want %+v", name, failures, got, packed, towerdefence.Decode(got), want)
			}
		}
	}
	assert.NotEqualf(t, sim.Order(0), towerdefence.Aborted&bits.Pack(t, map[string]uint64{"abort": 1}), "Aborted is %#x", towerdefence.Aborted)
}

// TestRuleTable checks that the page lists every field of Rules except the
// handicap, which has keys of its own (section 6).
func TestRuleTable(t *testing.T) {
	rules := towerdefence.DefaultRules()
	kind := regexp.MustCompile(`(defense|attack|energy|tesla)\.config\.`)
	simtest.RulesPage(t).RuleTable(t, &rules, rules.Table(), func(key string) string {
		return kind.ReplaceAllString(strings.TrimPrefix(key, "game.config."), "…")
	}, "Handicap.Energy", "Handicap.Health")
}
