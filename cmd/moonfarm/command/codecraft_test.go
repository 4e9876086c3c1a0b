package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/sim/simtest"
)

// TestImportRecordedCodecraft imports the recorded game of the original, whose random
// numbers are unknown, checks it, and writes it as a replay file.
func TestImportRecordedCodecraft(t *testing.T) {
	file := simtest.Shared(t, "traces", "codecraft", "replay-round1-3p-ticks0-106.jsonl.gz")
	dir := t.TempDir()
	data, again, replays := filepath.Join(dir, "data"), filepath.Join(dir, "again"), filepath.Join(dir, "replays")
	commandtest.Wants(t, moonfarm(t, console.ExitOK, "import", "codecraft", "--obs", "packed", "--out", data, file), ": 1 episode, 1 different game, 318 rows, ")
	commandtest.Wants(t, moonfarm(t, console.ExitOK, "verify", data, "--recompute", "all"), "equal to the bit", "1 recorded episode cannot be played again")
	moonfarm(t, console.ExitOK, "replay", "convert", data, "--out", replays)
	replay := filepath.Join(replays, "00000000.replay")
	commandtest.Wants(t, moonfarm(t, console.ExitOK, "replay", "verify", replay), "1 game, 106 ticks compared, 0 differences")
	moonfarm(t, console.ExitOK, "import", "codecraft", "--obs", "packed", "--out", again, replay)
	moonfarm(t, console.ExitOK, "replay", "convert", again, "--out", again+"-replays")
	a := simtest.Text(t, replay)
	assert.True(t, bytes.Equal(a, simtest.Text(t, filepath.Join(again+"-replays", "00000000.replay"))), "there and back again it has other bytes")
	d, err := datasets.Open(data)
	require.NoError(t, err)
	for e, err := range d.Episodes() {
		require.NoError(t, err)
		assert.Truef(t, e.Turns == 106 && e.Stopped == "the recording ends after 106 ticks" && bytes.Equal(e.Recording, a) && len(e.Orders) != 0, "%d turns, stopped %q, %d bytes, %d orders", e.Turns, e.Stopped, len(e.Recording), len(e.Orders))
	}
}

// TestMatchIsImported plays matches with many fights, and imports their replays. Replays
// lack the orders of entities in the tick of their death. The import finds orders with the
// same effect, as else it would import the games as recordings.
func TestMatchIsImported(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules.txt")
	require.NoError(t, os.WriteFile(rules, []byte("round1-4\nmax_tick_count=260\n"), 0o666))
	args := []string{"import", "codecraft", "--obs", "none", "--out", filepath.Join(dir, "data")}
	for i, players := range []string{"econ,econ-break,econ-near,econ-break", "econ-break,quickstart,random,random"} {
		file := filepath.Join(dir, fmt.Sprintf("%d.replay", i))
		match := []string{"match", "codecraft", "--rules", rules, "--seed", fmt.Sprint(1 + i), "--save-replay", file}
		for p := range strings.SplitSeq(players, ",") {
			match = append(match, "--player", p)
		}
		moonfarm(t, console.ExitOK, match...)
		args = append(args, file)
	}
	commandtest.Wants(t, moonfarm(t, console.ExitOK, args...), ": 2 episodes, 2 different games, 2,080 rows, ")
	assert.NotContains(t, moonfarm(t, console.ExitOK, "verify", filepath.Join(dir, "data"), "--recompute", "all"), "recorded episode", "some are not played again")
	moonfarm(t, console.ExitOK, "replay", "convert", filepath.Join(dir, "data"), "--out", filepath.Join(dir, "again"))
	for i := range 2 {
		a, b := simtest.Text(t, filepath.Join(dir, fmt.Sprintf("%d.replay", i))), simtest.Text(t, filepath.Join(dir, "again", fmt.Sprintf("%08d.replay", i)))
		assert.Truef(t, bytes.Equal(a, b), "match %d: it comes back with other bytes", i)
	}
}
