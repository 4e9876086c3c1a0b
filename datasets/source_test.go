package datasets

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
)

// recorded is a Source of episodes that were played elsewhere, some with other
// rules.
type recorded struct {
	parts []Part
	rules []string
}

func (r recorded) Shard(ctx context.Context, shard int, yield func(*rollout.Episode, string) error) error {
	v, err := toyMakers().Vector(r.rules[r.parts[shard].Rules], env.Config{N: 2})
	if err != nil {
		return err
	}
	first := uint64(0)
	for _, p := range r.parts[:shard] {
		first += p.Episodes
	}
	seats := []rollout.Policy{anyone{"anna", v.Spec()}, anyone{"bert", v.Spec()}}
	return rollout.Shard(ctx, v, seats, 99, first, r.parts[shard].Episodes, sinkFunc(func(e *rollout.Episode) error {
		e.Policies = []string{fmt.Sprint("player ", e.ID%3), "bert"}
		return yield(e, fmt.Sprintf("game-%d.replay", e.ID))
	}))
}

func recordedJob() (Job, Source) {
	r := recorded{parts: []Part{{3, 0}, {5, 1}, {2, 0}}, rules: []string{"seats=2 orders=2", "seats=2 orders=2"}}
	return Job{Game: "toy", Rules: r.rules, Source: "games.zip", Shards: r.parts, Reward: "stones"}, r
}

// TestWrite imports episodes, in any number of workers the same, and verifies
// them.
func TestWrite(t *testing.T) {
	j, from := recordedJob()
	m := toyMakers()
	m.Policy = nil
	write := func(workers int) string {
		dir := filepath.Join(t.TempDir(), "data")
		var last Progress
		_, err := Write(t.Context(), dir, j, m, from, Options{Workers: workers, Progress: func(p Progress) { last = p }})
		require.NoError(t, err)
		require.Equal(t, 3, last.Shards)
		require.EqualValues(t, 10, last.Episodes)
		return dir
	}
	dir := write(1)
	requireSameFiles(t, files(t, dir), files(t, write(3)))
	d, err := Open(dir)
	require.NoError(t, err)
	man := d.Manifest()
	require.EqualValues(t, 10, man.Totals.Episodes)
	require.Len(t, man.Totals.Pairings, 3)
	require.Equal(t, "moonfarm import toy games.zip", man.Command)
	i := 0
	for e, err := range d.Episodes() {
		require.NoError(t, err)
		require.EqualValues(t, i, e.ID)
		require.Equal(t, fmt.Sprintf("game-%d.replay", i), e.Source)
		require.Equal(t, []string{fmt.Sprint("player ", i%3), "bert"}, e.Policies)
		require.Equal(t, i >= 3 && i < 8, e.Rules == 1)
		i++
	}
	require.Equal(t, 10, i)
	r, err := Verify(t.Context(), dir, m, VerifyOptions{Workers: 2, Recompute: -1})
	require.NoError(t, err)
	require.Empty(t, r.Problems)
	require.Equal(t, 3, r.Recomputed)
	require.True(t, r.Replayed)
}

// skipping leaves out the second episode of every shard,
// wrong gives other scores.
type skipping struct{ Source }

func (s skipping) Shard(ctx context.Context, shard int, yield func(*rollout.Episode, string) error) error {
	n := 0
	return s.Source.Shard(ctx, shard, func(e *rollout.Episode, text string) error {
		if n++; n == 2 {
			return nil
		}
		return yield(e, text)
	})
}

type wrong struct{ Source }

func (s wrong) Shard(ctx context.Context, shard int, yield func(*rollout.Episode, string) error) error {
	return s.Source.Shard(ctx, shard, func(e *rollout.Episode, text string) error {
		e.Outcome[0].Score++
		return yield(e, text)
	})
}

func TestWriteRefusesWrongEpisodes(t *testing.T) {
	j, from := recordedJob()
	dir := filepath.Join(t.TempDir(), "data")
	_, err := Write(t.Context(), dir, j, toyMakers(), skipping{from}, Options{})
	require.ErrorContains(t, err, "shard 0: ")
	require.ErrorContains(t, err, "expected number 1")
	_, err = Write(t.Context(), dir, j, toyMakers(), wrong{from}, Options{})
	require.ErrorContains(t, err, "outcome of seat 0")
	_, err = Write(t.Context(), dir, j, toyMakers(), from, Options{})
	require.NoError(t, err)

	_, err = Generate(t.Context(), dir, j, toyMakers(), Options{})
	require.ErrorContains(t, err, "cannot be generated")
	_, err = Write(t.Context(), dir, toyJob(2, 1), toyMakers(), from, Options{})
	require.ErrorContains(t, err, "without shards")
	j.Shards = []Part{{1, 2}}
	_, err = Write(t.Context(), dir, j, toyMakers(), from, Options{})
	require.ErrorContains(t, err, "rules number 2 of 2")
}
