package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/bucket/buckettest"
	"moonfarm/datasets/internal/read"
	"moonfarm/datasets/internal/store"
)

// withBuckets returns the context of a test, with buckets in memory.
func withBuckets(t testing.TB) context.Context { return WithStores(t.Context(), memory) }

var memory = buckettest.Stores()

// inBucket returns the URL of a new bucket in memory.
func inBucket(t testing.TB) string {
	return "mem://" + url.PathEscape(strings.ToLower(t.Name())) + "/data"
}

// objects reads all files of a folder or bucket, as files does for folders.
func objects(t testing.TB, place string) map[string]string {
	t.Helper()
	from, err := read.StoreOf(withBuckets(t), place)
	require.NoError(t, err)
	all := map[string]string{}
	for _, dir := range append(about.TableNames(true), "", about.IndexDir, about.ShardsDir, about.ModelsDir) {
		require.NoError(t, from.Each(withBuckets(t), dir, func(name string) error {
			path := strings.TrimPrefix(dir+"/"+name, "/")
			text, err := store.ReadFile(withBuckets(t), from, path, 1<<30)
			if err == nil {
				all[path] = string(text)
			}
			return nil
		}))
	}
	return all
}

// withoutFolders removes the names of folders.
func withoutFolders(all map[string]string) map[string]string {
	for name := range all {
		if strings.HasSuffix(name, "/") {
			delete(all, name)
		}
	}
	return all
}

// TestBuckets: a dataset in a bucket has the same files as one in a folder, and is read
// in the same way.
func TestBuckets(t *testing.T) {
	j := mixed(toyJob(3, 2))
	dir := generateToy(t, j, Options{Workers: 2})
	url := inBucket(t)
	_, err := OpenContext(withBuckets(t), url)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, url+": no dataset there")
	made, err := Generate(withBuckets(t), url, j, toyMakers(), Options{Workers: 2})
	require.NoError(t, err)
	require.Equal(t, 7, made.Made)
	requireSameFiles(t, withoutFolders(files(t, dir)), objects(t, url))
	requireSound(t, url, toyMakers(), VerifyOptions{Workers: 2, Recompute: -1})
	requireSound(t, "file://"+dir, toyMakers(), VerifyOptions{Workers: 2})
	require.Equal(t, inspected(t, dir, InspectOptions{Sums: true}), inspected(t, url, InspectOptions{Sums: true}))
	m := toyMakers()
	for _, o := range []ReadOptions{{}, {Shuffle: 50}, {Columns: []string{about.ColReward}, Split: Train, Validation: 0.2}, {Makers: &m, Workers: 2}} {
		var sums [2]uint64
		for i, place := range []string{dir, url} {
			for b := range each(t, opened(t, place).Batches(o)) {
				for k, v := range b.Reward {
					sums[i] = sums[i]*31 + uint64(k) + uint64(int64(v*100))
				}
			}
		}
		require.Equal(t, sums[0], sums[1])
	}
	again, err := Generate(withBuckets(t), url, j, toyMakers(), Options{})
	require.NoError(t, err)
	require.True(t, again.AlreadyComplete)
}

// TestDamaged: errors name the damaged, missing or foreign file or object.
func TestDamaged(t *testing.T) {
	for _, out := range places(t) {
		_, err := Generate(withBuckets(t), out, toyJob(2, 1), toyMakers(), Options{})
		require.NoError(t, err)
		s, err := read.StoreOf(withBuckets(t), out)
		require.NoError(t, err)
		for _, name := range []string{about.PathOf(about.StepsDir, 3), about.PathOf(about.EpisodesDir, 3), about.PathOf(about.IndexDir, 0), about.CardName, about.StatisticsName} {
			good, err := store.ReadFile(withBuckets(t), s, name, 1<<30)
			require.NoError(t, err)
			bad := []byte(strings.Clone(string(good)))
			bad[len(bad)/2] ^= 1
			require.NoError(t, store.WriteFile(withBuckets(t), s, name, bad))
			requireProblem(t, out, toyMakers(), VerifyOptions{}, name, "the manifest says")
			require.NoError(t, store.WriteFile(withBuckets(t), s, name, good[1:]))
			requireProblem(t, out, toyMakers(), VerifyOptions{}, name, " bytes")
			require.NoError(t, s.Remove(withBuckets(t), name))
			requireProblem(t, out, toyMakers(), VerifyOptions{}, out+"/"+name)
			require.NoError(t, store.WriteFile(withBuckets(t), s, name, good))
		}
		require.NoError(t, store.WriteFile(withBuckets(t), s, "steps/99999.arrow", nil))
		requireProblem(t, out, toyMakers(), VerifyOptions{}, "steps/99999.arrow: does not belong to the dataset")
	}
}

