package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/read"
	"moonfarm/datasets/internal/store"
	"moonfarm/datasets/internal/write"
	"moonfarm/env"
	"moonfarm/rollout/parallel"
)

// places returns a new folder and a new bucket.
func places(t *testing.T) map[string]string {
	return map[string]string{"folder": filepath.Join(t.TempDir(), "data"), "bucket": inBucket(t)}
}

// madeTogether makes all shards of a run with several Runs, each shard with two of
// them, and completes it.
func madeTogether(t *testing.T, out string, j Job, o Options) (sums []string, err error) {
	var runs []*Run
	for range 3 {
		x, err := OpenRun(withBuckets(t), out, j, toyMakers(), o)
		if err != nil {
			return nil, err
		}
		defer x.Close()
		runs = append(runs, x)
	}
	sums = make([]string, runs[0].Shards())
	var mu sync.Mutex
	err = parallel.Each(withBuckets(t), 4, make([]struct{}, 2*len(sums)), func(ctx context.Context, k int, _ struct{}) error {
		i := k % len(sums)
		r, err := runs[k%len(runs)].Make(ctx, i)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && sums[i] != "" && sums[i] != r.Sum {
			err = fmt.Errorf("shard %d has the sums %s and %s", i, sums[i], r.Sum)
		}
		sums[i] = r.Sum
		return err
	})
	if err != nil {
		return sums, err
	}
	return sums, runs[0].Finish(withBuckets(t), known(sums))
}

// stride is the distance between the steps at which a run is stopped.
func stride() int {
	if os.Getenv("MOONFARM_LONG") != "" {
		return 1
	}
	return 17
}

// known returns a function that looks up sums in a list.
func known(sums []string) func(int) (string, error) {
	return func(i int) (string, error) { return sums[i], nil }
}

// TestOpenRun: several processes together make the same files as Generate alone.
func TestOpenRun(t *testing.T) {
	j := full(toyJob(3, 2))
	want := withoutFolders(files(t, generateToy(t, j, Options{})))
	for kind, out := range places(t) {
		sums, err := madeTogether(t, out, j, Options{Workers: 2})
		require.NoError(t, err, kind)
		requireSameFiles(t, want, objects(t, out))
		x, err := OpenRun(withBuckets(t), out, j, toyMakers(), Options{})
		require.NoError(t, err)
		r, err := x.Make(withBuckets(t), 1) // too late
		require.NoError(t, err)
		require.Equal(t, sums[1], r.Sum)
		require.NoError(t, x.Finish(withBuckets(t), known(sums)))
		requireSameFiles(t, want, objects(t, out))
		again, err := x.Remake(withBuckets(t), 1)
		require.NoError(t, err)
		require.Equal(t, r, again)
		require.EqualValues(t, 15, r.Episodes)
		require.Contains(t, x.Build(), "moonfarm "+Version)
		require.NoError(t, x.Close())
	}
}

// TestDiscard: a Run that was opened for nothing leaves nothing; a build that differs is refused
// before anything is written. What others have begun stays.
func TestDiscard(t *testing.T) {
	j := toyJob(2, 1)
	for kind, out := range places(t) {
		_, err := OpenRun(withBuckets(t), out, j, toyMakers(), Options{Build: "another"})
		require.ErrorContains(t, err, "the run wants another: install the same version and files", kind)
		require.Empty(t, objects(t, out), kind)
		require.NoDirExists(t, out)
		x, err := OpenRun(withBuckets(t), out, j, toyMakers(), Options{})
		require.NoError(t, err)
		require.NoError(t, x.Discard())
		require.Empty(t, objects(t, out), kind)
		require.NoDirExists(t, out)

		first, err := OpenRun(withBuckets(t), out, j, toyMakers(), Options{Build: x.Build()})
		require.NoError(t, err)
		second, err := OpenRun(withBuckets(t), out, j, toyMakers(), Options{})
		require.NoError(t, err)
		require.NoError(t, second.Discard())
		require.Len(t, objects(t, out), 1, kind)
		_, err = first.Make(withBuckets(t), 0)
		require.NoError(t, err)
		have := objects(t, out)
		require.NoError(t, first.Discard())
		requireSameFiles(t, have, objects(t, out))
	}
}

