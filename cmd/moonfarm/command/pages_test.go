package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/env/catalog"
	"moonfarm/sim/simtest"
)

// top is the folder of the module.
const top = "../../.."

func document(t *testing.T, path string) commandtest.Document {
	t.Helper()
	return commandtest.Document{Path: path, Text: string(simtest.Text(t, filepath.Join(top, path)))}
}

// These are the blocks of shell commands that TestPageCommands does not run, by the page and
// the first command, and the lines that it leaves out of other blocks, each with the reason.
var (
	blocksLeftOut = map[string]string{
		"README.md: python3 env/python/examples/ppo.py":                                  "trains for half an hour; test_readme.py runs it in small",
		"README.md: go run ./cmd/moonfarm match towerdefence --player bot:path/to/mybot": "the bot is not there; TestScripts plays others",
		"README.md: moonfarm-full farm serve --store farm":                               "ten machines; package full tests farms",
		"CONTRIBUTING.md: go test -short ./...":                                          "these are the tests",
		"CONTRIBUTING.md: go build -pgo=cmd/moonfarm/moonfarm.pgo":                       "compiles all packages twice; .ci/run builds a release so",
		"CONTRIBUTING.md: .ci/release":                                                   "builds for all platforms; package release tests it, and .ci/run runs it",
		"bench/PEERS.md: go build -pgo=cmd/moonfarm/moonfarm.pgo":                        "compiles all packages twice, and measures for minutes",
		"bench/PEERS.md: git clone":                                                      "clones and compiles other projects, and measures for minutes",
		"bench/RESULTS.md: go build -pgo=cmd/moonfarm/moonfarm.pgo":                      "compiles all packages twice, and measures for minutes",
		"bench/RESULTS.md: ./moonfarm bench codecraft --what playout --against":          "measures for minutes, with a build that is not there",
		"datasets/README.md: go run ./cmd/moonfarm-full generate towerdefence":           "the bucket is not there; package full tests stores",
		"env/README.md: mkdir mybot && cd mybot":                                         "TestPageOutside does so without a network",
		"env/python/README.md: python3 env/python/build.py":                              "builds the library; .ci/run does, and test_readme.py runs the rest",
		"env/python/README.md: python3 env/python/examples/ppo.py":                       "needs PyTorch; test_readme.py runs it in small",
		"env/python/TRAINING.md: python3 ":                                               "trains for minutes; test_readme.py runs it in small",
		"env/python/README.md: python3 -m unittest discover":                             "the tests of the package; .ci/run runs them",
		"rollout/bots/README.md: go run ./cmd/moonfarm match towerdefence --player bot:": "the bots are not there; TestScripts plays others",
		"rollout/farm/README.md: moonfarm-full farm credentials --name m2":               "another machine; package full tests credentials",
	}
	linesLeftOut = map[string]string{
		"go test ./...": "these are the tests",
	}
)

// small makes the commands of pages small.
var small = strings.NewReplacer("go run ./cmd/moonfarm ", "moonfarm ", "--episodes 2000 ", "--episodes 40 --shard-episodes 10 ")

// TestPageCommands runs the shell commands of all pages, each page in a folder of its own.
func TestPageCommands(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	used := map[string]bool{}
	for _, p := range commandtest.Pages(t, top) {
		var scripts []string
		for _, b := range p.Blocks() {
			if b.Language == "sh" && !leftOut(blocksLeftOut, p.Path+": "+firstCommand(b.Text), used) {
				scripts = append(scripts, runnable(b.Text, used))
			}
		}
		if len(scripts) == 0 {
			continue
		}
		t.Run(p.Path, func(t *testing.T) {
			dir := t.TempDir()
			if strings.Contains(strings.Join(scripts, ""), "recordings/") {
				recorded(t, dir)
			}
			for _, script := range scripts {
				c := exec.Command(bash, "-euo", "pipefail", "-c", script)
				c.Dir = dir
				out, err := c.CombinedOutput()
				require.NoError(t, err, "%s\n%s", script, out)
			}
		})
	}
	for _, list := range []map[string]string{blocksLeftOut, linesLeftOut} {
		for what := range list {
			assert.True(t, used[what], "no page has %q, which is left out", what)
		}
	}
}

// leftOut reports whether text begins with a key of the list, and notes the key as used.
func leftOut(list map[string]string, text string, used map[string]bool) bool {
	for key := range list {
		if strings.HasPrefix(text, key) {
			used[key] = true
			return true
		}
	}
	return false
}

// firstCommand returns the first line of a script that is not a comment.
func firstCommand(script string) string {
	for line := range strings.Lines(script) {
		if line[0] != '#' {
			return line
		}
	}
	return ""
}

// runnable returns a script without the lines that are left out, with small numbers.
func runnable(script string, used map[string]bool) string {
	var kept strings.Builder
	for line := range strings.Lines(script) {
		if !leftOut(linesLeftOut, line, used) {
			kept.WriteString(line)
		}
	}
	return small.Replace(kept.String())
}

// recorded puts the recordings that pages name into a folder.
func recorded(t *testing.T, dir string) {
	t.Helper()
	replays, err := terminalReplays()
	require.NoError(t, err)
	commandtest.WriteFiles(t, dir, map[string]string{
		"replays/2022.replay":   replays["small.replay"],
		"replays/2026.replay":   replays["other.replay"],
		"recordings/game.jsonl": string(simtest.Text(t, filepath.Join(top, "sim/towerdefence/wire/testdata/game.jsonl"))),
	})
	require.NoError(t, os.Mkdir(filepath.Join(dir, "match-logs"), 0o777))
	moonfarm(t, console.ExitOK, "match", "towerdefence", "--player", "econ", "--player", "rush", "--save-replay", filepath.Join(dir, "match-logs", "first"))
}

