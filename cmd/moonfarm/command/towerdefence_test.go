package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/sim/simtest"
)

// moonfarm runs the command, checks its exit status and returns its standard output.
func moonfarm(t *testing.T, status int, args ...string) string {
	t.Helper()
	out, _ := said(t, status, args...)
	return out
}

// said runs the command, checks its exit status and returns its standard output and error.
func said(t *testing.T, status int, args ...string) (string, string) {
	t.Helper()
	var out, stderr bytes.Buffer
	got := run(args, &out, &stderr)
	require.Equalf(t, status, got, "moonfarm %.200s: exit status %d, want %d: %.2000s%.2000s", strings.Join(args, " "), got, status, out.String(), stderr.String())
	return out.String(), stderr.String()
}

// TestImportTowerdefence imports recordings of the official engine, plays the dataset again and
// writes recordings of it. These verify and make the same rows. The long form (MOONFARM_LONG)
// takes all recordings.
func TestImportTowerdefence(t *testing.T) {
	few := []string{"broken_bots.jsonl.gz", "crafted.jsonl.gz", "recorded_iron_curtain.jsonl.gz", "score_finish.jsonl.gz"}
	imported, verified := []string{": 85 episodes, 74 different games, 14,538 rows, ", "rules: 3.0.2+1: 14, of their own: 71 (18 sets)\n"}, "85 games, 7,269 rounds compared, 0 differences"
	long := os.Getenv("MOONFARM_LONG") != ""
	if long {
		imported = []string{": 603 episodes, 592 different games, 85,214 rows, ", "rules: 3.0.2+1: 293, of their own: 310 (83 sets)\n"}
		verified = "603 games, 42,607 rounds compared, 0 differences"
	}
	files := slices.DeleteFunc(simtest.SharedFiles(t, "traces", "towerdefence", "*.jsonl.gz"), func(f string) bool {
		return strings.HasPrefix(filepath.Base(f), "renders") || !long && !slices.Contains(few, filepath.Base(f))
	})
	dir := t.TempDir()
	data, again, replays := filepath.Join(dir, "data"), filepath.Join(dir, "again"), filepath.Join(dir, "replays")
	commandtest.Wants(t, moonfarm(t, console.ExitOK, append([]string{"import", "towerdefence", "--obs", "packed", "--out", data}, files...)...), imported...)
	commandtest.Wants(t, moonfarm(t, console.ExitOK, "verify", data, "--recompute", "all"), "equal to the bit")
	moonfarm(t, console.ExitOK, "replay", "convert", data, "--out", replays)
	written, err := filepath.Glob(filepath.Join(replays, "*.jsonl"))
	require.NoError(t, err)
	commandtest.Wants(t, moonfarm(t, console.ExitOK, append([]string{"replay", "verify"}, written...)...), verified)
	moonfarm(t, console.ExitOK, append([]string{"import", "towerdefence", "--obs", "packed", "--out", again}, written...)...)
	// All recordings are equal but for texts before a readable command that count as failures,
	// which has no effect.
	a, err := datasets.Open(data)
	require.NoError(t, err)
	b, err := datasets.Open(again)
	require.NoError(t, err)
	for table, columns := range map[string][]string{
		"steps":    {"episode", "turn", "seat", "packed", "scalars", "mask", "reward", "return", "outcome", "terminated", "truncated"},
		"episodes": {"policies", "rules", "turns", "status", "results", "scores", "ends", "stopped"},
	} {
		for _, c := range columns {
			x, err := a.ColumnSHA256(table, c)
			if err != nil {
				t.Fatal(err)
			}
			if y, err := b.ColumnSHA256(table, c); err != nil || x != y {
				t.Errorf("column %s of %s: %s, then %s, error %v", c, table, x, y, err)
			}
		}
	}
}

// towerBot is a program that plays Tower Defence: towerbot KIND. Each round it builds in
// another cell and writes the round to a file in its folder, which a copy of the folder
// loses. The kind "crashes" ends with an error in round 2, after its command.
func towerBot() {
	round, command, err := towerCommand()
	if err == nil {
		err = os.WriteFile("command.txt", []byte(command), 0o666)
	}
	if err == nil {
		err = os.WriteFile("round.txt", fmt.Append(nil, round), 0o666)
	}
	if err == nil && round == 2 && os.Args[1] == "crashes" {
		err = errors.New("a stone is in the way")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("round", round)
}

// towerCommand reads the state files and returns the round and the command.
func towerCommand() (round int, command string, err error) {
	var state struct {
		GameDetails struct{ Round int }
		Players     []struct {
			PlayerType string
			Energy     int
		}
	}
	text, err := os.ReadFile("state.json")
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		return 0, "", err
	}
	round = state.GameDetails.Round
	if text, err = os.ReadFile("textMap.txt"); err != nil || !bytes.Contains(text, fmt.Appendf(nil, "\nRound Number : %d\n", round)) {
		return round, "", fmt.Errorf("round %d, but textMap.txt has %q, error %v", round, text, err)
	}
	for _, p := range state.Players {
		if p.PlayerType == "A" && p.Energy >= 20 {
			command = fmt.Sprintf("%d,%d,2", round%8, round/8%8)
		}
	}
	return round, command, nil
}
