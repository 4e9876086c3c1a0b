package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
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
		for _, name := range []string{about.PathOf(about.StepsDir, 3), about.PathOf(about.EpisodesDir, 3), about.PathOf(about.IndexDir, 0), about.CardName} {
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

// refused calls do with options that make step k fail, alone or with all later steps.
// It returns the number of steps.
func refused(k int, crash bool, do func(o Options) error) (broken error, n int, err error) {
	var mu sync.Mutex // the files of a shard are closed at the same time
	broken = fmt.Errorf("step %d is refused", k)
	may := func(op, name string) error {
		mu.Lock()
		defer mu.Unlock()
		n++
		if n-1 == k || crash && n-1 > k {
			return fmt.Errorf("%s %s: %w", op, name, broken)
		}
		return nil
	}
	err = do(Options{Wrap: func(s store.Store) store.Store { return faulty{s, may} }})
	return broken, n, err
}

// between is a store that calls a function before its step k.
type between struct {
	store.Store
	step func()
}

func (b between) Open(ctx context.Context, name string) (store.Reader, error) {
	b.step()
	return b.Store.Open(ctx, name)
}

func (b between) Each(ctx context.Context, dir string, do func(name string) error) error {
	b.step()
	return b.Store.Each(ctx, dir, do)
}

func (b between) Create(ctx context.Context, name string) (store.File, error) {
	f, err := b.Store.Create(ctx, name)
	return betweenFile{f, b.step}, err
}

func (b between) Remove(ctx context.Context, name string) error {
	b.step()
	return b.Store.Remove(ctx, name)
}

type betweenFile struct {
	store.File
	step func()
}

func (b betweenFile) Keep(name string) error {
	b.step()
	return b.File.Keep(name)
}

func (b betweenFile) KeepNew(name string) error {
	b.step()
	return b.File.KeepNew(name)
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
			step := func() {
				if int(n.Add(1)) == k+1 {
					_, err = Generate(withBuckets(t), url, second, toyMakers(), Options{})
				}
			}
			_, first := Generate(withBuckets(t), url, j, toyMakers(), Options{Wrap: func(s store.Store) store.Store { return between{s, step} }})
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
