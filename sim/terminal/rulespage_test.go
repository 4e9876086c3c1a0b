package terminal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// Tests that keep RULES.md true.

func rulesPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	clauseMark = regexp.MustCompile(`(?m)^\*\*(\d+\.\d+)\*\*`)
	clauseTest = regexp.MustCompile(`^TestClause_(\d+)_(\d+)_[A-Z]`)
)

// TestClauses demands a test for every numbered clause and a clause for every
// such test, and that clauses are numbered without gaps.
func TestClauses(t *testing.T) {
	clauses := map[string]bool{}
	section, number := 0, 0
	for _, m := range clauseMark.FindAllStringSubmatch(rulesPage(t), -1) {
		var s, n int
		if _, err := fmt.Sscanf(m[1], "%d.%d", &s, &n); err != nil {
			t.Fatal(err)
		}
		if s == section && n != number+1 || s != section && (n != 1 || s < section) {
			t.Errorf("clause %s follows %d.%d", m[1], section, number)
		}
		section, number = s, n
		clauses[m[1]] = true
	}
	tests := map[string]string{}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if m := clauseTest.FindStringSubmatch(f.Name.Name); m != nil {
					tests[m[1]+"."+m[2]] = f.Name.Name
				}
			}
		}
	}
	for c := range clauses {
		if tests[c] == "" {
			t.Errorf("clause %s of RULES.md has no test TestClause_%s_…", c, strings.ReplaceAll(c, ".", "_"))
		}
	}
	for c, name := range tests {
		if !clauses[c] {
			t.Errorf("%s tests a clause that RULES.md does not have", name)
		}
	}
	t.Logf("%d clauses", len(clauses))
}

// table is a table of the page: cells without marks.
type table struct {
	head []string
	rows [][]string
}