// TestOpenRunStoppedAtEveryStep fails changes of several Runs.
func TestOpenRunStoppedAtEveryStep(t *testing.T) {
	j := toyJob(2, 1)
	j.Episodes = 25
	want := withoutFolders(files(t, generateToy(t, j, Options{})))
	stoppedAtEveryStep(t, stride(), 60, want, func(out string, o Options) error {
		_, err := madeTogether(t, out, j, o)
		return err
	})
}

// madeBy makes all shards of a Run and returns their sums.
func madeBy(t *testing.T, x *Run) (sums []string) {
	t.Helper()
	for i := range x.Shards() {
		r, err := x.Make(withBuckets(t), i)
		require.NoError(t, err)
		sums = append(sums, r.Sum)
	}
	return sums
}

// TestBrokenShards: files that do not have their sum are found before the dataset is
// complete. A shard that another process made differently is not counted as broken.
func TestBrokenShards(t *testing.T) {
	j := toyJob(2, 1)
	want := withoutFolders(files(t, generateToy(t, j, Options{})))
	for kind, out := range places(t) {
		x, err := OpenRun(withBuckets(t), out, j, toyMakers(), Options{})
		require.NoError(t, err)
		other := j
		other.Seed++
		y, err := OpenRun(withBuckets(t), out+"-other", other, toyMakers(), Options{})
		require.NoError(t, err)
		sums := madeBy(t, x)
		text, err := x.Differ(withBuckets(t), 2, sums[2])
		require.NoError(t, err)
		require.Contains(t, text, "all rows are equal", kind)

		// A shard of another worker, as a cheating worker would store it.
		wrong, err := y.Make(withBuckets(t), 2)
		require.NoError(t, err)
		from, err := read.StoreOf(withBuckets(t), out+"-other")
		require.NoError(t, err)
		to, err := read.StoreOf(withBuckets(t), out)
		require.NoError(t, err)
		for _, dir := range append(about.TableNames(true), about.ShardsDir) {
			name := write.Variant(about.PathOf(dir, 2), wrong.Sum)
			b, err := store.ReadFile(withBuckets(t), from, name, 1<<30)
			require.NoError(t, err)
			require.NoError(t, store.WriteFile(withBuckets(t), to, name, b))
		}
		text, err = x.Differ(withBuckets(t), 2, wrong.Sum)
		require.NoError(t, err)
		require.Regexp(t, `2-[0-9a-f]{64}\.arrow: .*(episode 30|row|schema)`, text)

		name := write.Variant(about.PathOf(about.StepsDir, 3), sums[3])
		b, err := store.ReadFile(withBuckets(t), to, name, 1<<30)
		require.NoError(t, err)
		for _, change := range []func() error{
			func() error {
				return store.WriteFile(withBuckets(t), to, name, []byte(strings.Repeat("x", len(b))))
			},
			func() error { return store.WriteFile(withBuckets(t), to, name, b[1:]) },
			func() error { return to.Remove(withBuckets(t), name) },
			func() error {
				return to.Remove(withBuckets(t), write.Variant(about.PathOf(about.ShardsDir, 3), sums[3]))
			},
		} {
			require.NoError(t, change())
			err = x.Finish(withBuckets(t), known(sums))
			var damaged *BrokenError
			require.ErrorAs(t, err, &damaged)
			require.Equal(t, 3, damaged.Shard)
			require.ErrorContains(t, err, sums[3])
			_, err = OpenContext(withBuckets(t), out)
			require.ErrorContains(t, err, "not complete")
			_, err = x.Make(withBuckets(t), 3)
			require.NoError(t, err)
		}
		require.NoError(t, x.Finish(withBuckets(t), known(sums)))
		requireSameFiles(t, want, objects(t, out))
		require.NoError(t, errors.Join(x.Close(), y.Close()))
	}
}

