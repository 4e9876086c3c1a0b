package moonfarm_test

import (
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
)

// The checks of this file collect names of the whole module: the clauses that comments cite,
// and the exported names without a caller.

// gameRoom returns the folder of the game that package p belongs to, such as
// "sim/terminal" for its wire package and its features, or "" for all other packages.
func gameRoom(p string) string {
	if g := game(p); g != "" {
		return "sim/" + g
	}
	return ""
}

var (
	citation  = regexp.MustCompile(`RULES\.md, (?:sections? )?\d+(?:\.\d+)?(?:(?:, | to | and )\d+(?:\.\d+)?)*|\(\d\.\d+(?:(?:, | to | and )\d\.\d+)*\)`)
	clauseNo  = regexp.MustCompile(`\d+(?:\.\d+)?`)
	elsewhere = regexp.MustCompile(`(?i)\bsections? \d+|\bstep \d+\b`)
)

// TestCitations checks that RULES.md has the sections and clauses that a game's comments
// cite. Comments of the slow twin cite no other numbers.
func TestCitations(t *testing.T) {
	pages := map[string]string{}
	cited := 0
	for _, s := range sources(t) {
		room := gameRoom(s.dir)
		if room == "" {
			continue
		}
		if pages[room] == "" {
			pages[room] = string(simtest.Text(t, room+"/RULES.md"))
		}
		twin := strings.HasSuffix(s.dir, "/internal/plain")
		for _, group := range s.file.Comments {
			text := strings.Join(strings.Fields(strings.ReplaceAll(group.Text(), "\n", " ")), " ")
			for _, number := range citationsOf(text) {
				cited++
				heading := "\n## " + number + " "
				if strings.Contains(number, ".") {
					heading = "\n**" + number + "**"
				}
				if !strings.Contains(pages[room], heading) {
					t.Errorf("%s: %s/RULES.md has no %s", s.at(group), room, number)
				}
			}
			if found := elsewhere.FindString(text); twin && found != "" {
				t.Errorf("%s: cites %q, want a clause of RULES.md", s.at(group), found)
			}
		}
	}
	t.Logf("%d citations", cited)
}

// citationsOf returns the numbers of sections and clauses that a comment cites: the
// numbers behind the page's name, and clauses in parentheses.
func citationsOf(text string) (numbers []string) {
	for _, m := range citation.FindAllString(text, -1) {
		numbers = append(numbers, clauseNo.FindAllString(m, -1)...)
	}
	return numbers
}

// byOthers has the exported names that other modules call through their interfaces, each with
// the caller, and the values that complete an enumeration.
var byOthers = map[string]string{
	".MarshalJSON":   "encoding/json",
	".UnmarshalJSON": "encoding/json",
	".MarshalText":   "encoding/json",
	".Describe":      "prometheus: Collector",

	".Fatalf":  "nats-server: server.Logger",
	".Noticef": "nats-server: server.Logger",
	".Debugf":  "nats-server: server.Logger",
	".Tracef":  "nats-server: server.Logger",
	".Warnf":   "nats-server: server.Logger",

	"sim/terminal.OpNothing": "the zero of an enumeration",
}

// forPrograms are the exported names that only programs in Go outside of the module
// call. A page, an example or the comment of another name tells of each.
var forPrograms = []string{
	"rollout.Replay",
	"sim/towerdefence.ParseText", "sim/terminal.ParseText", "sim/tron.ParseText", "sim/codecraft.AppendWindow",
}

// TestCallers: every exported name outside of cmd either has a caller in the module that is
// not a test, or is in one of the two lists above, never both. A method counts as called if
// any method of that name is called, or any interface has one.
func TestCallers(t *testing.T) {
	declared := map[string]string{} // "env.New" or ".Method" by where it is declared
	used := map[string]bool{}
	all := sources(t)
	for _, s := range all {
		if !s.test && !withinAny(s.dir, testOnly) {
			names(s, declared, used)
		}
	}
	listed := slices.Concat(slices.Collect(maps.Keys(byOthers)), forPrograms)
	for name, at := range declared {
		assert.Truef(t, used[name] || slices.Contains(listed, name), "%s: %s has no caller but tests: remove it, or list its user", at, name)
	}
	for _, name := range listed {
		assert.Contains(t, declared, name, "a name that is listed without need is not declared")
		assert.False(t, used[name], "%s is listed without need: it has a caller", name)
	}
	for _, name := range forPrograms {
		assert.True(t, toldOf(t, all, name), "no page, example or comment of another name tells of %s", name)
	}
}

