package moonfarm_test

import (
	"go/ast"
	"io/fs"
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

// entriesOfGames are the files that may name games, as they have a line for each, besides
// files named after a game.
var entriesOfGames = []string{"env/catalog/games.go", "rollout/policy/policy.go", "rollout/bots/players/players.go", "bench/bench.go"}

// clientsOf has the folders for the clients of one game.
var clientsOf = map[string]string{"rollout/bots": "codecraft"}

// gameNames returns the games: the folders of sim with a page of rules.
func gameNames(t *testing.T) (names []string) {
	t.Helper()
	pages, err := filepath.Glob("sim/*/RULES.md")
	require.NoErrorf(t, err, "pages of rules %q", pages)
	require.GreaterOrEqualf(t, len(pages), 4, "pages of rules %q", pages)
	for _, p := range pages {
		names = append(names, filepath.Base(filepath.Dir(p)))
	}
	return names
}

// TestNoNames demands that only the entries of games and their own files name a game, so that
// no other code decides by a game's name.
func TestNoNames(t *testing.T) {
	games := gameNames(t)
	for _, s := range sources(t) {
		if s.test || row(s.dir) < row("env") || slices.Contains(entriesOfGames, s.path) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if _, tags := n.(*ast.ImportSpec); tags {
				return false
			}
			literal, ok := n.(*ast.BasicLit)
			if !ok {
				return true
			}
			name, err := strconv.Unquote(literal.Value)
			assert.Truef(t, err != nil || !slices.Contains(games, name) || strings.HasPrefix(path.Base(s.path), name) || clientsOf[s.dir] == name, "%s: names the game %s; say it in the game's entry", s.at(n), name)
			return true
		})
	}
}

// smallest is the game that checks the list of CONTRIBUTING.md.
const smallest = "tron"

// TestAddingAGame demands that the list in CONTRIBUTING.md of the files of a new game is
// complete: apart from tests, exactly the listed files name the smallest game. The list calls
// the game GAME.
func TestAddingAGame(t *testing.T) {
	_, list, found := strings.Cut(string(simtest.Text(t, "CONTRIBUTING.md")), "\n## Adding a game\n")
	require.True(t, found, "CONTRIBUTING.md has no section of that name")
	list, _, _ = strings.Cut(list, "\n## ")
	list = strings.ReplaceAll(list, "GAME", smallest)
	want := []string{"CONTRIBUTING.md", "README.md"}
	for _, m := range regexp.MustCompile("[`(]([a-z]+/[a-zA-Z/_]+(?:\\.[a-z]+)?)[`)]").FindAllStringSubmatch(list, -1) {
		if s, err := os.Stat(m[1]); err != nil {
			t.Errorf("the list names %s: %v", m[1], err)
		} else if !s.IsDir() {
			want = append(want, m[1])
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	var got []string
	named := regexp.MustCompile(`\b` + smallest + `\b`)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		own := name == "sim/"+smallest || name == "features/"+smallest || name == "rollout/policy/"+smallest
		if d.IsDir() && (own || d.Name() == "testdata" || d.Name() == "node_modules" || len(name) > 1 && name[0] == '.') {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(name); ext != ".go" && ext != ".md" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err == nil && named.Match(text) {
			got = append(got, filepath.ToSlash(name))
		}
		return err
	})
	require.NoError(t, err)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the files that name %s are\n%q, the list has\n%q", smallest, got, want)
	}
}
