// Package moonfarm_test checks the rules of the house: the imports that packages may have,
// and the parts of the style that a program can check. The tables here set the policy; README
// and the package comments give the reasons.
package moonfarm_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "moonfarm"

// rows orders the rooms: a package may import its own room and the rooms before it. bench
// stands before cmd, its only importer.
var rows = []string{"sim", "features", "env", "rollout", "datasets", "bench", "cmd"}

// shared has the folders of sim, features and rollout/policy that belong to no game.
var shared = []string{"picture", "bitboard", "prng", "texts", "unzip", "bounded", "simtest", "featuretest", "script", "models", "neural", "search", "policytest"}

// gamesIn has the packages that may know games, besides the packages of the games.
var gamesIn = []string{"env/catalog", "rollout/policy", "rollout/bots", "rollout/recordings", "bench", "cmd"}

// testOnly has the packages that only tests may import.
var testOnly = []string{"sim/simtest", "sim/towerdefence/wire/internal/wiretest", "sim/codecraft/wire/internal/wiretest", "sim/terminal/wire/internal/wiretest",
	"features/featuretest", "rollout/browsertest", "rollout/farm/farmtest", "rollout/policy/neural/neuraltest", "rollout/policy/policytest",
	"datasets/internal/bucket/buckettest", "cmd/moonfarm/internal/commandtest"}

// impure has the packages that sim must not import, as its packages only compute.
var impure = []string{"os", "time", "net", "log", "encoding/json", "math/rand", "sync"}

const (
	maxFileLines = 500 // of a file that is not a test
	maxFuncLines = 60  // of a function in such a file
	arrow        = "github.com/apache/arrow"
	generator    = "gen" // folder of a module of its own, which writes assembly
	processor    = "golang.org/x/sys/cpu"
)

// within reports whether package p is dir or lies below it.
func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

func withinAny(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return within(p, d) })
}

// row returns the index of a package's room in rows, or −1 if it has none.
func row(p string) int {
	room, _, _ := strings.Cut(p, "/")
	return slices.Index(rows, room)
}

// game returns the game that a package below sim, features or rollout/policy belongs to, or "".
func game(p string) string {
	if players, ok := strings.CutPrefix(p, "rollout/policy/"); ok {
		p = "sim/" + players
	}
	parts := strings.Split(p, "/")
	if len(parts) < 2 || parts[0] != "sim" && parts[0] != "features" || slices.Contains(shared, parts[1]) {
		return ""
	}
	return parts[1]
}

// objection returns why package from (its folder, "env/catalog") may not import
// to ("moonfarm/sim", "os"), or "" if it may. test: the import is in a _test file.
func objection(from, to string, test bool) string {
	if p, ok := strings.CutPrefix(to, module+"/"); ok {
		return insideObjection(from, p, test)
	}
	switch {
	case strings.HasPrefix(to, arrow) && !within(from, "datasets"):
		return "only datasets imports arrow"
	case test || !within(from, "sim") || within(from, "sim/simtest") || path.Base(from) == generator:
		return ""
	case strings.Contains(strings.Split(to, "/")[0], ".") && to != processor:
		return "sim imports the standard library and " + processor + " only"
	case withinAny(to, impure) && !slices.Contains(strings.Split(from, "/"), "wire"):
		return "packages under sim only compute (outside wire)"
	}
	return ""
}

// insideObjection returns the objection to an import of package to of this module.
func insideObjection(from, to string, test bool) string {
	f, g := game(from), game(to)
	switch {
	case row(to) < 0:
		return "no room of the house: " + strings.Join(rows, ", ")
	case from != "." && row(to) > row(from):
		return "imports run one way: " + strings.Join(rows, " ← ")
	case within(to, "bench") && !within(from, "bench") && !within(from, "cmd"):
		return "only cmd imports bench"
	case f != "" && g != "" && f != g:
		return "games never import each other"
	case test:
		return ""
	case withinAny(to, testOnly) && !withinAny(from, testOnly):
		return "for tests only"
	case g != "" && f == "" && !withinAny(from, gamesIn):
		return "only " + strings.Join(gamesIn, ", ") + " know games"
	}
	return ""
}

