package terminal_test

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/texts"
)

// Tests that compare RULES.md with the code.

// TestClauses checks that every numbered clause has a test, that every such test has a clause, and that
// clauses are numbered without gaps.
func TestClauses(t *testing.T) {
	simtest.RulesPage(t).Clauses(t)
}

// pageValues returns the values of the page's tables, by rule set and key.
func pageValues(t *testing.T) map[string]map[string]string {
	t.Helper()
	values := map[string]map[string]string{}
	for _, name := range terminal.RuleSets() {
		values[name] = map[string]string{}
	}
	set := func(name, key, value string) {
		kinds, rest, group := strings.Cut(key, "–")
		if !group {
			values[name][fullKey(key)] = value
			return
		}
		last, rest, _ := strings.Cut(rest, ".")
		for k := kinds[0]; k <= last[0]; k++ {
			values[name][fullKey(string(k)+"."+rest)] = value
		}
	}
	for _, row := range simtest.RulesPage(t).Tables(t, "key", "all others", "2019")[0].Rows {
		for i := 0; i+2 < len(row); i += 3 {
			if row[i] == "" {
				continue
			}
			for name := range values {
				if name == "2019" {
					set(name, row[i], row[i+2])
				} else {
					set(name, row[i], row[i+1])
				}
			}
		}
	}
	for _, table := range simtest.RulesPage(t).Tables(t, "key", "classic") {
		for _, row := range table.Rows {
			for i, name := range table.Head[1:] {
				if values[name][fullKey(row[0])] != "" {
					t.Errorf("%s is in both tables", row[0])
				}
				if row[i+1] != "–" {
					set(name, row[0], row[i+1])
				}
			}
		}
	}
	return values
}

func fullKey(key string) string {
	if key[0] >= '0' && key[0] <= '9' {
		return "unitInformation." + key
	}
	return key
}

// TestRuleValues compares the values of the page with those of all rule sets.
func TestRuleValues(t *testing.T) {
	for name, values := range pageValues(t) {
		rules, ok := terminal.RuleSet(name)
		require.Truef(t, ok, "the page has a rule set %q", name)
		seen := 0
		for _, rule := range rules.Table() {
			key, value := rule.Key, string(rule.AppendText(nil))
			got, listed := values[key]
			if listed {
				seen++
			} else if got = "0"; value == "false" {
				got = value
			}
			if base, upgrade, ok := strings.Cut(key, ".upgrade."); ok && !listed && values[base+".upgrade"] == "true" {
				if value, ok := values[base+"."+upgrade]; ok {
					got = value
				}
			}
			if got != value {
				t.Errorf("%s: %s is %s, on the page %q", name, key, value, got)
			}
		}
		assert.Equalf(t, len(values), seen, "%s: %d keys of the page are not keys of the rules", name, len(values)-seen)
	}
}

// TestChoices compares the table of section 6 with the default rules.
func TestChoices(t *testing.T) {
	defaults := terminal.DefaultRules()
	lines := "\n" + string(texts.AppendRules(nil, defaults.Table()))
	rows := simtest.RulesPage(t).Tables(t, "rule", "key", "default")[0].Rows
	for _, row := range rows {
		assert.Containsf(t, lines, "\n"+row[1]+"="+row[2]+"\n", "%s is not %s", row[1], row[2])
		field := reflect.ValueOf(&defaults).Elem().FieldByName(row[0])
		assert.Truef(t, field.IsValid() && strings.EqualFold("moonfarm."+row[0], row[1]) && fmt.Sprint(field) == row[2], "Rules.%s is %v, the page says %s", row[0], field, row[2])
	}
	n := strings.Count(lines, "\nmoonfarm.")
	assert.Equalf(t, len(rows), n, "%d choices on the page, the rules have %d", len(rows), n)
}

// TestRuleTable checks that the page lists all rules, and that every field is a rule.
func TestRuleTable(t *testing.T) {
	var rules terminal.Rules
	kind := regexp.MustCompile(`^unitInformation\.\d\.(upgrade\.)?`)
	simtest.RulesPage(t).RuleTable(t, &rules, rules.Table(), func(key string) string { return kind.ReplaceAllString(key, "") })
}

// TestNames checks the names of section 8.
func TestNames(t *testing.T) {
	simtest.RulesPage(t).Names(t, new(terminal.State), new(terminal.Game), new(terminal.Cell), new(terminal.Record))
}

// TestOrderBits compares the bit table of the page with the orders that the package makes and with
// Decode.
func TestOrderBits(t *testing.T) {
	bits := simtest.RulesPage(t).OrderBits(t)
	for name, c := range map[string]struct {
		o    sim.Order
		want terminal.Command
	}{
		"nothing": {terminal.Nothing, terminal.Command{}},
		"place":   {terminal.Place(terminal.Turret, 5, 12), terminal.Command{Kind: terminal.Turret, X: 5, Y: 12}},
		"upgrade": {terminal.UpgradeAt(5, 12), terminal.Command{X: 5, Y: 12}},
		"remove":  {terminal.RemoveAt(5, 12), terminal.Command{X: 5, Y: 12}},
		"spawn":   {terminal.Spawn(terminal.Interceptor, 5, 12, 77), terminal.Command{Kind: terminal.Interceptor, X: 5, Y: 12, Count: 77}},
		"clock":   {terminal.Clock(4_000_000_000), terminal.Command{Count: 4_000_000_000}},
		"penalty": {terminal.Penalty(2.5), terminal.Command{Count: math.Float32bits(2.5)}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &c.want
			op, ok := bits.Ops[name]
			require.True(t, ok, "the page has the op")
			w.Op = terminal.Op(op)
			fields := map[string]uint64{"op": op, "kind": uint64(w.Kind), "x": uint64(w.X), "y": uint64(w.Y), "count": uint64(w.Count)}
			require.Equal(t, c.o, bits.Pack(t, fields))
			require.Equal(t, *w, terminal.Decode(c.o))
			fields["swap"], w.Swapped = 1, true
			require.Equal(t, terminal.Swap(c.o), bits.Pack(t, fields))
			require.Equal(t, *w, terminal.Decode(terminal.Swap(c.o)))
		})
	}
	assert.Len(t, bits.Ops, 7, "the page lists the ops")
	assert.Equal(t, uint32(1), terminal.Decode(terminal.Spawn(terminal.Scout, 5, 12, 0)).Count, "a spawn without a count is one")
}
