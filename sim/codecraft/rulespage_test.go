package codecraft_test

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// Tests that compare RULES.md with the code.

// TestClauses checks that every numbered clause has a test, that every such test has a clause, and
// that the numbers of clauses have no gaps.
func TestClauses(t *testing.T) {
	simtest.RulesPage(t).Clauses(t)
}

// pageValues returns the values of a preset on the page, by key.
func pageValues(t *testing.T, preset string) map[string]string {
	t.Helper()
	values := map[string]string{}
	set := func(key, value string) {
		assert.Equalf(t, "", values[key], "%s appears twice", key)
		if value != "" {
			values[key] = value
		}
	}
	games := simtest.RulesPage(t).Tables(t, "key", "finals", "round2", "round1")[0]
	for i, name := range games.Head {
		for _, row := range games.Rows {
			if name == preset {
				set(row[0], row[i])
			}
		}
	}
	types := simtest.RulesPage(t).Tables(t, "key, after the type")[0]
	for _, row := range types.Rows {
		for i, kind := range types.Head {
			if i > 0 && row[0] != "number" {
				set(kind+"."+row[0], row[i])
			} else if i > 0 {
				if k, ok := codecraft.TypeNamed(kind); !ok || strconv.Itoa(int(k)) != row[i] {
					t.Errorf("%s has the number %d", kind, k)
				}
			}
		}
	}
	for _, row := range simtest.RulesPage(t).Tables(t, "key", "types, in this order")[0].Rows {
		set(row[0], strings.ReplaceAll(row[1], ", ", ","))
	}
	for _, row := range simtest.RulesPage(t).Tables(t, "rule", "key", "default")[0].Rows {
		set(row[1], row[2])
	}
	return values
}

// TestRuleValues compares the values on the page with the presets.
func TestRuleValues(t *testing.T) {
	for _, name := range codecraft.Presets() {
		rules, _ := codecraft.Preset(name)
		values := pageValues(t, name)
		for line := range strings.Lines(string(rules.AppendText(nil))) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			got := values[key]
			if got == "" && (value == "0" || value == "false" || value == "") {
				got = value
			}
			if got != value {
				t.Errorf("%s: %s is %q, on the page %q", name, key, value, got)
			}
			delete(values, key)
		}
		for key := range values {
			t.Errorf("%s: %s is no key of the rules", name, key)
		}
	}
}

// TestStartTable compares the table of clause 2.5 with the start.
func TestStartTable(t *testing.T) {
	rows := map[string]string{}
	for _, row := range simtest.RulesPage(t).Tables(t, "type", "x", "y")[0].Rows {
		rows[row[0]] = row[1] + "," + row[2]
	}
	g := mustGame(t, "round1-1", nil)
	var s codecraft.State
	g.Reset(&s, 1)
	for _, u := range s.Units[:s.N] {
		at := fmt.Sprintf("%d,%d", u.X, u.Y)
		assert.Equalf(t, at, rows[u.Type.String()], "%v starts at %s, on the page %s", u.Type, at, rows[u.Type.String()])
	}
	assert.Equalf(t, int(s.N), len(rows), "%d types on the page, %d start", len(rows), s.N)
}

// TestRuleTable checks that the page lists all rules, and that each is a field.
func TestRuleTable(t *testing.T) {
	rules := codecraft.DefaultRules()
	rules.Generator = codecraft.Generator{} // the least of two bound the greatest
	kind := regexp.MustCompile(`^[A-Z]\w+\.`)
	simtest.RulesPage(t).RuleTable(t, &rules, rules.Table(), func(key string) string { return kind.ReplaceAllString(key, "") })
}

// TestNames checks the names of section 8.
func TestNames(t *testing.T) {
	simtest.RulesPage(t).Names(t, new(codecraft.State), new(codecraft.Unit), new(codecraft.Action), new(codecraft.Record))
}

// TestChoices compares the table of section 6 with the fields of the rules.
func TestChoices(t *testing.T) {
	defaults := codecraft.DefaultRules()
	rows := simtest.RulesPage(t).Tables(t, "rule", "key", "default")[0].Rows
	for _, row := range rows {
		field := reflect.ValueOf(&defaults).Elem().FieldByName(row[0])
		assert.Truef(t, field.IsValid() && fmt.Sprint(field) == row[2] && strings.EqualFold("choice."+row[0], strings.ReplaceAll(row[1], "_", "")), "Rules.%s is %v, the page says %s for %s", row[0], field, row[2], row[1])
	}
	n := strings.Count(string(defaults.AppendText(nil)), "\nchoice.")
	assert.Equalf(t, len(rows), n, "%d choices on the page, the rules have %d", len(rows), n)
}

// TestOrderBits compares the bit table on the page with the orders of the package.
func TestOrderBits(t *testing.T) {
	bits := simtest.RulesPage(t).OrderBits(t)
	ops := bits.Ops
	const id = 0xabcdef
	orders := []struct {
		o      sim.Order
		fields map[string]uint64
	}{
		{codecraft.Nothing, map[string]uint64{"op": ops["nothing"]}},
		{codecraft.Stop(id), map[string]uint64{"op": ops["stop"], "id": id}},
		{codecraft.Move(id, 5, 76, false, false), map[string]uint64{"op": ops["move"], "id": id, "x": 5, "y": 76}},
		{codecraft.Move(id, 5, 76, true, false), map[string]uint64{"op": ops["move"], "id": id, "x": 5, "y": 76, "closest": 1}},
		{codecraft.Move(id, 5, 76, false, true), map[string]uint64{"op": ops["move"], "id": id, "x": 5, "y": 76, "break": 1}},
		{codecraft.Move(id, -5, 76, false, false), map[string]uint64{"op": ops["move"], "id": id, "x": 0, "y": 76, "outside": 1}},
		{codecraft.Build(id, codecraft.Turret, 5, 76), map[string]uint64{"op": ops["build"], "id": id, "type": 9, "x": 5, "y": 76}},
		{codecraft.Attack(id, 1<<32-2), map[string]uint64{"op": ops["attack"], "id": id, "target": 1<<32 - 2}},
		{codecraft.Auto(id, 1234, 1<<3|1<<8), map[string]uint64{"op": ops["auto"], "id": id, "range": 1234, "valid": 1<<3 | 1<<8}},
		{codecraft.Repair(id, 77), map[string]uint64{"op": ops["repair"], "id": id, "target": 77}},
		{codecraft.And(codecraft.Repair(id, 77)), map[string]uint64{"op": ops["repair"], "and": 1, "id": id, "target": 77}},
	}
	assert.Truef(t, len(ops) == 7 && ops["nothing"] == uint64(codecraft.OpNothing) && ops["stop"] == uint64(codecraft.OpStop) && ops["move"] == uint64(codecraft.OpMove) && ops["build"] == uint64(codecraft.OpBuild) && ops["attack"] == uint64(codecraft.OpAttack) && ops["auto"] == uint64(codecraft.OpAuto) && ops["repair"] == uint64(codecraft.OpRepair), "the page lists the ops %v", ops)
	for _, c := range orders {
		packed := bits.Pack(t, c.fields)
		assert.Equalf(t, c.o, packed, "%v is packed as %#x, by the table it is %#x", c.fields, c.o, packed)
	}
}