// toldOf reports whether a page, an example or a comment has the name. The comment of its
// declaration does not count.
func toldOf(t *testing.T, all []source, name string) bool {
	short := name[strings.LastIndex(name, ".")+1:]
	word := regexp.MustCompile(`\b` + short + `\b`)
	for _, page := range markdown(t) {
		if word.Match(simtest.Text(t, page)) {
			return true
		}
	}
	for _, s := range all {
		if strings.HasSuffix(s.path, "/example_test.go") && word.Match(simtest.Text(t, s.path)) {
			return true
		}
		for _, group := range s.file.Comments {
			text := group.Text()
			if !s.test && word.MatchString(text) && !strings.HasPrefix(text, short+" ") {
				return true
			}
		}
	}
	return false
}

// markdown returns the paths of the module's pages.
func markdown(t *testing.T) (pages []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".md"):
			pages = append(pages, name)
		}
		return nil
	}))
	return pages
}

// TestTour checks that the files named in the comment of package sim exist.
func TestTour(t *testing.T) {
	tour, _, _ := strings.Cut(string(simtest.Text(t, "sim/sim.go")), "\npackage sim")
	files := 0
	for line := range strings.Lines(tour) {
		folder := ""
		for _, file := range regexp.MustCompile(`[a-z]+(/[a-z]+)?\.go`).FindAllString(line, -1) {
			games := []string{"towerdefence", "terminal", "codecraft"}
			if g, name, ok := strings.Cut(file, "/"); ok {
				folder, file = g, name
			}
			if folder != "" {
				games = []string{folder}
			}
			for _, g := range games {
				files++
				if _, err := os.Stat("sim/" + g + "/" + file); err != nil {
					t.Errorf("the tour of package sim: %v", err)
				}
			}
		}
	}
	assert.GreaterOrEqualf(t, files, 30, "the tour of package sim names %d files, want more", files)
}

// maxPackageFiles is the limit of files in a package, tests not counted. A larger package
// should be two.
const maxPackageFiles = 25

func TestPackageFiles(t *testing.T) {
	files := map[string]int{}
	for _, s := range sources(t) {
		if !s.test {
			files[s.dir]++
		}
	}
	for dir, n := range files {
		assert.LessOrEqualf(t, n, maxPackageFiles, "%s has %d files, the limit is %d: make two rooms of it", dir, n, maxPackageFiles)
	}
}

// names adds the exported names that a file declares to declared, and all names that it
// uses to used.
func names(s source, declared map[string]string, used map[string]bool) {
	imports := map[string]string{} // folder by name
	for _, i := range s.file.Imports {
		to, _ := strconv.Unquote(i.Path.Value)
		if dir, ok := strings.CutPrefix(to, module+"/"); ok {
			name := path.Base(dir)
			if i.Name != nil {
				name = i.Name.Name
			}
			imports[name] = dir
		}
	}
	own := map[*ast.Ident]bool{}
	declare := func(name *ast.Ident, prefix string) {
		own[name] = true
		forTests := slices.Contains(testOnly, s.dir) || strings.HasSuffix(s.dir, "/internal/plain")
		if name.IsExported() && !forTests && !within(s.dir, "cmd") {
			declared[prefix+"."+name.Name] = s.at(name)
		}
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				declare(d.Name, "")
			} else {
				declare(d.Name, s.dir)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					declare(spec.Name, s.dir)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						declare(name, s.dir)
					}
				}
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			used["."+n.Sel.Name] = true
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				used[imports[x.Name]+"."+n.Sel.Name] = true
			}
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				for _, name := range m.Names {
					used["."+name.Name] = true
				}
			}
		case *ast.Ident:
			if !own[n] {
				used[s.dir+"."+n.Name] = true
			}
		}
		return true
	})
}