// stoppedAtEveryStep fails changes of the store in turn, alone and with all later ones, in a folder and in a
// bucket, and repeats the run, which then makes the wanted files. do makes a dataset, by more than least changes.
func stoppedAtEveryStep(t *testing.T, stride, least int, want map[string]string, do func(out string, o Options) error) {
	for kind := range places(t) {
		for _, crash := range []bool{false, true} {
			for k := 0; ; k += stride {
				out := places(t)[kind] + fmt.Sprint(crash, k)
				broken, n, err := refused(k, crash, func(o Options) error { return do(out, o) })
				if n <= k {
					require.NoError(t, err)
					require.Greater(t, k, least, "changes of a run")
					break
				}
				// A failure after the manifest is in place can leave the dataset complete;
				// a failure to drop a file is no error.
				if err != nil {
					require.ErrorIs(t, err, broken)
					require.False(t, errors.As(err, new(*PermanentError)), "an error of the store can pass")
				}
				if kind == "folder" {
					requireWhole(t, out, want)
				}
				require.NoError(t, do(out, Options{Workers: 2}), "after step %d of a %s", k, kind)
				requireSameFiles(t, want, objects(t, out))
			}
		}
	}
}

// requireWhole checks that every file with a final name has its final bytes.
func requireWhole(t *testing.T, dir string, want map[string]string) {
	if _, err := os.Stat(dir); err != nil {
		return // not even the folder exists
	}
	for name, content := range withoutFolders(files(t, dir)) {
		if !strings.HasSuffix(name, ".tmp") && !strings.Contains(name, "-") && name != about.RunName && !strings.HasPrefix(name, about.ShardsDir) {
			require.True(t, content == want[name], name)
		}
	}
}

// refused calls do with options that make step k fail, alone or with all later steps.
// It returns the number of steps.
func refused(k int, crash bool, do func(o Options) error) (broken error, n int, err error) {
	var mu sync.Mutex // the files of a shard are closed at the same time
	broken = fmt.Errorf("step %d is refused", k)
	may := func(_ context.Context, op, name string) error {
		if op == "open" || op == "each" || op == "read" {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		if n-1 == k || crash && n-1 > k {
			return fmt.Errorf("%s %s: %w", op, name, broken)
		}
		return nil
	}
	err = do(hook(Options{}, may))
	return broken, n, err
}

// TestTwoRunsInOneBucket begins and ends a whole run between any two steps of another
// run in the same bucket. Runs of the same Job do no harm to each other; of two
// different ones, one is refused.
func TestTwoRunsInOneBucket(t *testing.T) {
	j := toyJob(2, 1)
	j.Episodes = 25
	want := withoutFolders(files(t, generateToy(t, j, Options{})))
	other := j
	other.Seed++
	wantOther := withoutFolders(files(t, generateToy(t, other, Options{})))
	for k := 0; ; k++ {
		for _, second := range []Job{j, other} {
			url := fmt.Sprintf("%s/%d/%d", inBucket(t), second.Seed, k)
			var n atomic.Int32
			var err error
			_, first := Generate(withBuckets(t), url, j, toyMakers(), hook(Options{}, func(_ context.Context, op, _ string) error {
				if slices.Contains([]string{"open", "each", "remove", "keep"}, op) && int(n.Add(1)) == k+1 {
					_, err = Generate(withBuckets(t), url, second, toyMakers(), Options{})
				}
				return nil
			}))
			if int(n.Load()) <= k {
				require.Greater(t, k, 30, "steps of a run")
				return
			}
			same := want
			switch {
			case second.Seed == j.Seed:
				require.NoError(t, errors.Join(first, err), "step %d", k)
			case first == nil:
				require.ErrorContains(t, err, "another run: seed", "step %d", k)
			default:
				require.NoError(t, err, "step %d", k)
				require.ErrorContains(t, first, "another run: seed", "step %d", k)
				same = wantOther
			}
			requireSameFiles(t, same, objects(t, url))
		}
	}
}
