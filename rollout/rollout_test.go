package rollout_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/sim/simtest"
)

// toys are the games the tests play: one order and several, two seats and more.
var toys = []simtest.Toy{{Seats: 2, Orders: 1}, {Seats: 4, Orders: 3}}

func newToy(t testing.TB, g simtest.Toy, c env.Settings) env.Vector {
	t.Helper()
	v, err := env.New(g, featuretest.ToyKit(g), c)
	require.NoError(t, err)
	return v
}

// newMaker returns the maker of a spec.
func newMaker(t testing.TB, spec string) rollout.Maker {
	t.Helper()
	m, err := policy.New("toy", spec)
	require.NoError(t, err)
	return m
}

// newSeats makes the policy of a spec for each seat of v.
func newSeats(t testing.TB, v env.Vector, spec string) []rollout.Policy {
	t.Helper()
	var seats []rollout.Policy
	for range v.Spec().Info.Players {
		p, err := newMaker(t, spec)(v.Spec())
		require.NoError(t, err)
		seats = append(seats, p)
	}
	return seats
}

// makersOf returns makers of these policies.
func makersOf(seats []rollout.Policy) (all []rollout.Maker) {
	for _, p := range seats {
		all = append(all, func(env.Spec) (rollout.Policy, error) { return p, nil })
	}
	return all
}

// newGames seats the policy of a spec at each seat of v.
func newGames(t testing.TB, v env.Vector, spec string, keep env.Want) *rollout.Games {
	t.Helper()
	games, err := rollout.NewGames(v, rollout.Cast{Seats: makersOf(newSeats(t, v, spec)), Keep: keep})
	require.NoError(t, err)
	return games
}

// clone copies an episode out of the reused buffer.
func clone(e *rollout.Episode) *rollout.Episode {
	c := *e
	c.Orders, c.Ends, c.Chosen = slices.Clone(e.Orders), slices.Clone(e.Ends), slices.Clone(e.Chosen)
	return &c
}

// tape is a sink that prints every field of every episode.
type tape struct{ bytes.Buffer }

func (t *tape) Episode(e *rollout.Episode) error {
	fmt.Fprintf(t, "%d %x %q %d %d %v %v %v %v %v %x %v\n",
		e.ID, e.Seed, e.Policies, e.Players, e.Turns, e.Status, e.Outcome, e.Orders, e.Ends, e.Chosen, e.Searches.Value, e.Searches)
	return nil
}

// sinkFunc is a sink of one function.
type sinkFunc func(e *rollout.Episode) error

func (s sinkFunc) Episode(e *rollout.Episode) error { return s(e) }

func record(t *testing.T, g simtest.Toy, games int, spec string, first, n uint64) string {
	t.Helper()
	v := newToy(t, g, env.Settings{N: games})
	var out tape
	require.NoError(t, rollout.Shard(context.Background(), v, newSeats(t, v, spec), 7, first, n, &out))
	return out.String()
}

// The content of an episode depends neither on the number of games that are played
// at once nor on the first episode of the range.
func TestShardIsAPureFunction(t *testing.T) {
	const n = 100
	for _, g := range toys {
		for _, spec := range []string{"random", "mix(0.5*random,0.5*mix(1*random,2*random))"} {
			want := record(t, g, 1, spec, 0, n)
			if lines := bytes.Count([]byte(want), []byte("\n")); lines != n {
				t.Fatalf("%v: %d episodes, want %d", g, lines, n)
			}
			for _, games := range []int{2, 7, 64, 300} {
				if got := record(t, g, games, spec, 0, n); got != want {
					t.Errorf("%v %s: %d games at once give other episodes than one", g, spec, games)
				}
			}
			for _, cut := range []uint64{1, 37, n - 1} {
				if got := record(t, g, 5, spec, 0, cut) + record(t, g, 3, spec, cut, n-cut); got != want {
					t.Errorf("%v %s: two ranges that meet at %d give other episodes than one", g, spec, cut)
				}
			}
		}
	}
}

// shardTape is the sink of a shard in a run; Commit adds its text to tapes.committed.
type shardTape struct {
	tape
	all     *tapes
	shard   int
	ended   int // calls of Commit and Abort
	episode func(e *rollout.Episode) error
	commit  error
}

// tapes are the sinks of a run.
type tapes struct {
	mu        sync.Mutex
	opened    []*shardTape
	committed map[int]string
	fail      func(s *shardTape) // may set errors in a new sink
}

func (s *tapes) open(shard int) (rollout.ShardSink, error) {
	sink := &shardTape{all: s, shard: shard}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		s.fail(sink)
	}
	s.opened = append(s.opened, sink)
	return sink, nil
}

func (s *shardTape) Episode(e *rollout.Episode) error {
	if s.episode != nil {
		if err := s.episode(e); err != nil {
			return err
		}
	}
	return s.tape.Episode(e)
}

