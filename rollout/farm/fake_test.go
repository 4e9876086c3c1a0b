package farm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeJob is the job of a fake run.
type fakeJob struct {
	Seed  int           `json:"seed"`
	Delay time.Duration `json:"delay"`
}

// fakeStore keeps the results of fakes: shard and sum of Make, and the list of Finish.
type fakeStore interface {
	put(shard int, sum string) error
	has(shard int, sum string) bool
	finish(list []string) error
}

// mapStore is a store in memory.
type mapStore struct {
	mu       sync.Mutex
	parts    map[string]int
	finished [][]string
	full     atomic.Bool
	refused  atomic.Int64 // calls of put while it was full
}

func newMapStore() *mapStore { return &mapStore{parts: map[string]int{}} }

func (m *mapStore) put(shard int, sum string) error {
	if m.full.Load() {
		m.refused.Add(1)
		return errors.New("store is full")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts[fmt.Sprintf("%d-%s", shard, sum)]++
	return nil
}

func (m *mapStore) has(shard int, sum string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.parts[fmt.Sprintf("%d-%s", shard, sum)] > 0
}

func (m *mapStore) finish(list []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.finished = append(m.finished, list)
	return nil
}

// dirStore is a store in a folder.
type dirStore string

func (d dirStore) put(shard int, sum string) error {
	name := filepath.Join(string(d), fmt.Sprintf("%d-%s", shard, sum))
	temp := name + "." + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(temp, nil, 0o666); err != nil {
		return err
	}
	return os.Rename(temp, name)
}

func (d dirStore) has(shard int, sum string) bool {
	_, err := os.Stat(filepath.Join(string(d), fmt.Sprintf("%d-%s", shard, sum)))
	return err == nil
}

func (d dirStore) finish(list []string) error {
	temp := filepath.Join(string(d), "temp")
	if err := os.WriteFile(temp, []byte(strings.Join(list, "\n")), 0o666); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(string(d), "finished"))
}

// fake makes shards whose bytes are a function of seed and number.
type fake struct {
	job    fakeJob
	spec   *Spec
	store  fakeStore
	build  string
	lie    func(shard int) bool // reports whether to make this shard wrong
	slower int                  // factor of the delay
	made   *atomic.Int64
	fail   func(shard int) error
	whole  *Receipt // of a complete dataset
}

func trueSum(seed, shard int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", seed, shard))
	return hex.EncodeToString(sum[:])
}

func (f *fake) Complete(context.Context) (*Receipt, error) { return f.whole, nil }

func (f *fake) Remake(ctx context.Context, shard int) (Receipt, error) {
	if f.fail != nil {
		if err := f.fail(shard); err != nil {
			return Receipt{}, err
		}
	}
	if f.job.Delay > 0 {
		select {
		case <-time.After(f.job.Delay * time.Duration(max(f.slower, 1))):
		case <-ctx.Done():
			return Receipt{}, ctx.Err()
		}
	}
	seed := f.job.Seed
	if f.lie != nil && f.lie(shard) {
		seed = -1 - seed
	}
	n := f.spec.Episodes / uint64(f.spec.Shards)
	return Receipt{Sum: trueSum(seed, shard), Episodes: n, Rows: 10 * n, Bytes: 100 * n}, nil
}

func (f *fake) Make(ctx context.Context, shard int) (Receipt, error) {
	r, err := f.Remake(ctx, shard)
	if err == nil {
		if f.made != nil {
			f.made.Add(1)
		}
		err = f.store.put(shard, r.Sum)
	}
	return r, err
}

func (f *fake) Differ(_ context.Context, shard int, sum string) (string, error) {
	if sum == trueSum(f.job.Seed, shard) {
		return "", errors.New("no row differs")
	}
	return fmt.Sprintf("row 0 of shard %d", shard), nil
}

func (f *fake) Finish(_ context.Context, sum func(int) (string, error)) error {
	var list []string
	for i := range f.spec.Shards {
		s, err := sum(i)
		if err != nil {
			return err
		}
		if !f.store.has(i, s) {
			return &BrokenError{Shard: i, Err: errors.New("its file is missing")}
		}
		list = append(list, s)
	}
	return f.store.finish(list)
}

func (f *fake) Close() error { return nil }

// opener returns an Open of fakes on a store; with may change each fake.
func opener(store fakeStore, with ...func(*fake)) Open {
	return func(_ context.Context, s *Spec, _ int) (Shards, error) {
		f := &fake{spec: s, store: store, build: "build-1"}
		if err := json.Unmarshal(s.Job, &f.job); err != nil {
			return nil, err
		}
		for _, w := range with {
			w(f)
		}
		if f.build != s.Build {
			return nil, fmt.Errorf("this machine's build is %s, the run wants %s", f.build, s.Build)
		}
		return f, nil
	}
}

// spec returns the spec of a run whose shards have eight episodes each.
func spec(seed, shards int, delay time.Duration) *Spec {
	job, _ := json.Marshal(fakeJob{seed, delay})
	return &Spec{Name: "fake", Build: "build-1", Shards: shards, Episodes: 8 * uint64(shards), Job: job, Out: "nowhere"}
}

// requireWhole fails the test unless the list has the true sums of all shards.
func requireWhole(t *testing.T, list []string, seed, shards int) {
	t.Helper()
	require.Equalf(t, shards, len(list), "the end has %d shards, want %d", len(list), shards)
	for i, sum := range list {
		if sum != trueSum(seed, i) {
			t.Fatalf("shard %d ended as %.12s…, want %.12s…", i, sum, trueSum(seed, i))
		}
	}
}
