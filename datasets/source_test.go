package datasets

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// recorded is a Source of episodes played elsewhere, some with other rules.
type recorded struct {
	parts []Part
	rules []string
}

func (r recorded) Shard(ctx context.Context, shard int, yield func(*rollout.Episode, string) error) error {
	v, err := toyMakers().Vector(r.rules[r.parts[shard].Rules], env.Settings{N: 2})
	if err != nil {
		return err
	}
	first := uint64(0)
	for _, p := range r.parts[:shard] {
		first += p.Episodes
	}
	seats := []rollout.Policy{anyone{"anna", v.Spec()}, anyone{"bert", v.Spec()}}
	return rollout.Shard(ctx, v, seats, 99, first, r.parts[shard].Episodes, playedTo(func(e *rollout.Episode) error {
		e.Policies = []string{fmt.Sprint("player ", e.ID%3), "bert"}
		return yield(e, fmt.Sprintf("game-%d.replay", e.ID))
	}))
}

func recordedJob() (Job, Source) {
	r := recorded{parts: []Part{{Episodes: 3}, {Episodes: 5, Rules: 1}, {Episodes: 2}}, rules: []string{"seats=2 orders=2", "seats=2 orders=2"}}
	return Job{Game: "toy", Rules: r.rules, Source: "games.zip", Shards: r.parts, Reward: "stones"}, r
}

// imported makes a dataset of a Source in a new folder.
func imported(t testing.TB, j Job, m Makers, from Source, o Options) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	_, err := Write(t.Context(), dir, j, m, from, o)
	require.NoError(t, err)
	return dir
}

// TestWrite imports episodes, with the same bytes for any number of workers, and
// verifies them.
func TestWrite(t *testing.T) {
	j, from := recordedJob()
	m := toyMakers()
	m.Policy = nil
	write := func(workers int) string {
		var last Progress
		dir := imported(t, j, m, from, Options{Workers: workers, Progress: func(p Progress) { last = p }})
		require.Equal(t, 3, last.Shards)
		require.EqualValues(t, 10, last.Episodes)
		return dir
	}
	dir := write(1)
	requireSameFiles(t, files(t, dir), files(t, write(3)))
	d := opened(t, dir)
	man := d.Manifest()
	require.EqualValues(t, 10, man.Totals.Episodes)
	require.Len(t, man.Totals.Pairings, 3)
	require.Equal(t, "", man.Command)
	made := man.Job
	made.Program = ProgramMoonfarm
	require.Equal(t, "moonfarm import toy --reward stones --discount 1 --obs planes --codec zstd --tensor-metadata plain games.zip", made.Command(""))
	i := 0
	for e := range each(t, d.Episodes()) {
		require.EqualValues(t, i, e.ID)
		require.Equal(t, fmt.Sprintf("game-%d.replay", i), e.Source)
		require.Equal(t, []string{fmt.Sprint("player ", i%3), "bert"}, e.Policies)
		require.Equal(t, i >= 3 && i < 8, e.Rules == 1)
		i++
	}
	require.Equal(t, 10, i)
	r := requireSound(t, dir, m, VerifyOptions{Workers: 2, Recompute: -1})
	require.Equal(t, 3, r.Recomputed)
	require.True(t, r.Replayed)
}

// altered is a Source that passes each episode to change, and leaves it out if change
// returns false.
type altered struct {
	Source
	change func(e *rollout.Episode) bool
}

func (a altered) Shard(ctx context.Context, shard int, yield func(*rollout.Episode, string) error) error {
	return a.Source.Shard(ctx, shard, func(e *rollout.Episode, text string) error {
		if !a.change(e) {
			return nil
		}
		return yield(e, text)
	})
}

func TestWriteRefusesWrongEpisodes(t *testing.T) {
	j, from := recordedJob()
	dir := filepath.Join(t.TempDir(), "data")
	_, err := Write(t.Context(), dir, j, toyMakers(), altered{from, func(e *rollout.Episode) bool { return e.ID != 1 }}, Options{})
	require.ErrorContains(t, err, "shard 0: ")
	require.ErrorContains(t, err, "expected number 1")
	wrong := func(e *rollout.Episode) bool { e.Outcome[0].Score++; return true }
	_, err = Write(t.Context(), dir, j, toyMakers(), altered{from, wrong}, Options{})
	require.ErrorContains(t, err, "outcome of seat 0")
	searched := func(e *rollout.Episode) bool { e.Searches.Value = make([]float32, len(e.Ends)); return true }
	_, err = Write(t.Context(), dir, j, toyMakers(), altered{from, searched}, Options{})
	require.ErrorContains(t, err, "has search results of ")
	_, err = Write(t.Context(), dir, j, toyMakers(), from, Options{})
	require.NoError(t, err)

	requireRefused(t, dir, j, "cannot be generated")
	_, err = Write(t.Context(), dir, toyJob(2, 1), toyMakers(), from, Options{})
	require.ErrorContains(t, err, "without shards")
	j.Shards = []Part{{Episodes: 1, Rules: 2}}
	_, err = Write(t.Context(), dir, j, toyMakers(), from, Options{})
	require.ErrorContains(t, err, "rules number 2 of 2")
}