func TestObjections(t *testing.T) {
	for _, c := range []struct {
		from, to string
		test     bool
		allowed  bool
	}{
		{"features", "moonfarm/sim", false, true},
		{"sim", "moonfarm/features", false, false},
		{"sim/towerdefence", "moonfarm/features", true, false},
		{"sim/towerdefence", "moonfarm/sim/terminal", false, false},
		{"features/towerdefence", "moonfarm/sim/terminal", true, false},
		{"env", "moonfarm/sim/towerdefence", false, false},
		{"env", "moonfarm/sim/towerdefence", true, true},
		{"env", "moonfarm/sim/simtest", false, false},
		{"env", "moonfarm/sim/simtest", true, true},
		{"rollout", "moonfarm/datasets", true, false},
		{"rollout/policy", "moonfarm/rollout/policy/towerdefence", false, true},
		{"rollout/policy/towerdefence", "moonfarm/sim/terminal", false, false},
		{"rollout/arena", "moonfarm/rollout/policy/terminal", false, false},
		{"datasets", "moonfarm/bench", false, false},
		{"cmd/moonfarm", "moonfarm/bench", false, true},
		{"datasets/internal/arrowfile", arrow + "/go/v15/arrow", false, true},
		{"cmd/moonfarm", arrow + "/go/v15/arrow", false, false},
		{"sim/towerdefence", "os", false, false},
		{"sim/towerdefence", "os", true, true},
		{"sim/towerdefence/wire", "encoding/json", false, true},
		{"sim/towerdefence", "math/bits", false, true},
		{"sim/towerdefence", "golang.org/x/exp/maps", false, false},
		{"sim/towerdefence/batch", "golang.org/x/sys/cpu", false, true},
		{"sim/towerdefence/batch/gen", "github.com/mmcloughlin/avo/build", false, true},
		{"env", "moonfarm/tools", false, false},
	} {
		name := c.from + " imports " + c.to
		if c.test {
			name += " in a test"
		}
		t.Run(name, func(t *testing.T) {
			objection := objection(c.from, c.to, c.test)
			assert.Equal(t, c.allowed, objection == "", "the objection: %q", objection)
		})
	}
}

// source is one parsed file of the module.
type source struct {
	path string // "env/pool.go"
	dir  string // "env"
	test bool
	file *ast.File
	set  *token.FileSet
}

func (s source) at(n ast.Node) string {
	p := s.set.Position(n.Pos())
	return s.path + ":" + strconv.Itoa(p.Line)
}

// sources parses every Go file of the module.
func sources(t *testing.T) (all []source) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasPrefix(base, ".") {
			return nil
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		all = append(all, source{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), file, set})
		return nil
	})
	require.NoError(t, err)
	return all
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		for _, i := range s.file.Imports {
			to, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if o := objection(s.dir, to, s.test); o != "" {
				t.Errorf("%s: %s may not import %s: %s", s.at(i), s.dir, to, o)
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	documented, first := map[string]bool{}, map[string]string{}
	for _, s := range sources(t) {
		if !s.test {
			documented[s.dir] = documented[s.dir] || s.file.Doc != nil
			if first[s.dir] == "" {
				first[s.dir] = s.at(s.file)
			}
		}
	}
	for dir, ok := range documented {
		assert.Truef(t, ok, "%s: package %s has no package comment", first[dir], dir)
	}
}

func TestDocComments(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		below := 0 // the line on which a function shares the comment of the one above
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				line := s.set.Position(d.Pos()).Line
				documented := d.Doc != nil || line == below
				if d.Name.IsExported() && !documented && exportedReceiver(d) {
					t.Errorf("%s: %s has no doc comment", s.at(d), d.Name.Name)
				}
				if end := s.set.Position(d.End()).Line; documented && end == line {
					below = end + 1 // one-liners without a gap between
				}
			case *ast.GenDecl:
				if d.Doc == nil {
					checkSpecs(t, s, d)
				}
			}
		}
	}
}