// TestAlone: a Run with Options.Alone does not read again the files that it has stored,
// but finds missing files, and reads files of other Runs.
func TestAlone(t *testing.T) {
	j := toyJob(2, 1)
	want := withoutFolders(files(t, generateToy(t, j, Options{})))
	for kind, out := range places(t) {
		reads := map[string]int{}
		var mu sync.Mutex
		alone := hook(Options{Workers: 2, Alone: true}, func(_ context.Context, op, name string) error {
			mu.Lock()
			defer mu.Unlock()
			if op == "read" {
				reads[name]++
			}
			return nil
		})
		open := func() *Run {
			x, err := OpenRun(withBuckets(t), out, j, toyMakers(), alone)
			require.NoError(t, err)
			return x
		}
		x := open()
		sums := make([]string, x.Shards())
		made := func(i int) {
			r, err := x.Make(withBuckets(t), i)
			require.NoError(t, err)
			sums[i] = r.Sum
		}
		made(0)
		made(1)
		require.NoError(t, x.Close())
		x = open()
		for i := 2; i < x.Shards(); i++ {
			made(i)
		}
		to, err := read.StoreOf(withBuckets(t), out)
		require.NoError(t, err)
		last := x.Shards() - 1
		require.NoError(t, to.Remove(withBuckets(t), write.Variant(about.PathOf(about.StepsDir, last), sums[last])))
		var damaged *BrokenError
		err = x.Finish(withBuckets(t), known(sums))
		require.ErrorAs(t, err, &damaged, kind)
		require.Equal(t, last, damaged.Shard)
		made(last)
		require.NoError(t, x.Finish(withBuckets(t), known(sums)))
		for i := range sums {
			n := reads[write.Variant(about.PathOf(about.StepsDir, i), sums[i])]
			require.Equal(t, i < 2, n > 0, "%s: shard %d was read %d times", kind, i, n)
		}
		requireSameFiles(t, want, objects(t, out))
		require.NoError(t, x.Close())
	}
}

// TestFinishIsStopped: all reads and writes of Finish use its context, which ends when the first file is begun.
func TestFinishIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(withBuckets(t))
	var undone atomic.Int32
	var begun, watching atomic.Bool
	x, err := OpenRun(withBuckets(t), inBucket(t), toyJob(2, 1), toyMakers(), hook(Options{}, func(of context.Context, op, _ string) error {
		if watching.Load() && op == "create" && !begun.Swap(true) {
			cancel()
		}
		if watching.Load() && (op == "create" || op == "open") && begun.Load() && of.Err() == nil {
			undone.Add(1)
		}
		return nil
	}))
	require.NoError(t, err)
	defer x.Close()
	sums := madeBy(t, x)
	watching.Store(true)
	require.ErrorIs(t, x.Finish(ctx, known(sums)), context.Canceled)
	require.True(t, begun.Load())
	require.Zero(t, undone.Load())
	watching.Store(false)
	require.NoError(t, x.Finish(withBuckets(t), known(sums)))
}

// TestOpenRunRefuses: other runs are refused, and shards that do not exist or cannot be
// made.
func TestOpenRunRefuses(t *testing.T) {
	j := toyJob(2, 1)
	for kind, out := range places(t) {
		x, err := OpenRun(withBuckets(t), out, j, toyMakers(), Options{})
		require.NoError(t, err)
		other := j
		other.Seed++
		_, err = OpenRun(withBuckets(t), out, other, toyMakers(), Options{})
		require.ErrorContains(t, err, "another run: seed")
		if kind == "folder" {
			_, err = Generate(withBuckets(t), out, j, toyMakers(), Options{})
			require.ErrorContains(t, err, "another run is writing there")
		}
		_, err = x.Make(withBuckets(t), 0)
		require.NoError(t, err)
		_, err = x.Make(withBuckets(t), 7)
		require.ErrorAs(t, err, new(*PermanentError))
		ctx, cancel := context.WithCancelCause(withBuckets(t))
		stop := errors.New("stop")
		cancel(stop)
		_, err = x.Make(ctx, 1)
		require.ErrorIs(t, err, stop)
		require.NoError(t, x.Close())
		_, err = Generate(withBuckets(t), out, j, toyMakers(), Options{})
		require.ErrorContains(t, err, "only the command that began it continues")
	}
}

// TestDifferWithoutGames: an error of a maker is no difference of a shard.
func TestDifferWithoutGames(t *testing.T) {
	m, broken := toyMakers(), false
	vector := m.Vector
	m.Vector = func(rules string, c env.Settings) (env.Vector, error) {
		if broken {
			return nil, errors.New("no games")
		}
		return vector(rules, c)
	}
	x, err := OpenRun(withBuckets(t), inBucket(t), toyJob(2, 1), m, Options{})
	require.NoError(t, err)
	r, err := x.Make(withBuckets(t), 0)
	require.NoError(t, err)
	broken = true
	_, err = x.Differ(withBuckets(t), 0, r.Sum)
	require.ErrorContains(t, err, "no games")
	require.NoError(t, x.Close())
}
