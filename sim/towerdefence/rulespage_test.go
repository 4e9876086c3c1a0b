package towerdefence_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
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

// tableRows lists the rows of all tables of the page, as cells without marks.
func tableRows(page string) (rows [][]string) {
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		rows = append(rows, cells)
	}
	return rows
}

// TestRuleValues compares the values of the page with the keys of the
// configuration file, which must all be there.
func TestRuleValues(t *testing.T) {
	want := map[string]string{}
	for line := range strings.Lines(string(towerdefence.DefaultRules().AppendText(nil))) {
		key, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "game.config.")), "=")
		want[key] = value
	}
	got := map[string]string{}
	var kinds []string
	for _, row := range tableRows(rulesPage(t)) {
		switch {
		case strings.HasPrefix(row[0], "key, after"):
			kinds = row[1:]
		case len(row) == 5 && kinds != nil:
			for i, k := range kinds {
				got[k+".config."+row[0]] = row[i+1]
			}
		case len(row) == 4 && row[0] != "key":
			got[row[0]], got[row[2]] = row[1], row[3]
		}
	}
	delete(got, "")
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s: the page says %q, the rules %q", key, got[key], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d keys on the page, want %d", len(got), len(want))
	}
}

// TestOrderBits checks the bit table of the page against Decode and the orders
// that the package makes.
func TestOrderBits(t *testing.T) {
	fields := map[string][2]int{}
	ops := map[string]int{}
	for _, row := range tableRows(rulesPage(t)) {
		if len(row) != 3 || row[0] == "bits" || row[0][0] < '0' || row[0][0] > '9' {
			continue
		}
		low, high, more := strings.Cut(row[0], "–")
		if !more {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil {
			t.Fatalf("bits %q", row[0])
		}
		fields[row[1]] = [2]int{from, to}
		if row[1] == "op" {
			for _, part := range strings.Split(row[2], ", ") {
				number, name, _ := strings.Cut(part, " ")
				ops[name], _ = strconv.Atoi(number)
			}
		}
	}
	take := func(o sim.Order, field string) int {
		b, ok := fields[field]
		if !ok {
			t.Fatalf("no field %q in the table", field)
		}
		return int(o >> b[0] & (1<<(b[1]-b[0]+1) - 1))
	}
	orders := map[string]sim.Order{
		"nothing": towerdefence.Nothing, "curtain": towerdefence.Curtain, "refused": towerdefence.Refused,
		"defense": towerdefence.Build(towerdefence.Defense, 5, 6), "attack": towerdefence.Build(towerdefence.Attack, 5, 6),
		"energy": towerdefence.Build(towerdefence.Energy, 5, 6), "tesla": towerdefence.Build(towerdefence.Tesla, 5, 6),
		"deconstruct": towerdefence.Deconstruct(5, 6),
	}
	if len(ops) != len(orders) {
		t.Errorf("the page lists the ops %v", ops)
	}
	for name, o := range orders {
		for failures := range 4 {
			o := towerdefence.Failed(o, failures)
			op, x, y, n := towerdefence.Decode(o)
			if take(o, "op") != ops[name] || int(op) != ops[name] || take(o, "cell") != y*8+x ||
				take(o, "failures") != failures || n != failures || take(o, "abort") != 0 {
				t.Errorf("%s, %d failures: the order %#x does not follow the table", name, failures, o)
			}
		}
		if _, x, y, _ := towerdefence.Decode(o); take(o, "cell") != 0 && (x != 5 || y != 6) {
			t.Errorf("%s: cell %d, %d", name, x, y)
		}
	}
	if take(towerdefence.Aborted, "abort") != 1 {
		t.Errorf("Aborted is %#x", towerdefence.Aborted)
	}
}
