package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/network/onnx"
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
		if err := os.WriteFile(filepath.Join(dir, "recurrent.onnx"), commandtest.Recurrent(t, "towerdefence"), 0o666); err != nil {
			return err
		}
		large := onnx.Graph{Opset: 18, Inputs: []onnx.Value{{Name: "x", Type: onnx.Float32, Dims: []onnx.Dim{{Size: -1}, {Size: 1}, {Size: 4000}, {Size: 4000}}}},
			Outputs: []onnx.Value{{Name: "y", Type: onnx.Float32}},
			Nodes:   []*onnx.Node{{Op: "MaxPool", Inputs: []string{"x"}, Outputs: []string{"y"}, Attributes: []onnx.Attribute{{Name: "kernel_shape", Kind: onnx.KindInts, Ints: []int64{2000, 2000}}}}}}
		if err := os.WriteFile(filepath.Join(dir, "large.onnx"), onnx.Encode(&large), 0o666); err != nil {
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