// stopping ends the second episode a turn early, and keeps the third as a recording. It
// plays games of v.
func stopping(v env.Vector) func(e *rollout.Episode) bool {
	return func(e *rollout.Episode) bool {
		switch e.ID {
		case 1:
			e.Turns--
			e.Ends = e.Ends[:e.Turns*e.Players]
			e.Orders = e.Orders[:e.Ends[len(e.Ends)-1]]
			e.Status, e.Stopped = sim.Cut, "turn 9 differs"
			e.Outcome = [sim.MaxPlayers]sim.Outcome{}
			v.Reset(0, e.Seed)
			b := env.NewBatch(v.Spec(), 1, 0)
			for t := range e.Turns {
				for p := range e.Players {
					b.OrderLen[p] = int32(copy(b.Orders[2*p:2*p+2], e.OrdersOf(t, sim.Player(p))))
				}
				v.Step(b)
			}
			for p := range e.Players {
				e.Outcome[p] = v.Outcome(0, sim.Player(p))
			}
		case 2:
			e.Recording = fmt.Appendf(nil, "%d", e.Seed)
			e.Seed = 0
		}
		return true
	}
}

// seeded is a toy whose chance is known only from its recordings.
type seeded struct {
	simtest.Toy
	seed uint64
}

func (g seeded) Reset(s *simtest.ToyState, _ uint64) { g.Toy.Reset(s, g.seed) }

// recordedToys go through the states of recordings made by stopping; told holds their
// episodes.
func recordedToys(told map[uint64]*rollout.Episode) func(string, env.Settings, []byte) (env.Vector, []sim.Order, []int32, error) {
	return func(_ string, c env.Settings, recording []byte) (env.Vector, []sim.Order, []int32, error) {
		seed, err := strconv.ParseUint(string(recording), 10, 64)
		if err != nil {
			return nil, nil, nil, err
		}
		g := seeded{simtest.Toy{Seats: 2, Orders: 2}, seed}
		v, err := env.New(g, featuretest.ToyKit(g.Toy), c)
		return v, told[seed].Orders, told[seed].Ends, err
	}
}

// TestWriteStoppedAndRecorded keeps a stopped episode and one of unknown chance,
// verifies both and plays them again.
func TestWriteStoppedAndRecorded(t *testing.T) {
	j, from := recordedJob()
	told := map[uint64]*rollout.Episode{}
	require.NoError(t, from.Shard(t.Context(), 0, func(e *rollout.Episode, _ string) error {
		c := *e
		c.Orders, c.Ends = slices.Clone(e.Orders), slices.Clone(e.Ends)
		told[e.Seed] = &c
		return nil
	}))
	m := toyMakers()
	m.Policy, m.Recorded = nil, recordedToys(told)
	v, err := m.Vector(j.Rules[0], env.Settings{N: 1})
	require.NoError(t, err)
	dir := imported(t, j, m, altered{from, stopping(v)}, Options{Workers: 2})
	d := opened(t, dir)
	var stopped []string
	recordings := 0
	for e := range each(t, d.Episodes()) {
		if e.Stopped != "" {
			stopped = append(stopped, fmt.Sprint(e.ID, " ", e.Status, " ", e.Stopped))
		}
		if len(e.Recording) > 0 {
			require.EqualValues(t, 2, e.ID)
			recordings++
		}
	}
	require.Equal(t, []string{"1 cut turn 9 differs"}, stopped)
	require.Equal(t, 1, recordings)
	r := requireSound(t, dir, m, VerifyOptions{Workers: 2, Recompute: -1})
	require.Equal(t, 3, r.Recomputed)
	require.EqualValues(t, 1, r.Recorded)
	requireRendered(t, d, d, m, ReadOptions{})

	for _, e := range told {
		e.Orders[0]++
	}
	requireProblem(t, dir, m, VerifyOptions{Recompute: -1}, "are not those of its recording")
	m.Recorded = nil
	r = verified(t, dir, m, VerifyOptions{Recompute: -1})
	require.Contains(t, r.Problems[0], "toy has none that can be checked")
}
