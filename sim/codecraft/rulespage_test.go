package codecraft_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
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

// pageRef is a reference to the page in a comment.
var pageRef = regexp.MustCompile(`RULES\.md, (\d+)(\.\d+)?`)

// TestReferences: what comments cite of the page is there, a section by its
// heading, a clause by its number.
func TestReferences(t *testing.T) {
	page := rulesPage(t)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pageRef.FindAllStringSubmatch(string(text), -1) {
			want := "\n## " + m[1] + " "
			if m[2] != "" {
				want = "\n**" + m[1] + m[2] + "** "
			}
			if !strings.Contains(page, want) {
				t.Errorf("%s cites %s, which is not there", name, m[0])
			}
		}
	}
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
		cells := strings.Split(line[1:len(line)-1], "|")
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

// pageValues are the values that the page gives for a preset, by key.
func pageValues(t *testing.T, preset string) map[string]string {
	t.Helper()
	values := map[string]string{}
	set := func(key, value string) {
		if values[key] != "" {
			t.Errorf("%s is there twice", key)
		}
		if value != "" {
			values[key] = value
		}
	}
	games := find(t, "key", "finals", "round2", "round1")[0]
	for i, name := range games.head {
		for _, row := range games.rows {
			if name == preset {
				set(row[0], row[i])
			}
		}
	}
	types := find(t, "key, after the type")[0]
	for _, row := range types.rows {
		for i, kind := range types.head {
			if i > 0 && row[0] != "number" {
				set(kind+"."+row[0], row[i])
			} else if i > 0 {
				if k, ok := codecraft.TypeNamed(kind); !ok || strconv.Itoa(int(k)) != row[i] {
					t.Errorf("%s has the number %d", kind, k)
				}
			}
		}
	}
	for _, row := range find(t, "key", "types, in this order")[0].rows {
		set(row[0], strings.ReplaceAll(row[1], ", ", ","))
	}
	for _, row := range find(t, "rule", "key", "default")[0].rows {
		set(row[1], row[2])
	}
	return values
}

// TestRuleValues compares the values of the page with those of the presets.
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
	for _, row := range find(t, "type", "x", "y")[0].rows {
		rows[row[0]] = row[1] + "," + row[2]
	}
	g := mustGame(t, "round1-1", nil)
	var s codecraft.State
	g.Reset(&s, 1)
	for _, u := range s.Units[:s.N] {
		if at := fmt.Sprintf("%d,%d", u.X, u.Y); rows[u.Type.String()] != at {
			t.Errorf("%v starts at %s, on the page %s", u.Type, at, rows[u.Type.String()])
		}
	}
	if len(rows) != int(s.N) {
		t.Errorf("%d types on the page, %d start", len(rows), s.N)
	}
}

// TestNames checks the tables of section 8: each field of Rules, Properties and
// Generator is there, and changing it changes the line with its key.
func TestNames(t *testing.T) {
	named := map[string]bool{}
	for _, row := range find(t, "field", "key")[0].rows {
		named[row[0]] = true
		kind, name, _ := strings.Cut(row[0], ".")
		var rules codecraft.Rules
		value, key := reflect.ValueOf(&rules).Elem(), row[1]
		switch kind {
		case "Properties":
			value, key = value.FieldByName("Types").Index(3), "BuilderUnit."+key
		case "Generator":
			value = value.FieldByName("Generator")
		}
		from, to := "0", "7"
		switch f := value.FieldByName(name); f.Kind() {
		case reflect.Int32:
			f.SetInt(7)
		case reflect.Bool:
			f.SetBool(true)
			from, to = "false", "true"
		case reflect.Struct:
			f.Set(reflect.ValueOf(codecraft.ListOf(codecraft.House, codecraft.Wall)))
			from, to = "", "House,Wall"
		default:
			t.Fatalf("no field %s", row[0])
		}
		var zero codecraft.Rules
		got := strings.Replace(string(rules.AppendText(nil)), key+"="+to+"\n", key+"="+from+"\n", 1)
		if want := string(zero.AppendText(nil)); got != want || string(rules.AppendText(nil)) == want {
			t.Errorf("%s is not %s", row[0], key)
		}
	}
	for _, row := range find(t, "rule", "key", "default")[0].rows {
		named["Rules."+row[0]] = true
	}
	named["Rules.Types"], named["Rules.Generator"] = true, true
	for _, typ := range []reflect.Type{reflect.TypeFor[codecraft.Rules](), reflect.TypeFor[codecraft.Properties](), reflect.TypeFor[codecraft.Generator]()} {
		for i := range typ.NumField() {
			if name := typ.Name() + "." + typ.Field(i).Name; !named[name] {
				t.Errorf("%s is not on the page", name)
			}
			delete(named, typ.Name()+"."+typ.Field(i).Name)
		}
	}
	for name := range named {
		t.Errorf("%s is on the page, but nowhere else", name)
	}
	for _, row := range find(t, "here", "original")[0].rows {
		for part := range strings.SplitSeq(row[0], ", ") {
			checkName(t, strings.Trim(part, "`"))
		}
	}
}

