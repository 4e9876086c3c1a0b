package datasets

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout"
)

// TestManyPairings: after the first thousand pairings, all others are counted together,
// and the manifest stays short.
func TestManyPairings(t *testing.T) {
	r := recorded{rules: []string{"seats=2 orders=2"}}
	for _, n := range []uint64{700, 400, 1100, 3, 900} {
		r.parts = append(r.parts, Part{Episodes: n})
	}
	j := Job{Game: "toy", Rules: r.rules, Source: "games.zip", Shards: r.parts, Reward: "stones", Obs: ObsNone}
	m := toyMakers()
	m.Policy = nil
	from := altered{r, func(e *rollout.Episode) bool {
		e.Policies = []string{fmt.Sprint("player ", e.ID%1200), "bert"}
		return true
	}}
	dir := imported(t, j, m, from, Options{Workers: 2})
	requireSameFiles(t, files(t, dir), files(t, imported(t, j, m, from, Options{Workers: 1})))
	d := opened(t, dir)
	list := d.Manifest().Totals.Pairings
	require.Len(t, list, 1001)
	require.Equal(t, []string{"player 999", "bert"}, list[999].Policies)
	require.Empty(t, list[1000].Policies)
	episodes := uint64(0)
	for _, p := range list {
		episodes += p.Episodes
		for _, results := range p.Results {
			sum := uint64(0)
			for _, n := range results {
				sum += n
			}
			require.Equal(t, p.Episodes, sum)
		}
	}
	require.Equal(t, d.Manifest().Totals.Episodes, episodes)
	requireSound(t, dir, m, VerifyOptions{Workers: 2, Recompute: -1})
}

// TestUnknownPairing: an episode of players that the totals lack is found.
func TestUnknownPairing(t *testing.T) {
	dir := generateToy(t, toyJob(2, 1), Options{})
	tamperWith(t, dir, about.EpisodesDir, func(t *arrowfile.RecordBatch) { t.Col(about.ColPolicies).Bytes[3] ^= 1 })
	requireProblem(t, dir, Makers{}, VerifyOptions{}, "more pairings of players than in the totals")
}

// TestSyncedBeforeSidecar: a shard's files are durable under their names before its sidecar says so, and
// the index before the manifest.
func TestSyncedBeforeSidecar(t *testing.T) {
	var mu sync.Mutex
	named := map[string]bool{} // the folders with names that may not be durable
	sidecars := 0
	may := func(_ context.Context, op, name string) error {
		mu.Lock()
		defer mu.Unlock()
		switch dir := store.Dir(name); {
		case op == "keep":
			named[dir] = true
		case op == "sync":
			delete(named, name)
		case op == "create" && (dir == about.ShardsDir || name == about.ManifestName):
			sidecars++
			for _, table := range append(about.TableNames(true), about.IndexDir) {
				assert.False(t, named[table], "%s is not synced before %s", table, name)
			}
		}
		return nil
	}
	generateToy(t, toyJob(2, 1), hook(Options{Workers: 1}, may))
	require.Equal(t, 7+1, sidecars)
}

// TestRulesOfEpisodes: an episode with the number of other rules is found, also if these are equal.
func TestRulesOfEpisodes(t *testing.T) {
	j, from := recordedJob()
	m := toyMakers()
	m.Policy = nil
	dir := imported(t, j, m, from, Options{Workers: 1})
	tamperWith(t, dir, about.EpisodesDir, func(b *arrowfile.RecordBatch) { clear(b.Col(about.ColRules).Fixed) })
	r := verified(t, dir, Makers{}, VerifyOptions{})
	require.NotEmpty(t, r.Problems)
	require.Contains(t, strings.Join(r.Problems, "\n"), "episode 3 with rules number 0, expected 3 with 1")
}

// TestLongRecording: a recording that no reader would take is not written.
func TestLongRecording(t *testing.T) {
	require.NoError(t, about.CheckEpisode(&rollout.Episode{Recording: make([]byte, about.MaxRecording)}, ""))
	require.ErrorContains(t, about.CheckEpisode(&rollout.Episode{Recording: make([]byte, about.MaxRecording+1)}, ""), "a recording of")
}
