package imports_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets"
	"moonfarm/datasets/imports"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/recordings"
)

const (
	game   = "../../sim/towerdefence/wire/testdata/game.jsonl"
	battle = "../../sim/codecraft/wire/testdata/battle.replay.gz"
)

// run imports files of Tower Defence.
func run(t *testing.T, dir string, o imports.Options, files ...string) (imports.Imported, error) {
	t.Helper()
	g, err := catalog.Find("towerdefence")
	require.NoError(t, err)
	engine, ok := recordings.Of(g.Name)
	require.True(t, ok)
	o.Dir = dir
	job := datasets.Job{
		Program: datasets.ProgramMoonfarm, Reward: env.ResultReward, Discount: 1, Obs: datasets.ObsNone, Codec: datasets.Zstd,
		TensorMetadata: datasets.TensorsPlain,
	}
	return imports.Run(context.Background(), engine, files, job, datasets.Makers{Vector: g.New, Recorded: g.Recorded}, o)
}

// TestRun imports files with any number of workers, twice, and lists the skipped files.
func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	files := []string{game, battle, game, filepath.Join(t.TempDir(), "missing")}
	for _, workers := range []int{1, 3} {
		done := 0
		r, err := run(t, dir, imports.Options{ShardEpisodes: 1, Workers: workers, Progress: func(n int) { done = n }}, files...)
		require.NoError(t, err)
		assert.Equal(t, len(files), done)
		assert.Equal(t, []imports.RuleSet{{Episodes: 2}}, r.RuleSets, "the game has rules without a name")
		assert.Equal(t, uint64(2), r.Episodes)
		assert.Equal(t, uint64(1), r.Distinct)
		assert.Equal(t, 2, r.Shards)
		assert.Equal(t, 2, r.Made+r.Found)
		assert.Equal(t, workers == 1, r.Made == 2, "the second run finds the shards of the first")
		require.Len(t, r.Skipped, 2)
		assert.ErrorContains(t, r.Skipped[0].Err, "a recording of codecraft, not of towerdefence")
		assert.Equal(t, files[3], r.Skipped[1].File)
		assert.ErrorIs(t, r.Skipped[1].Err, os.ErrNotExist)
		assert.Equal(t, "2 files of 4", imports.SkippedText(r.Skipped, len(files)))
	}
	d, err := datasets.Open(dir)
	require.NoError(t, err)
	for e, err := range d.Episodes() {
		require.NoError(t, err)
		assert.Equal(t, "game.jsonl#1 golden", e.Source)
		assert.Equal(t, "golden", recordings.NameIn(e.Source))
	}
}

// TestNothing: without a game nothing is written, and the result lists the reasons.
func TestNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	r, err := run(t, dir, imports.Options{}, battle)
	assert.ErrorIs(t, err, imports.ErrNothing)
	assert.EqualError(t, err, "nothing to import: 1 file skipped")
	assert.Len(t, r.Skipped, 1)
	assert.NoDirExists(t, dir)

	r, err = run(t, dir, imports.Options{ReadOptions: recordings.ReadOptions{Rules: "nothing = known"}}, game)
	assert.ErrorIs(t, err, imports.ErrNothing)
	require.Len(t, r.Skipped, 1)
	assert.ErrorAs(t, r.Skipped[0].Err, new(*recordings.OptionError))
	left, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	assert.Empty(t, left, "the file of the episodes is removed")
}
