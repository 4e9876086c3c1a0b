package full

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/command"
	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/bots/child"
)

// TestMain lets the test's program run as moonfarm, moonfarm-full or stranger.
func TestMain(m *testing.M) {
	child.Main() // the guard of a bot is this program, too
	testscript.Main(m, map[string]func(){"moonfarm": func() { command.Program{}.Main() }, console.FullProgram: Main, "stranger": stranger})
}

// top is the folder of the module.
const top = "../../../.."

const longEnv = commandtest.LongEnv

type process = commandtest.Process

// start starts moonfarm-full.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return commandtest.Start(t, console.FullProgram, args...)
}

// finish runs moonfarm-full, which must succeed, and returns its standard output.
func finish(t *testing.T, args ...string) string {
	t.Helper()
	return commandtest.Finish(t, console.FullProgram, args...)
}

func tree() *cobra.Command { return program().Tree() }

func TestScripts(t *testing.T) {
	commandtest.Scripts(t, tree, func(dir string) error {
		heads, err := os.ReadFile(filepath.Join(top, "rollout", "network", "testdata", "heads.onnx"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "heads.onnx"), heads, 0o666)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "nan.onnx"), commandtest.NaN(t, "tron"), 0o666)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "recurrent.onnx"), commandtest.Recurrent(t, "towerdefence"), 0o666)
		}
		return err
	})
}

func TestHelp(t *testing.T) { commandtest.Help(t, tree(), console.HelpWidth) }

// TestPages checks that the commands of moonfarm-full that pages name exist.
func TestPages(t *testing.T) {
	named := map[string]int{}
	for _, p := range commandtest.Pages(t, top) {
		named[p.Path] = commandtest.Page(t, p.Text, console.FullProgram, tree())
	}
	for _, path := range []string{"README.md", "rollout/farm/README.md"} {
		assert.GreaterOrEqual(t, named[path], 3, "commands of %s in %s", console.FullProgram, path)
	}
}

// TestSameCommands checks that moonfarm-full has all commands of moonfarm, with the same
// help. That of view and of eval says that they serve their pages here.
func TestSameCommands(t *testing.T) {
	light := command.Program{}.Tree()
	for _, c := range light.Commands() {
		found, _, err := tree().Find([]string{c.Name()})
		require.NoErrorf(t, err, "%s", c.Name())
		assert.Truef(t, c.Hidden || c.Name() == "view" || c.Name() == "eval" || found.Long == c.Long, "%s, or another help", c.Name())
	}
}

// run runs a command of moonfarm-full in this process.
func run(ctx context.Context, args []string) (status int) {
	return program().Run(ctx, args, os.Stderr, os.Stderr)
}

// built builds moonfarm-full as a program of its own.
func built(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.Command("go", append(append([]string{"build", "-pgo=off", "-o", name}, args...), top+"/cmd/"+console.FullProgram)...)
	out, err := c.CombinedOutput()
	require.NoErrorf(t, err, "%v: %v: %s", c.Args, err, out)
	return name
}
