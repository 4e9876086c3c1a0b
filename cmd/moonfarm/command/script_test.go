package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/bots/child"
)

// TestMain lets the test's program run as moonfarm or as a bot of a game.
func TestMain(m *testing.M) {
	child.Main()
	testscript.Main(m, map[string]func(){
		"moonfarm": func() { Program{}.Main() }, "craftclient": craftClient, "towerbot": towerBot, "algobot": algoBot, "terminalclient": terminalClient,
	})
}

// TestScripts runs the archives in testdata/script.
func TestScripts(t *testing.T) {
	commandtest.Scripts(t, Program{}.Tree, func(dir string) error {
		game, err := os.ReadFile(filepath.Join("..", "..", "..", "sim", "towerdefence", "wire", "testdata", "game.jsonl"))
		if err != nil {
			return err
		}
		files, err := terminalReplays()
		if err != nil {
			return err
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				return err
			}
		}
		models := filepath.Join("..", "..", "..", "rollout", "network", "testdata")
		if err := os.WriteFile(filepath.Join(dir, "nan.onnx"), commandtest.NaN(t, "tron"), 0o666); err != nil {
			return err
		}
		for _, name := range []string{"heads.onnx", "tower.onnx"} {
			model, err := os.ReadFile(filepath.Join(models, name))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, name), model, 0o666); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(dir, "game.jsonl"), game, 0o666)
	})
}

// TestHelp checks the help of every command.
func TestHelp(t *testing.T) {
	commandtest.Help(t, Program{}.Tree(), console.HelpWidth)
}