// exportedReceiver reports whether d is a function, or a method of an exported type. Other
// methods are invisible outside of the package.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	exported := true
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			exported = name.IsExported()
			return false
		}
		_, index := n.(*ast.IndexExpr)
		if index {
			name, ok := n.(*ast.IndexExpr).X.(*ast.Ident)
			exported = ok && name.IsExported()
		}
		return !index
	})
	return exported
}

// checkSpecs demands a comment for each exported name of an undocumented group. The type of an
// enumeration documents its values.
func checkSpecs(t *testing.T, s source, d *ast.GenDecl) {
	t.Helper()
	enum := false
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			assert.Truef(t, !spec.Name.IsExported() || spec.Doc != nil || spec.Comment != nil, "%s: %s has no doc comment", s.at(spec), spec.Name.Name)
		case *ast.ValueSpec:
			if spec.Type != nil || len(spec.Values) > 0 {
				_, named := spec.Type.(*ast.Ident)
				enum = d.Tok == token.CONST && named
			}
			for _, name := range spec.Names {
				if name.IsExported() && spec.Doc == nil && spec.Comment == nil && !enum {
					t.Errorf("%s: %s has no doc comment", s.at(name), name.Name)
				}
			}
		}
	}
}

var leftover = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func TestStyle(t *testing.T) {
	for _, s := range sources(t) {
		lines := s.set.Position(s.file.FileEnd).Line
		assert.Truef(t, s.test || lines <= maxFileLines, "%s:%d: %d lines, the limit is %d: split it by subject", s.path, lines, lines, maxFileLines)
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if word := leftover.FindString(c.Text); word != "" && s.path != "house_test.go" {
					t.Errorf("%s: a %s is left over", s.at(c), word)
				}
			}
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1; !s.test && lines > maxFuncLines {
				t.Errorf("%s: %s has %d lines, the limit is %d", s.at(f), f.Name.Name, lines, maxFuncLines)
			}
			if f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: init functions hide what runs and when; build the value where it is used", s.at(f))
			}
		}
	}
}

// TestReceivers: a receiver is the initial of its type, or another letter where that one names something in a method of the type.
func TestReceivers(t *testing.T) {
	letters, taken := map[string]string{}, map[string]bool{} // receivers that are not initials, by place; types whose initial is taken
	typeOf := map[string]string{}
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
				continue
			}
			name, letter := receiverType(f.Recv.List[0].Type), f.Recv.List[0].Names[0].Name
			initial, of := strings.ToLower(name[:1]), s.dir+"."+name
			if letter == initial || letter == "_" {
				continue
			}
			letters[s.at(f)], typeOf[s.at(f)] = letter, of
			ast.Inspect(f, func(n ast.Node) bool {
				id, _ := n.(*ast.Ident)
				taken[of] = taken[of] || id != nil && id.Name == initial
				return true
			})
		}
	}
	for at, letter := range letters {
		assert.Truef(t, len(letter) == 1 && taken[typeOf[at]], "%s: receiver %s: expected the initial of %s", at, letter, typeOf[at])
	}
}

// receiverType returns the name of the type of a receiver.
func receiverType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverType(e.X)
	case *ast.IndexExpr:
		return receiverType(e.X)
	case *ast.IndexListExpr:
		return receiverType(e.X)
	}
	return e.(*ast.Ident).Name
}

// most has the lines of Go that a top folder may have, without tests and the folders gen, and those of its tests: what
// they had when the limits were set, and 3 %.
var most = map[string]struct{ code, tests int }{
	"sim":      {32810, 24110},
	"features": {9220, 4860},
	"env":      {2410, 1900},
	"rollout":  {55400, 35800},
	"datasets": {15060, 8200},
	"bench":    {2080, 410},
	"cmd":      {14020, 5830},
}

