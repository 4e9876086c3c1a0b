package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/env/catalog"
	"moonfarm/sim/simtest"
)

// top is the folder of the module.
const top = "../../.."

func readme(t *testing.T) string {
	t.Helper()
	return string(simtest.Text(t, filepath.Join(top, "README.md")))
}

var (
	link   = regexp.MustCompile(`\]\(([^)#:]+)\)`)
	folder = regexp.MustCompile("`((?:sim|features|env|rollout|datasets|bench|cmd|\\.ci)/[a-z./_-]+)`")
	goCode = regexp.MustCompile("(?s)```go\n(.*?)```")
)

// TestReadmeCommands checks that every command and flag that README names is
// there.
func TestReadmeCommands(t *testing.T) {
	if n := commandtest.Page(t, readme(t), "moonfarm", (&app{}).root()); n < 10 {
		t.Errorf("only %d commands", n)
	}
	for _, c := range (&app{}).root().Commands() {
		if !c.Hidden && !strings.Contains(readme(t), "`moonfarm "+c.Name()) {
			t.Errorf("README does not name the command %s", c.Name())
		}
	}
}

// TestReadmeAnalysis runs the example of analyse: what README shows of the output is
// there, in that order.
func TestReadmeAnalysis(t *testing.T) {
	_, text, _ := strings.Cut(readme(t), "\n$ moonfarm analyse ")
	line, text, _ := strings.Cut(text, "\n")
	text, _, found := strings.Cut(text, "\n```")
	args := strings.Fields(strings.ReplaceAll(line, "'", ""))
	if !found || len(args) == 0 {
		t.Fatal("README has no example of analyse")
	}
	name := args[0]
	args[0] = simtest.Shared(t, "traces", "towerdefence", name)
	rest := moonfarm(t, exitOK, append([]string{"analyse"}, args...)...)
	rest = "\n" + strings.ReplaceAll(rest, args[0], name)
	for _, part := range strings.Split(text, "\n…") {
		part = "\n" + strings.Trim(part, "\n") + "\n"
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("it does not print, or not behind what comes before: %s", part)
		}
		rest = "\n" + after
	}
	if rest != "\n" {
		t.Errorf("it prints more: %s", rest)
	}
}

// TestReadmeLinks checks that every file and folder that README names is there.
func TestReadmeLinks(t *testing.T) {
	for _, m := range slices.Concat(link.FindAllStringSubmatch(readme(t), -1), folder.FindAllStringSubmatch(readme(t), -1)) {
		if _, err := os.Stat(filepath.Join(top, m[1])); err != nil {
			t.Errorf("README names %s: %v", m[1], err)
		}
	}
}

// TestReadmeGames checks that every game has a row.
func TestReadmeGames(t *testing.T) {
	for _, g := range catalog.Games() {
		if !strings.Contains(readme(t), "\n| `"+g.Name+"` |") {
			t.Errorf("README has no row for %s", g.Name)
		}
	}
}

// TestReadmeCode checks that the code in README stands in example_test.go, which
// is compiled and run.
func TestReadmeCode(t *testing.T) {
	source := string(simtest.Text(t, "example_test.go"))
	for _, m := range goCode.FindAllStringSubmatch(readme(t), -1) {
		want := regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(m[1], "\t$1")
		if !strings.Contains(source, want) {
			t.Errorf("example_test.go does not have\n%s", want)
		}
	}
}