func (s *shardTape) Commit() error {
	s.ended++
	if s.commit != nil {
		return s.commit
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if s.all.committed == nil {
		s.all.committed = map[int]string{}
	}
	s.all.committed[s.shard] = s.String()
	return nil
}

func (s *shardTape) Abort() { s.ended++ }

// check fails unless each sink got exactly one call of Commit or Abort.
func (s *tapes) check(t *testing.T) {
	t.Helper()
	for _, sink := range s.opened {
		assert.Equalf(t, 1, sink.ended, "shard %d: %d calls of Commit and Abort, want 1", sink.shard, sink.ended)
	}
}

// newJob returns a job of a toy whose workers play that many games at once.
func newJob(t testing.TB, g simtest.Toy, games int, spec string) rollout.Job {
	j := rollout.Job{
		Seed: 7, Episodes: 100, ShardEpisodes: 8,
		Vector: func() (env.Vector, error) { return env.New(g, featuretest.ToyKit(g), env.Settings{N: games}) },
	}
	for range g.Seats {
		j.Seats = append(j.Seats, newMaker(t, spec))
	}
	return j
}

// list returns the numbers from … to−1.
func list(from, to int) (l []int) {
	for i := from; i < to; i++ {
		l = append(l, i)
	}
	return l
}

func TestRunIsAPureFunction(t *testing.T) {
	for _, g := range toys {
		want := record(t, g, 1, "random", 0, 100)
		for _, workers := range []int{1, 2, 5, 40} {
			for _, games := range []int{1, 6, 64} {
				for _, size := range []uint64{1, 8, 33, 100, 1000} {
					job := newJob(t, g, games, "random")
					job.ShardEpisodes = size
					var sinks tapes
					var last rollout.Counts
					err := rollout.Run(context.Background(), job, list(0, job.Shards()), sinks.open,
						rollout.Options{Workers: workers, Progress: func(c rollout.Counts) { last = c }})
					if err != nil {
						t.Fatal(err)
					}
					sinks.check(t)
					got := ""
					for s := range job.Shards() {
						got += sinks.committed[s]
					}
					if got != want {
						t.Fatalf("%v: %d workers, %d games, shards of %d: other episodes", g, workers, games, size)
					}
					if last.Shards != job.Shards() || last.Episodes != 100 || last.Turns == 0 {
						t.Fatalf("last progress is %+v", last)
					}
				}
			}
		}
	}
}

// A run plays the given shards and no others.
func TestRunMissingShards(t *testing.T) {
	job := newJob(t, toys[0], 4, "random")
	if job.Shards() != 13 {
		t.Fatalf("%d shards, want 13", job.Shards())
	}
	if first, n := job.Range(12); first != 96 || n != 4 {
		t.Errorf("shard 12 is %d episodes from %d", n, first)
	}
	job.First = 1000
	if first, n := job.Range(12); first != 1096 || n != 4 {
		t.Errorf("last shard of a job from 1000 on: %d episodes from %d", n, first)
	}
	job.First = 0
	var sinks tapes
	require.NoError(t, rollout.Run(context.Background(), job, []int{12, 3}, sinks.open, rollout.Options{Workers: 2}))
	assert.Truef(t, len(sinks.committed) == 2 && sinks.committed[3] == record(t, toys[0], 1, "random", 24, 8) && sinks.committed[12] == record(t, toys[0], 1, "random", 96, 4), "wrong shards: %v", sinks.committed)
	for _, bad := range []int{-1, 13} {
		assert.Errorf(t, rollout.Run(context.Background(), job, []int{bad}, sinks.open, rollout.Options{}), "shard %d of 13 was played", bad)
		assert.PanicsWithValue(t, fmt.Sprintf("rollout: Range of shard %d: the job has 13, from 0", bad), func() { job.Range(bad) })
	}
	assert.NoError(t, rollout.Run(context.Background(), job, nil, sinks.open, rollout.Options{Workers: 3}), "no shards")
}

// The first error stops the run and is returned with the shard's number.
func TestRunErrors(t *testing.T) {
	boom := errors.New("disk full")
	for _, c := range []struct {
		name, want string
		change     func(j *rollout.Job, s *tapes)
	}{
		{"episode", "shard 2: episode 19: disk full", func(_ *rollout.Job, s *tapes) {
			s.fail = func(k *shardTape) {
				k.episode = func(e *rollout.Episode) error {
					if e.ID == 19 {
						return boom
					}
					return nil
				}
			}
		}},
		{"commit", "shard 5: disk full", func(_ *rollout.Job, s *tapes) {
			s.fail = func(k *shardTape) {
				if k.shard == 5 {
					k.commit = boom
				}
			}
		}},
		{"maker", "disk full", func(j *rollout.Job, _ *tapes) {
			j.Seats[1] = func(env.Spec) (rollout.Policy, error) { return nil, boom }
		}},
		{"vector", "disk full", func(j *rollout.Job, _ *tapes) {
			j.Vector = func() (env.Vector, error) { return nil, boom }
		}},
		{"seats", "toy has 2 seats, got 1 policies", func(j *rollout.Job, _ *tapes) { j.Seats = j.Seats[:1] }},
	} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d workers", c.name, workers), func(t *testing.T) {
				job := newJob(t, toys[0], 4, "random")
				var sinks tapes
				c.change(&job, &sinks)
				err := rollout.Run(context.Background(), job, list(0, job.Shards()), sinks.open, rollout.Options{Workers: workers})
				require.EqualError(t, err, c.want)
				sinks.check(t)
			})
		}
	}
	job := newJob(t, toys[0], 4, "random")
	open := func(int) (rollout.ShardSink, error) { return nil, boom }
	assert.ErrorIs(t, rollout.Run(context.Background(), job, []int{4}, open, rollout.Options{}), boom, "open")
}

