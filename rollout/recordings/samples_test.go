package recordings_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/replay"
)

// sample returns a small recording of a game, uncompressed.
func sample(t testing.TB, game string) []byte {
	t.Helper()
	switch game {
	case "towerdefence":
		return simtest.Text(t, "../../sim/towerdefence/wire/testdata/game.jsonl")
	case "codecraft":
		return simtest.Text(t, "../../sim/codecraft/wire/testdata/battle.replay.gz")
	}
	return terminalSample(t)
}

// terminalSample writes a match of three turns, in which player 1 places a wall, upgrades and
// removes it, and crashes.
func terminalSample(t testing.TB) []byte {
	t.Helper()
	r, ok := terminal.RuleSet("2022")
	require.True(t, ok)
	m := &replay.Match{Config: config.Of(r), Names: [2]string{"anna", "bert"}}
	turn := new(sim.Turn)
	turn.Set(0, []sim.Order{terminal.Clock(6100), terminal.Penalty(1), terminal.Place(terminal.Wall, 3, 13), terminal.UpgradeAt(3, 13)})
	turn.Set(1, []sim.Order{terminal.Place(terminal.Support, 14, 15), terminal.Spawn(terminal.Scout, 13, 27, 3)})
	m.Add(turn)
	turn.Clear()
	turn.SetOne(0, terminal.RemoveAt(3, 13))
	m.Add(turn)
	turn.SetOne(0, terminal.Penalty(r.CrashPenalty()))
	m.Add(turn)
	var b bytes.Buffer
	require.NoError(t, replay.WriteMatch(&b, m, config.Local))
	return b.Bytes()
}

// sampleFile writes sample to a file.
func sampleFile(t testing.TB, game string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), game)
	require.NoError(t, os.WriteFile(file, sample(t, game), 0o666))
	return file
}
