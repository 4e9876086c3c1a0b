package replay

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
	"moonfarm/sim/codecraft/wire/recording"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// recorded plays ticks with orders of all kinds, and returns the replay file.
func recorded(t testing.TB, g *codecraft.Game, s *codecraft.State, random *prng.Rand, ticks int) []byte {
	t.Helper()
	var file bytes.Buffer
	wiretest.Play(t, g, s, random, ticks, recording.NewRecorder(&file, g, s))
	return file.Bytes()
}

// TestVerifyOwnGames records games of all presets and choices, and verifies the replay files. It
// also compares the states in the files with the played states.
func TestVerifyOwnGames(t *testing.T) {
	games, ticks := 12, 40
	if os.Getenv("MOONFARM_LONG") != "" {
		games, ticks = 400, 60
	}
	var sum Report
	for seed := range uint64(games) {
		r := prng.New(seed)
		rules, _ := codecraft.Preset([]string{"round1-1", "round1-2", "round1-3", "round1-4", "round2-3", "finals"}[seed%6])
		if seed >= 6 {
			choose(&rules, &r)
			rules.Types[codecraft.Resource].DestroyScore = 7 // which nobody ever gets
		}
		g, s := wiretest.Battle(t, rules, seed)
		file := recorded(t, g, s, &r, ticks)
		report, err := Verify("own", bytes.NewReader(file), rules)
		require.NoErrorf(t, err, "seed %d", seed)
		assert.Nilf(t, report.First, "seed %d, %d different, first", seed, report.Different)
		for i, n := range report.Counts {
			sum.Counts[i] += n
		}
		sum.Ticks += report.Ticks
		end, err := recording.NewReader("own", bytes.NewReader(file))
		for err == nil {
			err = end.Next()
		}
		_, last := wiretest.Restore(t, &end.World)
		last.Seed = s.Seed // no file has it
		if g.Hash(s) != g.Hash(last) {
			last.FirstID, last.Veins, last.Before = s.FirstID, s.Veins, s.Before // where resources were is not in files
			t.Errorf("seed %d: the last state that is read is not that which was played: %s", seed, simtest.Diff(last, s))
		}
	}
	t.Logf("%d ticks: %v %v", sum.Ticks, CountNames, sum.Counts)
	for i, n := range sum.Counts {
		assert.GreaterOrEqualf(t, n, sum.Ticks/20, "only %d %s", n, CountNames[i])
	}
}

// choose flips some of the choices that recordings do not have.
func choose(r *codecraft.Rules, random *prng.Rand) {
	for _, c := range []*bool{
		&r.DeadRest, &r.NearestVictim, &r.RangeGates, &r.ChaseUnseen, &r.OutsideIgnored, &r.BreakFloor, &r.UnableTakeID,
		&r.DeadAreFree, &r.PopulationAll, &r.RepairFull, &r.RepairOthers, &r.DeadMove, &r.WallsDoNotLive, &r.SoloEnds,
	} {
		*c = random.IntN(2) == 0
	}
}

// openRecorded opens the recorded game.
func openRecorded(t testing.TB) *recording.Reader {
	t.Helper()
	r, err := recording.NewReader(wiretest.RecordedGame, bytes.NewReader(wiretest.Unpack(t, wiretest.RecordedGame)))
	require.NoError(t, err)
	return r
}

// recordedReplay returns the recorded game as a replay file.
func recordedReplay(t testing.TB) []byte {
	t.Helper()
	r := openRecorded(t)
	file := r.World.Append(nil)
	for r.Next() == nil {
		file = r.Delta.Append(file, r.Events)
	}
	return file
}