// TestSize counts the lines of each top folder. Growth is a decision: the commit that raises a limit says what it is for.
func TestSize(t *testing.T) {
	code, tests := map[string]int{}, map[string]int{}
	for _, s := range sources(t) {
		folder, _, _ := strings.Cut(s.dir, "/")
		lines := s.set.Position(s.file.FileEnd).Line - 1
		switch {
		case s.test:
			tests[folder] += lines
		case path.Base(s.dir) != generator:
			code[folder] += lines
		}
	}
	for _, folder := range rows {
		limit := most[folder]
		t.Logf("%s: %d lines, %d of tests", folder, code[folder], tests[folder])
		assert.Truef(t, code[folder] <= limit.code && tests[folder] <= limit.tests,
			"%s has %d lines of Go and %d of tests, expected at most %d and %d: see \"What moonfarm refuses\" in CONTRIBUTING.md", folder, code[folder], tests[folder], limit.code, limit.tests)
	}
}

// readsWhole has the packages that may read a file to its end without package bounded:
// packages for tests, and readers of files of the system and of the beginnings of files that
// bots write.
var readsWhole = []string{"sim/simtest", "rollout/bots/child", "rollout/bots/towerdefence", "rollout/filelock",
	"cmd/moonfarm/internal/commandtest", "datasets/internal/bucket/buckettest"}

// TestBoundedReads: files that users name may have any size, so that only package bounded,
// which has a limit, reads them whole.
func TestBoundedReads(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || withinAny(s.dir, readsWhole) {
			continue
		}
		s.refuse(t, "reads without a limit: use package sim/bounded", "io.ReadAll", "os.ReadFile")
	}
}

// refuse reports the places where a file uses names of other packages.
func (s source) refuse(t *testing.T, why string, names ...string) {
	t.Helper()
	ast.Inspect(s.file, func(n ast.Node) bool {
		if used, ok := n.(*ast.SelectorExpr); ok {
			if from, ok := used.X.(*ast.Ident); ok && slices.Contains(names, from.Name+"."+used.Sel.Name) {
				t.Errorf("%s: %s.%s %s", s.at(n), from.Name, used.Sel.Name, why)
			}
		}
		return true
	})
}

// ownFiles has the packages that open and replace files without package rollout/files: packages for tests and for
// developers, and those of files of the system, of bots and of datasets.
var ownFiles = []string{"sim/simtest", "rollout/files", "rollout/browsertest", "rollout/farm/farmtest", "rollout/bots", "rollout/filelock",
	"datasets/internal/disk", "datasets/imports", "cmd/moonfarm/internal/commandtest", "cmd/moonfarm/examples", "cmd/internal/release", "cmd/libmoonfarm", "bench"}

// TestFiles: package rollout/files alone opens files that users name, which may be pipes, and writes files, which two
// processes may do at once.
func TestFiles(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || withinAny(s.dir, ownFiles) || path.Base(s.dir) == generator {
			continue
		}
		s.refuse(t, "is for package rollout/files: use it", "os.Open", "os.CreateTemp", "os.WriteFile", "os.Rename")
	}
}

// light has the limits of the packages that a newcomer compiles, dependencies included.
var light = []struct {
	pkg         string
	all, others int // limits of all packages, and of the packages of other modules; 0: no limit
}{
	{"./cmd/moonfarm", 300, 0},
	{"./cmd/libmoonfarm", 242, 0},
	{"./datasets", 0, 50},
}

// heavy has the modules and packages that no light package may need.
var heavy = []string{
	"github.com/nats-io", "github.com/aws", "github.com/prometheus", "golang.org/x/crypto",
	"github.com/apache/arrow/go/v15/parquet", "gonum.org/v1/gonum/lapack",
}

// TestLight counts the packages that the light command, the library and package datasets need.
func TestLight(t *testing.T) {
	for _, l := range light {
		t.Run(l.pkg, func(t *testing.T) {
			out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", l.pkg).Output()
			require.NoError(t, err)
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			others := 0
			for _, line := range lines {
				p, of, _ := strings.Cut(line, " ")
				if of != "" && of != module {
					others++
				}
				assert.Falsef(t, withinAny(p, heavy), "%s needs %s: it belongs to moonfarm-full alone", l.pkg, p)
			}
			t.Logf("%d packages, %d of other modules", len(lines), others)
			assert.Truef(t, (l.all <= 0 || len(lines) <= l.all) && (l.others <= 0 || others <= l.others), "%d packages, %d of other modules, expected at most %d and %d (0: any number)", len(lines), others, l.all, l.others)
		})
	}
}
