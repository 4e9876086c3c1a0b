package datasets

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/games"
)

// repeating returns a dataset with repeated games: both seats either wait or build,
// turn by turn, and all games start alike.
func repeating(t *testing.T) (*Dataset, Makers) {
	m := realMakers(t, "terminal")
	j := Job{Game: "terminal", Policies: []string{"mix(1*empty,1*turtle)", "mix(1*empty,1*turtle)"}, Seed: 5,
		Episodes: 200, ShardEpisodes: 30, MaxTurns: 2, Obs: ObsNone}
	dir := filepath.Join(t.TempDir(), "repeating")
	_, err := Generate(t.Context(), dir, j, m, Options{Workers: 2})
	require.NoError(t, err)
	requireSound(t, dir, m, VerifyOptions{Workers: 2, Recompute: 1})
	return opened(t, dir), m
}

// orders returns all orders of an episode as text, seat by seat.
func ordersText(e *Episode) string { return fmt.Sprint(e.Turns, e.Ends, e.Orders) }

// TestDistinctGames: games with the same orders have the same number, and the manifest,
// the card and Inspect count the different games.
func TestDistinctGames(t *testing.T) {
	d, _ := repeating(t)
	numbers, texts := map[uint64]string{}, map[string]uint64{}
	for e := range each(t, d.Episodes()) {
		text := ordersText(e)
		if was, ok := numbers[e.Game]; ok {
			require.Equal(t, was, text, "episode %d", e.ID)
		}
		if was, ok := texts[text]; ok {
			require.Equal(t, was, e.Game, "episode %d", e.ID)
		}
		numbers[e.Game], texts[text] = text, e.Game
	}
	require.Greater(t, len(texts), 4)
	require.Less(t, len(texts), 180, "games that repeat")
	require.EqualValues(t, len(texts), d.Manifest().Totals.Distinct)
	require.EqualValues(t, len(texts), inspected(t, d.Dir, InspectOptions{}).Distinct)
	require.Contains(t, string(contents(t, d.Dir, about.CardName)), fmt.Sprintf("Different games, by their start and all orders: %d.", len(texts)))

	dir := generateToy(t, toyJob(2, 1), Options{})
	starts := opened(t, dir) // the same orders after other starts would be other games
	require.EqualValues(t, starts.Manifest().Totals.Episodes, starts.Manifest().Totals.Distinct)
	require.Contains(t, string(contents(t, dir, about.CardName)), "No two episodes are the same game.")
}

// TestSplitByGames: episodes that play the same game are on one side, whether rows are
// read or replayed, in any order.
func TestSplitByGames(t *testing.T) {
	d, m := repeating(t)
	game := map[uint64]uint64{}
	for e := range each(t, d.Episodes()) {
		game[e.ID] = e.Game
	}
	for _, makers := range []*Makers{nil, &m} {
		for _, shuffle := range []int{0, 100} {
			side, rows := map[uint64]Split{}, uint64(0)
			for split := Train; split <= Test; split++ {
				o := ReadOptions{Columns: []string{about.ColTurn}, Split: split, Validation: 0.3, Test: 0.2, Shuffle: shuffle, Makers: makers}
				o.Columns = append(o.Columns, about.ColEpisode)
				for b := range each(t, d.Batches(o)) {
					rows += uint64(b.Rows)
					for _, id := range b.Episode {
						was, ok := side[game[id]]
						require.True(t, !ok || was == split, "game %d is in %d and %d", game[id], was, split)
						side[game[id]] = split
					}
				}
			}
			require.Equal(t, d.Manifest().Totals.Rows, rows)
			for g, split := range side {
				want := Train
				if games.Draw(g) < 0.3 {
					want = Validation
				} else if games.Draw(g) >= 1-0.2 {
					want = Test
				}
				require.Equal(t, want, split)
			}
		}
	}
}

// TestOpening: an opening makes the episodes of deterministic policies differ; a shard
// stays a pure function, the manifest holds the opening, and verify makes every bit
// again.
func TestOpening(t *testing.T) {
	m := realMakers(t, "terminal")
	j := Job{Program: ProgramMoonfarm, Game: "terminal", Policies: []string{"empty", "empty"}, Seed: 5, Episodes: 50, ShardEpisodes: 12, MaxTurns: 4, Obs: ObsNone}
	made := func(opening string, o Options) *Dataset {
		dir := filepath.Join(t.TempDir(), "opened")
		j.Opening = opening
		_, err := Generate(t.Context(), dir, j, m, o)
		require.NoError(t, err)
		requireSound(t, dir, m, VerifyOptions{Workers: 2, Recompute: -1})
		return opened(t, dir)
	}
	require.EqualValues(t, 1, made("", Options{}).Manifest().Totals.Distinct)
	d := made("random:2", Options{Workers: 1, Games: 1})
	require.EqualValues(t, 50, d.Manifest().Totals.Distinct)
	require.Equal(t, "random:2", d.Manifest().Job.Opening)
	require.Contains(t, d.Manifest().Command, " --opening random:2 ")
	require.Contains(t, string(contents(t, d.Dir, about.CardName)), "The first 2 turns of every seat were drawn by `random`")
	requireSameFiles(t, files(t, d.Dir), files(t, made("random:2", Options{Workers: 3, Games: 5}).Dir))
	for e := range each(t, d.Episodes()) {
		require.NotZero(t, e.Ends[3], "episode %d: orders of the opening", e.ID)
		require.Equal(t, int(e.Ends[3]), len(e.Orders), "episode %d: orders after the opening", e.ID)
	}
	for _, bad := range []string{"random", "random:", "random:0", "random:-1", "random:01", "random:10001", "econ:3", ":3"} {
		j.Opening = bad
		_, err := Generate(t.Context(), filepath.Join(t.TempDir(), "bad"), j, m, Options{})
		require.ErrorContains(t, err, "expected random:K, with K from 1 to 10000 turns", bad)
	}
}
