package moonfarm_test

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moonfarm/sim/simtest"
)

// The checks of this file look at the names of the whole module at once: which
// clauses comments cite, and which exported names nobody uses.

// gameRoom is the room of a game that package p belongs to, such as
// "sim/terminal" for its wire package and its features, or "".
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

// TestCitations: what comments of a game cite of its RULES.md is there, a section
// by its heading, a clause by its number; and comments of the slow twin cite
// nothing else.
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

// citationsOf are the numbers of sections and clauses that a comment cites: those
// behind the page's name, and clauses in parentheses.
func citationsOf(text string) (numbers []string) {
	for _, m := range citation.FindAllString(text, -1) {
		numbers = append(numbers, clauseNo.FindAllString(m, -1)...)
	}
	return numbers
}

// documented are the exported names without a caller in the module that stay,
// each with who uses it.
var documented = map[string]string{
	".MarshalJSON":   "encoding/json",
	".UnmarshalJSON": "encoding/json",
	".MarshalText":   "encoding/json",
	".UnmarshalText": "encoding/json",
	".Describe":      "client_golang",
	".WriteTo":       "io.Copy",

	"env.NewAutoreset": "learners in Go: README",
	".ResetMask":       "learners in Go: Autoreset",
	"env.Snapshotter":  "learners in Go: Vectors whose games can be kept",
	".Simulate":        "search: README",
	"rollout.Shard":    "programs that play a shard without a dataset: README",
	"rollout.Replay":   "programs that play recorded orders again",
	".Records":         "readers of datasets in Go: README",
	".ArrowSchema":     "readers of datasets in Go",
	".Batches":         "readers of datasets in Go: README",
	"datasets.Train":   "readers of datasets in Go: Batches",

	"sim/towerdefence.ParseText":     "positions written by people and tests",
	"sim/terminal.ParseText":         "positions written by people and tests",
	"sim/tron.ParseText":             "positions written by people and tests",
	"sim/codecraft.AppendWindow":     "positions read by people and tests",
	".TargetsOf":                     "displays of an action phase",
	"sim/terminal.OpNothing":         "the zero of an enumeration",
	"sim/codecraft/wire.DebugUpdate": "the protocol's tags",

	"rollout/bots/towerdefence.SiteAnswer":  "matches of bots: the commands to come",
	"rollout/bots/towerdefence.LocalAnswer": "matches of bots: the commands to come",
	"rollout/bots/terminal.SiteLimits":      "matches of bots: the commands to come",
	"rollout/bots/terminal.LocalLimits":     "matches of bots: the commands to come",
	"rollout/bots/terminal.Folder":          "matches of bots: the commands to come",

	"sim/codecraft/wire.CommandClear": "the protocol's tags",
	"sim/codecraft/wire.CommandFlush": "the protocol's tags",

	".Noticef": "nats-server: server.Logger",
	".Debugf":  "nats-server: server.Logger",
	".Tracef":  "nats-server: server.Logger",
	".Warnf":   "nats-server: server.Logger",

	"rollout/arena.Run":                        "programs that compare policies without a journal",
	"rollout/arena/rating.LogOdds":             "statisticians: another matrix for Nash",
	"rollout/arena/rating.AlphaRankAsymmetric": "statisticians: games whose seats differ",
	".Covariance":                              "statisticians: rating.Model",
	".RobustCovariance":                        "statisticians: rating.Model",

	// The schedules of tournaments, until eval has them all.
	"rollout/arena/rating.ContestSandbox":  "the contest's rating",
	"rollout/arena/rating.SandboxInterval": "the contest's rating",
	"rollout/arena/schedule.CodeCraft":     "tournaments by the contest's schedule",
	".Standings":                           "tournaments by a schedule with standings of its own",
}

// TestCallers: every exported name outside of cmd has a caller in the module that
// is no test. Methods count as called where any method of that name is, or any
// interface has one.
func TestCallers(t *testing.T) {
	declared := map[string]string{} // "env.New" or ".Method" by where it is declared
	used := map[string]bool{}
	for _, s := range sources(t) {
		if !s.test {
			names(s, declared, used)
		}
	}
	for name, at := range declared {
		if !used[name] && documented[name] == "" {
			t.Errorf("%s: %s has no caller but tests: take it away, or say in documented who uses it", at, name)
		}
	}
}

// TestTour: the files that the comment of package sim names are there.
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
	if files < 30 {
		t.Errorf("the tour of package sim names %d files, want more", files)
	}
}

// maxPackageFiles is the most files of a package, tests aside: more are two rooms.
const maxPackageFiles = 25

// crowded are the packages with more files, and how many they may have.
var crowded = map[string]int{"datasets": 26}

func TestPackageFiles(t *testing.T) {
	files := map[string]int{}
	for _, s := range sources(t) {
		if !s.test {
			files[s.dir]++
		}
	}
	for dir, n := range files {
		if most := max(maxPackageFiles, crowded[dir]); n > most {
			t.Errorf("%s has %d files, the limit is %d: make two rooms of it", dir, n, most)
		}
	}
}

// names notes what a file declares and what it uses.
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