// TestChoices compares the table of section 6 with the fields of the rules.
func TestChoices(t *testing.T) {
	defaults := codecraft.DefaultRules()
	rows := find(t, "rule", "key", "default")[0].rows
	for _, row := range rows {
		field := reflect.ValueOf(&defaults).Elem().FieldByName(row[0])
		if !field.IsValid() || fmt.Sprint(field) != row[2] || !strings.EqualFold("choice."+row[0], strings.ReplaceAll(row[1], "_", "")) {
			t.Errorf("Rules.%s is %v, the page says %s for %s", row[0], field, row[2], row[1])
		}
	}
	if n := strings.Count(string(defaults.AppendText(nil)), "\nchoice."); n != len(rows) {
		t.Errorf("%d choices on the page, the rules have %d", len(rows), n)
	}
	// Every choice is one that conformance and clauses flip.
	all := codecraft.DefaultRules()
	flipped(&all)
	for _, row := range rows {
		if a, b := reflect.ValueOf(all).FieldByName(row[0]), reflect.ValueOf(defaults).FieldByName(row[0]); a.Equal(b) {
			t.Errorf("flipped does not flip %s", row[0])
		}
	}
}

// checkName checks that a name like State.Tick (or one of the fields of State)
// exists.
func checkName(t *testing.T, name string) {
	t.Helper()
	owners := map[string]reflect.Type{
		"State": reflect.TypeFor[*codecraft.State](), "Unit": reflect.TypeFor[*codecraft.Unit](), "Action": reflect.TypeFor[*codecraft.Action](),
		"Record": reflect.TypeFor[*codecraft.Record](), "Outcome": reflect.TypeFor[*sim.Outcome](),
	}
	owner, member, ok := strings.Cut(name, ".")
	if !ok {
		owner, member = "State", name
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
// package makes.
func TestOrderBits(t *testing.T) {
	bits := map[string][2]int{}
	ops := map[string]uint64{}
	for _, row := range find(t, "bits", "field", "meaning")[0].rows {
		low, high, more := strings.Cut(row[0], "–")
		if !more {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || bits[row[1]] != [2]int{} {
			t.Fatalf("bits %q of %q", row[0], row[1])
		}
		bits[row[1]] = [2]int{from, to}
		if row[1] == "op" {
			for part := range strings.SplitSeq(row[2], ", ") {
				number, name, _ := strings.Cut(part, " ")
				ops[name], _ = strconv.ParseUint(number, 10, 3)
			}
		}
	}
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
	if len(ops) != 7 || ops["nothing"] != uint64(codecraft.OpNothing) || ops["stop"] != uint64(codecraft.OpStop) || ops["move"] != uint64(codecraft.OpMove) ||
		ops["build"] != uint64(codecraft.OpBuild) || ops["attack"] != uint64(codecraft.OpAttack) || ops["auto"] != uint64(codecraft.OpAuto) || ops["repair"] != uint64(codecraft.OpRepair) {
		t.Errorf("the page lists the ops %v", ops)
	}
	for _, c := range orders {
		packed := uint64(0)
		for field, value := range c.fields {
			b, ok := bits[field]
			if !ok || value>>(b[1]-b[0]+1) != 0 {
				t.Fatalf("no field %q in the table for %d", field, value)
			}
			packed |= value << b[0]
		}
		if packed != uint64(c.o) {
			t.Errorf("%v is packed as %#x, by the table it is %#x", c.fields, uint64(c.o), packed)
		}
	}
}
