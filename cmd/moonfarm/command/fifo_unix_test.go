//go:build unix

package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/console"
)

// TestPipesWithoutWriters: no command waits for a pipe to which nobody writes.
func TestPipesWithoutWriters(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, folder := range []string{"cup", "bot", "algo"} {
		require.NoError(t, os.Mkdir(at(folder), 0o777))
	}
	pipe := at("pipe")
	for _, name := range []string{"pipe", "cup/games.jsonl", "bot/bot.json", "algo/algo.json"} {
		if err := syscall.Mkfifo(at(name), 0o666); err != nil {
			t.Skip(err)
		}
	}
	out := at("out")
	moonfarm(t, console.ExitOK, "generate", "tron", "--episodes", "1", "--out", at("data"))
	moonfarm(t, console.ExitOK, "match", "terminal", "--player", "maze", "--player", "maze", "--save-replay", at("replay"))
	const refused, empty = "expected a file, found a pipe", "the pipe is empty, and nobody writes to it"
	for _, c := range []struct {
		want string
		args []string
	}{
		{refused, []string{"replay", "verify", pipe}},
		{refused, []string{"replay", "show", pipe}},
		{refused, []string{"import", "towerdefence", pipe, "--out", out}},
		{refused, []string{"analyse", pipe}},
		{refused, []string{"model", "inspect", pipe}},
		{refused, []string{"eval", "report", at("cup")}},
		{refused, []string{"view", at("cup"), "--out", out}},
		{refused, []string{"eval", "tron", "--players", "safe,random", "--out", at("cup")}},
		{refused, []string{"match", "towerdefence", "--player", "bot:" + at("bot"), "--player", "econ"}},
		{refused, []string{"match", "terminal", "--player", "bot:" + at("algo"), "--player", "maze"}},
		{refused, []string{"view", at("replay"), "--log", pipe, "--out", out}},
		{empty, []string{"view", at("data"), "--analysis", pipe, "--out", out}},
		{empty, []string{"generate", "tron", "--rules", pipe, "--out", out}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			var out, stderr bytes.Buffer
			require.NotEqual(t, console.ExitOK, run(c.args, &out, &stderr))
			require.Contains(t, out.String()+stderr.String(), c.want)
		})
	}
}