// find returns the tables whose head begins with the given cells.
func find(t *testing.T, head ...string) (found []table) {
	t.Helper()
	var all []table
	inside := false
	for line := range strings.Lines(rulesPage(t)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		switch {
		case strings.HasPrefix(line, "|---"):
		case !inside:
			all = append(all, table{head: cells})
			inside = true
		default:
			last := &all[len(all)-1]
			last.rows = append(last.rows, cells)
		}
	}
	for _, table := range all {
		if len(table.head) >= len(head) && reflect.DeepEqual(table.head[:len(head)], head) {
			found = append(found, table)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no table begins with %q", head)
	}
	return found
}

// pageValues are the values of the page's tables, by rule set and key.
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
	for _, row := range find(t, "key", "all others", "2019")[0].rows {
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
	for _, table := range find(t, "key", "classic") {
		for _, row := range table.rows {
			for i, name := range table.head[1:] {
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
		if !ok {
			t.Fatalf("the page has a rule set %q", name)
		}
		seen := 0
		for line := range strings.Lines(string(rules.AppendText(nil))) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
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
		if seen != len(values) {
			t.Errorf("%s: %d keys of the page are none of the rules'", name, len(values)-seen)
		}
	}
}

// TestChoices compares the table of section 6 with the default rules.
func TestChoices(t *testing.T) {
	defaults := terminal.DefaultRules()
	lines := "\n" + string(defaults.AppendText(nil))
	rows := find(t, "rule", "key", "default")[0].rows
	for _, row := range rows {
		if !strings.Contains(lines, "\n"+row[1]+"="+row[2]+"\n") {
			t.Errorf("%s is not %s", row[1], row[2])
		}
		field := reflect.ValueOf(&defaults).Elem().FieldByName(row[0])
		if !field.IsValid() || !strings.EqualFold("moonfarm."+row[0], row[1]) || fmt.Sprint(field) != row[2] {
			t.Errorf("Rules.%s is %v, the page says %s", row[0], field, row[2])
		}
	}
	if n := strings.Count(lines, "\nmoonfarm."); n != len(rows) {
		t.Errorf("%d choices on the page, the rules have %d", len(rows), n)
	}
}

// TestNames checks the names of section 8: each field of Rules and of Unit that
// is no choice is there, and changing it changes the line with its key.
func TestNames(t *testing.T) {
	named := map[string]bool{}
	for _, row := range find(t, "field", "key")[0].rows {
		named[row[0]] = true
		kind, field, _ := strings.Cut(row[0], ".")
		var rules terminal.Rules
		value := reflect.ValueOf(&rules).Elem()
		key := row[1]
		if kind == "Unit" {
			value = reflect.ValueOf(&rules.Units[2]).Elem()
			key = "unitInformation.2." + key
		}
		switch f := value.FieldByName(field); f.Kind() {
		case reflect.Float32:
			f.SetFloat(7)
		case reflect.Int32:
			f.SetInt(7)
		default:
			t.Fatalf("%s is no number", row[0])
		}
		var zero terminal.Rules
		got := strings.Replace(string(rules.AppendText(nil)), key+"=7\n", key+"=0\n", 1)
		if want := string(zero.AppendText(nil)); got != want {
			t.Errorf("%s is not %s", row[0], key)
		}
	}
	for _, row := range find(t, "rule", "key", "default")[0].rows {
		named["Rules."+row[0]] = true
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[terminal.Rules](), reflect.TypeFor[terminal.Unit]()} {
		for i := range typ.NumField() {
			name := typ.Name() + "." + typ.Field(i).Name
			if kind := typ.Field(i).Type.Kind(); kind != reflect.Array && !named[name] {
				t.Errorf("%s is not on the page", name)
			}
		}
	}
	for _, row := range find(t, "here", "original")[0].rows {
		for part := range strings.SplitSeq(row[0], ", ") {
			checkName(t, strings.Trim(part, "`"))
		}
	}
}

// checkName checks that a name like State.Turn (or one of the fields of State)
// exists.
func checkName(t *testing.T, name string) {
	t.Helper()
	owners := map[string]reflect.Type{"State": reflect.TypeFor[*terminal.State](), "Game": reflect.TypeFor[*terminal.Game](),
		"Cell": reflect.TypeFor[*terminal.Cell](), "Outcome": reflect.TypeFor[*sim.Outcome](), "Record": reflect.TypeFor[*terminal.Record]()}
	owner, member, ok := strings.Cut(name, ".")
	if !ok {
		if owner, member = "State", name; owners[name] != nil {
			return
		}
	}
	typ := owners[owner]
	if typ == nil {
		t.Errorf("no %s", name)
		return
	}
	_, method := typ.MethodByName(member)
	_, field := typ.Elem().FieldByName(member)
	if !method && !field {
		t.Errorf("no %s", name)
	}
}

// TestOrderBits checks the bit table of the page against the orders that the
// package makes, and against Decode.
func TestOrderBits(t *testing.T) {
	bits := map[string][2]int{}
	ops := map[string]int{}
	for _, row := range find(t, "bits", "field", "meaning")[0].rows {
		low, high, more := strings.Cut(row[0], "–")
		if !more {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil {
			t.Fatalf("bits %q", row[0])
		}
		bits[row[1]] = [2]int{from, to}
		if row[1] == "op" {
			for part := range strings.SplitSeq(row[2], ", ") {
				number, name, _ := strings.Cut(part, " ")
				ops[name], _ = strconv.Atoi(number)
			}
		}
	}
	take := func(o sim.Order, field string) uint64 {
		b, ok := bits[field]
		if !ok {
			t.Fatalf("no field %q in the table", field)
		}
		return uint64(o) >> b[0] & (1<<(b[1]-b[0]+1) - 1)
	}
	orders := map[string]sim.Order{
		"nothing": terminal.Nothing, "place": terminal.Place(terminal.Turret, 5, 12), "upgrade": terminal.UpgradeAt(5, 12),
		"remove": terminal.RemoveAt(5, 12), "spawn": terminal.Spawn(terminal.Interceptor, 5, 12, 77), "clock": terminal.Clock(4_000_000_000),
		"penalty": terminal.Penalty(2.5),
	}
	count := map[string]uint64{"spawn": 77, "clock": 4_000_000_000, "penalty": uint64(math.Float32bits(2.5))}
	kind := map[string]uint64{"place": uint64(terminal.Turret), "spawn": uint64(terminal.Interceptor)}
	if len(ops) != len(orders) {
		t.Errorf("the page lists the ops %v", ops)
	}
	for name, o := range orders {
		c := terminal.Decode(o)
		if take(o, "op") != uint64(ops[name]) || uint64(c.Op) != take(o, "op") || take(o, "kind") != kind[name] || uint64(c.Kind) != kind[name] ||
			take(o, "count") != count[name] || uint64(c.Count) != count[name] || c.Swapped || take(o, "swap") != 0 {
			t.Errorf("%s: the order %#x does not follow the table: %+v", name, o, c)
		}
		if at := take(o, "x")<<8 | take(o, "y"); name != "nothing" && name != "clock" && name != "penalty" && at != 5<<8|12 || uint64(c.X)<<8|uint64(c.Y) != at {
			t.Errorf("%s: the cell of order %#x: %+v", name, o, c)
		}
		if swapped := terminal.Swap(o); take(swapped, "swap") != 1 || swapped^o != 1<<bits["swap"][0] || !terminal.Decode(swapped).Swapped {
			t.Errorf("%s: the other line is %#x", name, swapped)
		}
	}
	if c := terminal.Decode(terminal.Spawn(terminal.Scout, 5, 12, 0)); c.Count != 1 {
		t.Errorf("a spawn without a count is one of %d", c.Count)
	}
}
