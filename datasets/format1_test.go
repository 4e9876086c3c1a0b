package datasets

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
)

// The datasets in testdata/format1 were made by moonfarm 0.1.0: a generated and
// an imported one of the toy, and two of towerdefence, one of them of a mix, by
// the commands in their manifests. towerdefence.json is what its inspect --sums --json printed.
const format1Dir = "testdata/format1"

// TestFormat1IsRead: datasets of the version before are opened, read, summed up
// and checked like those of today.
func TestFormat1IsRead(t *testing.T) {
	for name, c := range map[string]struct {
		shards   int
		episodes uint64
		makers   Makers
		replayed bool
	}{
		"toy":          {2, 8, toyMakers(), false},
		"recorded":     {3, 10, toyMakers(), true},
		"towerdefence": {2, 3, Makers{}, false},
		"mixed":        {2, 2, realMakers(t, "towerdefence"), false},
	} {
		dir := filepath.Join(format1Dir, name)
		d := opened(t, dir)
		require.Equal(t, 1, d.Manifest().Format)
		require.Equal(t, "0.1.0", d.Manifest().Moonfarm)
		require.Equal(t, c.episodes, d.Manifest().Totals.Episodes)
		episodes, rows := uint64(0), uint64(0)
		for e := range each(t, d.Episodes()) {
			require.Equal(t, episodes, e.ID)
			episodes++
		}
		require.Equal(t, c.episodes, episodes)
		for b := range each(t, d.Batches(ReadOptions{Shuffle: 10, Rows: 7})) {
			rows += uint64(b.Rows)
		}
		require.Equal(t, d.Manifest().Totals.Rows, rows)
		card := inspected(t, dir, InspectOptions{Workers: 2, Sums: true})
		require.Equal(t, rows, card.Rows)
		require.Equal(t, c.shards, card.Shards)
		o := VerifyOptions{Workers: 2}
		if c.makers.Vector != nil {
			o.Recompute = -1
		}
		r := verified(t, dir, c.makers, o)
		require.Empty(t, r.Problems, name)
		if o.Recompute != 0 {
			require.Equal(t, c.shards, r.Recomputed, name)
			require.Equal(t, c.replayed, r.Replayed, name)
		}
	}
}

// TestFormat1Inspect compares what was printed of a dataset by the version that
// made it.
func TestFormat1Inspect(t *testing.T) {
	text := read(t, format1Dir, "towerdefence.json")
	want := new(Card)
	require.NoError(t, json.Unmarshal(text, want))
	got := inspected(t, filepath.Join(format1Dir, "towerdefence"), InspectOptions{Workers: 2, Sums: true})
	require.Equal(t, want.Rows, got.Rows)
	require.Equal(t, want.SHA256, got.SHA256)
	same := func(want, got Stat) {
		require.Equal(t, [4]float64{want.Mean, want.Min, want.Max, want.Nonzero}, [4]float64{got.Mean, got.Min, got.Max, got.Nonzero}, got.Name)
	}
	require.Len(t, got.Planes, len(want.Planes))
	for i, s := range want.Planes {
		same(s, got.Planes[i])
	}
	require.Len(t, got.Scalars, len(want.Scalars))
	for i, s := range want.Scalars {
		same(s, got.Scalars[i])
	}
	same(want.Turns, got.Turns)
	same(want.Reward, got.Reward)
	same(want.Return, got.Return)
	same(want.Choices, got.Choices)
}

// TestFormat1Replays plays the recorded episodes of a real game again.
func TestFormat1Replays(t *testing.T) {
	d := opened(t, filepath.Join(format1Dir, "towerdefence"))
	g, err := catalog.Find("towerdefence")
	require.NoError(t, err)
	job := d.Manifest().Job
	v, err := g.New(job.Rules[0], job.config(1))
	require.NoError(t, err)
	b := env.NewBatch(v.Spec(), 1, env.WantMask)
	for e := range each(t, d.Episodes()) {
		require.NoError(t, rollout.Replay(v, &e.Episode, b, func(int, *env.Batch) error { return nil }))
	}
	for _, name := range job.Policies {
		_, err := policy.New("towerdefence", name)
		require.NoError(t, err)
	}
}

// TestFormat1Damaged: every byte of its manifest counts as well.
func TestFormat1Damaged(t *testing.T) {
	text := read(t, format1Dir, "recorded", manifestName)
	_, err := decodeManifest(text)
	require.NoError(t, err)
	for at := 0; at < len(text); at += 7 {
		bad := append([]byte{}, text...)
		bad[at] ^= 1
		_, err := decodeManifest(bad)
		require.Error(t, err, "byte %d", at)
	}
	_, err = decodeManifest([]byte(strings.Replace(string(text), `"format": 1`, `"format": 2`, 1)))
	require.ErrorContains(t, err, "damaged")
}