// A context that is done aborts unfinished shards.
func TestRunCancel(t *testing.T) {
	enough := errors.New("enough")
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancelCause(context.Background())
		var sinks tapes
		sinks.fail = func(k *shardTape) {
			k.episode = func(e *rollout.Episode) error {
				if k.shard == 6 {
					cancel(enough)
				}
				return nil
			}
		}
		job := newJob(t, toys[0], 1, "random")
		err := rollout.Run(ctx, job, list(0, job.Shards()), sinks.open, rollout.Options{Workers: workers})
		assert.Truef(t, err == enough, "%d workers: error %v, want the cause", workers, err)
		sinks.check(t)
		_, ok := sinks.committed[6]
		assert.Truef(t, !ok && (workers != 1 || len(sinks.opened) <= 7), "%d workers: went on after the end: %d shards opened", workers, len(sinks.opened))
		for shard, got := range sinks.committed {
			first, n := job.Range(shard) // the last shard is smaller
			if want := record(t, toys[0], 1, "random", first, n); got != want {
				t.Errorf("shard %d was committed incomplete", shard)
			}
		}
	}
}

// Games play the next range as usual after a Play that was cancelled.
func TestGamesAfterCancel(t *testing.T) {
	games := newGames(t, newToy(t, toys[0], env.Settings{N: 9}), "random", 0)
	stop := errors.New("stop")
	err := games.Play(context.Background(), 7, 0, 100, sinkFunc(func(e *rollout.Episode) error {
		if e.ID == 30 {
			return stop
		}
		return nil
	}))
	require.ErrorIs(t, err, stop)
	var out tape
	require.NoError(t, games.Play(context.Background(), 7, 10, 25, &out))
	assert.Equal(t, record(t, toys[0], 1, "random", 10, 25), out.String(), "other episodes after a stop")
	assert.Error(t, games.Play(context.Background(), 7, 1<<64-5, 9, &out), "episode numbers beyond 64 bits were played")
	assert.NoError(t, games.Play(context.Background(), 7, 3, 0, &out), "no episodes")
}

func TestGamesAllocate(t *testing.T) {
	for _, keep := range []env.Want{0, env.WantReward, env.WantPlanes | env.WantPacked | env.WantScalars | env.WantMask | env.WantAction} {
		games := newGames(t, newToy(t, toys[1], env.Settings{N: 16}), "mix(1*random,1*random)", keep)
		ctx, sink := context.Background(), sinkFunc(func(*rollout.Episode) error { return nil })
		play := func() {
			require.NoError(t, games.Play(ctx, 1, 0, 200, sink))
		}
		for range 20 { // until every buffer has met the largest episode
			play()
		}
		n := testing.AllocsPerRun(5, play)
		assert.Zerof(t, n, "slabs %b are kept: %v allocations for 200 episodes", keep, n)
	}
}

// closing is a policy that counts its Close calls.
type closing struct {
	rollout.Policy
	closed *int
	err    error
}

func (c closing) Close() error { *c.closed++; return c.err }

func TestRunCloses(t *testing.T) {
	broken := errors.New("the bot is gone")
	closed := 0
	job := newJob(t, toys[0], 4, "random")
	random := job.Seats[0]
	job.Seats[0] = func(s env.Spec) (rollout.Policy, error) {
		p, err := random(s)
		return closing{p, &closed, broken}, err
	}
	job.Opening = rollout.Opening{Turns: 1, Policy: job.Seats[0]}
	var sinks tapes
	err := rollout.Run(context.Background(), job, []int{0}, sinks.open, rollout.Options{Workers: 1})
	assert.Truef(t, errors.Is(err, broken) && closed == 2, "error %v after %d calls of Close", err, closed)
	v := newToy(t, toys[0], env.Settings{N: 1})
	p, err := job.Seats[0](v.Spec())
	require.NoError(t, err)
	require.ErrorContains(t, rollout.Shard(t.Context(), v, []rollout.Policy{p}, 1, 0, 1, &tape{}), "got 1 policies")
	assert.Equal(t, 2, closed, "the caller closes the policies of Shard")
}
