package command

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
)

// TestForeignTexts: names of files, operators of networks, manifests, journals and bots put no line and no control
// character into the output.
func TestForeignTexts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names of files have no control characters on Windows")
	}
	const nasty = "N\x1b]0;x\x07\r\nmoonfarm: ok"
	const nastyJSON = `N\u001b]0;x\u0007\r\nmoonfarm: ok`
	dir := filepath.Join(t.TempDir(), nasty)
	require.NoError(t, os.Mkdir(dir, 0o777))
	at := func(name string) string { return filepath.Join(dir, name) }
	put := func(name string, text []byte) {
		require.NoError(t, os.MkdirAll(filepath.Dir(at(name)), 0o777))
		require.NoError(t, os.WriteFile(at(name), text, 0o777))
	}
	edit := func(name, old, text string) {
		b, err := os.ReadFile(at(name))
		require.NoError(t, err)
		require.Contains(t, string(b), old)
		put(name, bytes.ReplaceAll(b, []byte(old), []byte(text)))
	}
	network := commandtest.NaN(t, "tron")
	put("good.onnx", network)
	require.Contains(t, string(network), "Exp")
	put("bad.onnx", bytes.ReplaceAll(network, []byte("Exp"), []byte("\x1b\n\x00")))
	put("empty", nil)
	put("rules", []byte("\x1b]0;x\x07=1\n"))
	moonfarm(t, console.ExitOK, "generate", "tron", "--episodes", "2", "--out", at("data"))
	moonfarm(t, console.ExitOK, "eval", "tron", "--players", "safe,random", "--games", "2", "--out", at("cup"))
	moonfarm(t, console.ExitOK, "eval", "report", at("cup"), "--html")
	edit("data/manifest.json", `"moonfarm": "`, `"moonfarm": "`+nastyJSON)
	edit("cup/games.jsonl", `random`, nastyJSON)
	put("bot/run.sh", []byte("#!/bin/sh\nprintf 'N\\033]0;x\\007\\r\\nmoonfarm: ok\\n\\000\\n' >&2\nexit 3\n"))
	for _, args := range [][]string{
		{"model", "inspect", at("bad.onnx")}, {"model", "inspect", at("good.onnx")}, {"generate", "tron", "--policy", at("bad.onnx"), "--out", at("x")},
		{"generate", "tron", "--policy", "safe," + nasty, "--out", at("x")}, {"generate", "tron", "--rules", at("rules"), "--out", at("x")},
		{"generate", "tron", "--episodes", "2", "--out", at("other" + nasty)}, {"inspect", at("data")}, {"verify", at("data")}, {"inspect", at("none")},
		{"eval", "report", at("cup")}, {"eval", "report", at("cup"), "--markdown"}, {"view", at("cup"), "--out", at("cup.html")},
		{"replay", "verify", at("empty"), at("none")}, {"import", "terminal", at("empty"), "--skip-invalid", "--out", at("x")},
		{"match", "terminal", "--player", "bot:" + at("bot"), "--player", "maze"},
		{"match", nasty}, {nasty}, {"view", "tron", "--players", "safe,random", "--tty", "--turns", "0-2"},
	} {
		for _, args := range [][]string{args, append(args, "--json")} {
			var out, stderr bytes.Buffer
			run(args, &out, &stderr)
			text := out.String() + stderr.String()
			assert.NotContains(t, text, "\nmoonfarm: ok", args)
			assert.Equal(t, -1, strings.IndexFunc(text, func(c rune) bool { return c != '\n' && unicode.IsControl(c) }), "%q: %q", args, text)
		}
	}
}