// TestPageNames checks that every command and flag that a page names exists.
func TestPageNames(t *testing.T) {
	named := 0
	for _, p := range commandtest.Pages(t, top) {
		t.Run(p.Path, func(t *testing.T) { named += commandtest.Page(t, p.Text, "moonfarm", Program{}.Tree()) })
	}
	assert.Greater(t, named, 30)
}

// TestPageLanguages checks that code is in a language that a test runs:
// env/python/tests/test_readme.py runs Python, .ci/run JavaScript.
func TestPageLanguages(t *testing.T) {
	for _, p := range commandtest.Pages(t, top) {
		for _, b := range p.Blocks() {
			assert.Contains(t, []string{"sh", "go", "python", "js", "json", "mermaid", "text", ""}, b.Language, p.Path)
		}
	}
}

// TestPageGo checks that the Go code of pages is in example_test.go, which is compiled and run.
func TestPageGo(t *testing.T) {
	source := string(simtest.Text(t, "example_test.go"))
	for _, p := range commandtest.Pages(t, top) {
		for _, b := range p.Blocks() {
			if want := regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(b.Text, "\t$1"); b.Language == "go" && !strings.Contains(source, want) {
				t.Errorf("%s: example_test.go does not have\n%s", p.Path, want)
			}
		}
	}
}

// TestPageAnalysis runs the example of analyse: the page shows parts of the output, in order.
func TestPageAnalysis(t *testing.T) {
	_, text, _ := strings.Cut(document(t, "rollout/bots/README.md").Text, "\n$ moonfarm analyse ")
	line, text, _ := strings.Cut(text, "\n")
	text, _, found := strings.Cut(text, "\n```")
	args := strings.Fields(strings.ReplaceAll(line, "'", ""))
	require.True(t, found && len(args) > 0, "the page has no example of analyse")
	name := args[0]
	args[0] = simtest.Shared(t, "traces", "towerdefence", name)
	rest := moonfarm(t, console.ExitOK, append([]string{"analyse"}, args...)...)
	rest = "\n" + strings.ReplaceAll(rest, args[0], name)
	for _, part := range strings.Split(text, "\n…") {
		part = "\n" + strings.Trim(part, "\n") + "\n"
		_, after, found := strings.Cut(rest, part)
		require.True(t, found, "it does not print, or not behind the part before: %s", part)
		rest = "\n" + after
	}
	assert.Equal(t, "\n", rest, "it prints more")
}

var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	folder = regexp.MustCompile("`((?:sim|features|env|rollout|datasets|bench|cmd|\\.ci)/[a-z./_-]+)`")
	title  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	marks  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the anchors that GitHub makes of a page's headings.
func anchors(p commandtest.Document) (all []string) {
	seen := map[string]int{}
	for _, m := range title.FindAllStringSubmatch(p.Prose(), -1) {
		a := strings.ReplaceAll(marks.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if seen[a]++; seen[a] > 1 {
			a = fmt.Sprintf("%s-%d", a, seen[a]-1)
		}
		all = append(all, a)
	}
	return all
}

// target returns the path, from the top folder, and the anchor that a link of a page leads to.
func target(from, to string) (path, anchor string) {
	to, anchor, _ = strings.Cut(to, "#")
	if to == "" {
		return from, anchor
	}
	return filepath.ToSlash(filepath.Join(filepath.Dir(from), to)), anchor
}

// TestPageLinks checks that every link of a page leads to a file or folder, and its anchor to
// a heading, and that the folders that pages name exist.
func TestPageLinks(t *testing.T) {
	links := 0
	for _, p := range commandtest.Pages(t, top) {
		for _, m := range link.FindAllStringSubmatch(p.Prose(), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			path, anchor := target(p.Path, m[1])
			if _, err := os.Stat(filepath.Join(top, path)); err != nil {
				t.Errorf("%s: the link to %s: %v", p.Path, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(document(t, path)), anchor) {
				t.Errorf("%s: the link to %s: no such heading", p.Path, m[1])
			}
		}
		for _, m := range folder.FindAllStringSubmatch(p.Prose(), -1) {
			_, err := os.Stat(filepath.Join(top, m[1]))
			assert.NoError(t, err, p.Path)
		}
	}
	assert.Greater(t, links, 100)
}

// TestPagesFromReadme checks that README links to every page.
func TestPagesFromReadme(t *testing.T) {
	readme := document(t, "README.md")
	linked := []string{readme.Path}
	for _, m := range link.FindAllStringSubmatch(readme.Text, -1) {
		path, _ := target(readme.Path, m[1])
		linked = append(linked, path)
	}
	for _, p := range commandtest.Pages(t, top) {
		assert.Contains(t, linked, p.Path, "README does not link to it")
	}
}

// TestPageLengths: README and the pages of instructions stay short enough to be read.
func TestPageLengths(t *testing.T) {
	for _, p := range commandtest.Pages(t, top) {
		most := 250
		if p.Path == "README.md" {
			most = 220
		}
		if name := filepath.Base(p.Path); name == "README.md" || name == "CONTRIBUTING.md" {
			assert.LessOrEqual(t, strings.Count(p.Text, "\n"), most, "lines of "+p.Path)
		}
	}
}

// TestReadmeGames checks that every game has a row.
func TestReadmeGames(t *testing.T) {
	for _, g := range catalog.Games() {
		assert.Contains(t, document(t, "README.md").Text, "\n| `"+g.Name+"` |")
	}
}
