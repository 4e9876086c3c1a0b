package datasets

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/rollout"
)

// TestManyPairings: after the first thousand pairings, all others are counted together,
// and the manifest stays short.
func TestManyPairings(t *testing.T) {
	r := recorded{rules: []string{"seats=2 orders=2"}}
	for _, n := range []uint64{700, 400, 1100, 3, 900} {
		r.parts = append(r.parts, Part{n, 0})
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
	tamperWith(t, dir, episodesDir, func(t *arrowfile.RecordBatch) { t.Col(ColPolicies).Bytes[3] ^= 1 })
	requireProblem(t, dir, Makers{}, VerifyOptions{}, "more pairings of players than in the totals")
}
