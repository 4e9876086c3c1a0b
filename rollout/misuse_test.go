package rollout_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
)

// TestMissingParts: a part that a program forgets is named in the error.
func TestMissingParts(t *testing.T) {
	ctx := context.Background()
	job := newJob(t, toys[0], 4, "random")
	v, err := job.Vector()
	require.NoError(t, err)
	player, err := job.Seats[0](v.Spec())
	require.NoError(t, err)
	run := func(change func(j *rollout.Job)) error {
		j := newJob(t, toys[0], 4, "random")
		change(&j)
		var sinks tapes
		return rollout.Run(ctx, j, []int{0}, sinks.open, rollout.Options{Workers: 2})
	}
	games := func(v env.Vector, seats ...rollout.Policy) error {
		_, err := rollout.NewGames(v, seats, 0)
		return err
	}
	replayer := func(v env.Vector, e *rollout.Episode) error {
		r, err := rollout.NewReplayer(v)
		if err != nil {
			return err
		}
		return r.Start(e)
	}
	one := newToy(t, toys[0], env.Settings{N: 1})
	for _, c := range []struct {
		err  error
		want string
	}{
		{games(nil, player, player), "games need a Vector, got nil"},
		{games(v, player, nil), "the policy of seat 1 is nil"},
		{rollout.Shard(ctx, v, []rollout.Policy{player, player}, 1, 0, 1, nil), "the sink for the episodes is nil"},
		{replayer(nil, nil), "replay: a Replayer needs a Vector, got nil"},
		{replayer(one, nil), "replay: the episode is nil"},
		{run(func(j *rollout.Job) { j.Vector = nil }), "a run needs Job.Vector and open, got nil"},
		{run(func(j *rollout.Job) { j.Vector = func() (env.Vector, error) { return nil, nil } }), "Job.Vector made a nil Vector"},
		{run(func(j *rollout.Job) { j.Seats[1] = nil }), "the maker of the policy of seat 1 is nil"},
		{run(func(j *rollout.Job) { j.Seats[0] = func(env.Spec) (rollout.Policy, error) { return nil, nil } }), "the policy of seat 0 is nil"},
		{rollout.Run(ctx, job, []int{0}, nil, rollout.Options{}), "a run needs Job.Vector and open, got nil"},
	} {
		t.Run(c.want, func(t *testing.T) { require.EqualError(t, c.err, c.want) })
	}
	for _, shard := range []int{-1, job.Shards()} {
		func() {
			defer func() {
				fault, _ := recover().(string)
				assert.Truef(t, strings.HasPrefix(fault, "rollout: Range of shard "), "shard %d: panic %q", shard, fault)
			}()
			job.Range(shard)
		}()
	}
}
