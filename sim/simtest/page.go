package simtest

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moonfarm/sim"
)

var update = flag.Bool("update", false, "rewrite the golden files of the tests")

// Golden compares a text with the golden file called name. If they differ, the
// test fails and shows the lines from the first difference on. go test -update
// writes the file.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || !bytes.Equal(a[i], b[i]) {
			t.Fatalf("%s:%d differs from what the code writes now (go test -update rewrites it):\n%s", name, i+1,
				bytes.Join(a[min(i, len(a)):min(i+12, len(a))], []byte("\n")))
		}
	}
}

// Page is a game's RULES.md.
type Page string

// RulesPage reads the RULES.md of the package under test.
func RulesPage(t *testing.T) Page {
	t.Helper()
	text, err := os.ReadFile("RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	return Page(text)
}

var (
	clauseMark = regexp.MustCompile(`(?m)^\*\*(\d+)\.(\d+)\*\*`)
	clauseTest = regexp.MustCompile(`^TestClause_(\d+)_(\d+)_[A-Z]`)
)

// Clauses checks that every numbered clause has a test, every such test a
// clause, and that clauses are numbered without gaps.
func (p Page) Clauses(t *testing.T) {
	t.Helper()
	clauses := map[string]bool{}
	section, number := 0, 0
	for _, m := range clauseMark.FindAllStringSubmatch(string(p), -1) {
		s, _ := strconv.Atoi(m[1])
		n, _ := strconv.Atoi(m[2])
		if s == section && n != number+1 || s != section && (n != 1 || s < section) {
			t.Errorf("clause %d.%d follows %d.%d", s, n, section, number)
		}
		section, number = s, n
		clauses[m[1]+"_"+m[2]] = true
	}
	tests := map[string]string{}
	for _, name := range testNames(t) {
		if m := clauseTest.FindStringSubmatch(name); m != nil {
			tests[m[1]+"_"+m[2]] = name
		}
	}
	for c := range clauses {
		if tests[c] == "" {
			t.Errorf("clause %s of RULES.md has no test TestClause_%s_…", strings.ReplaceAll(c, "_", "."), c)
		}
	}
	for c, name := range tests {
		if !clauses[c] {
			t.Errorf("%s tests a clause that RULES.md does not have", name)
		}
	}
	t.Logf("%d clauses", len(clauses))
}

// testNames returns the names of the functions in the test files of the package
// under test.
func testNames(t *testing.T) (names []string) {
	t.Helper()
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
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// PageTable is a table of a page: its cells without markup.
type PageTable struct {
	Head []string
	Rows [][]string
}

// Tables returns the tables whose head begins with the given cells. The test
// fails if there is no such table.
func (p Page) Tables(t *testing.T, head ...string) (found []PageTable) {
	t.Helper()
	var all []PageTable
	inside := false
	for line := range strings.Lines(string(p)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line[1:], "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		switch {
		case strings.HasPrefix(line, "|---"):
		case !inside:
			all = append(all, PageTable{Head: cells})
			inside = true
		default:
			last := &all[len(all)-1]
			last.Rows = append(last.Rows, cells)
		}
	}
	for _, table := range all {
		if len(table.Head) >= len(head) && slices.Equal(table.Head[:len(head)], head) {
			found = append(found, table)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no table begins with %q", head)
	}
	return found
}

// OrderBits is the table of a page that lists the bits of an order.
type OrderBits struct {
	Ops  map[string]uint64 // the values of the field op, by their names
	bits map[string][2]int // the first and the last bit of each field
}

// OrderBits reads the table with the head bits, field, meaning.
func (p Page) OrderBits(t *testing.T) OrderBits {
	t.Helper()
	b := OrderBits{map[string]uint64{}, map[string][2]int{}}
	for _, row := range p.Tables(t, "bits", "field", "meaning")[0].Rows {
		low, high, more := strings.Cut(row[0], "–")
		if !more {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || b.bits[row[1]] != [2]int{} {
			t.Fatalf("bits %q of %q", row[0], row[1])
		}
		b.bits[row[1]] = [2]int{from, to}
		if row[1] == "op" {
			for part := range strings.SplitSeq(row[2], ", ") {
				number, name, _ := strings.Cut(part, " ")
				b.Ops[name], _ = strconv.ParseUint(number, 10, 8)
			}
		}
	}
	return b
}

// Pack returns the order with the given fields; all other fields are 0.
func (b OrderBits) Pack(t *testing.T, fields map[string]uint64) (o sim.Order) {
	t.Helper()
	for field, value := range fields {
		at, ok := b.bits[field]
		if !ok || value>>(at[1]-at[0]+1) != 0 {
			t.Fatalf("no field %q in the table for %d", field, value)
		}
		o |= sim.Order(value << at[0])
	}
	return o
}

// Names checks the table with the head here, original: every name like
// State.Turn must be a field or a method of that type. A name without a type is
// a field or method of State, or the name of a type. types lists pointers to
// the types.
func (p Page) Names(t *testing.T, types ...any) {
	t.Helper()
	owners := map[string]reflect.Type{}
	for _, v := range append(types, new(sim.Outcome)) {
		owners[reflect.TypeOf(v).Elem().Name()] = reflect.TypeOf(v)
	}
	for _, row := range p.Tables(t, "here", "original")[0].Rows {
		for part := range strings.SplitSeq(row[0], ", ") {
			name := strings.Trim(part, "`")
			owner, member, two := strings.Cut(name, ".")
			if !two && owners[name] != nil {
				continue
			}
			if !two {
				owner, member = "State", name
			}
			if err := hasMember(owners[owner], member); err != nil {
				t.Errorf("no %s: %v", name, err)
			}
		}
	}
}

// hasMember returns an error if the pointer's type has neither a method nor a
// field of that name.
func hasMember(typ reflect.Type, name string) error {
	if typ == nil {
		return fmt.Errorf("no such type is given")
	}
	if _, ok := typ.MethodByName(name); ok {
		return nil
	}
	if _, ok := typ.Elem().FieldByName(name); ok {
		return nil
	}
	return fmt.Errorf("%v has no field and no method %s", typ.Elem(), name)
}
