package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/parallel"
)

var errBroken = errors.New("broken")

// TestEach: every item is processed once, by at most the given number of goroutines.
func TestEach(t *testing.T) {
	list := make([]int, 100)
	for i := range list {
		list[i] = 3 * i
	}
	for _, workers := range []int{-1, 1, 2, 7, 1000} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			var mu sync.Mutex
			var got []int
			var now, most atomic.Int32
			err := parallel.Each(t.Context(), workers, list, func(_ context.Context, i, item int) error {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				mu.Lock()
				defer mu.Unlock()
				assert.Equalf(t, 3*i, item, "item %d", i)
				got = append(got, item)
				return nil
			})
			assert.Truef(t, workers != 1 || slices.Equal(got, list), "one worker: %v, want the order of the list", got)
			slices.Sort(got)
			require.NoErrorf(t, err, "%d workers", workers)
			assert.Truef(t, slices.Equal(got, list) && int(most.Load()) <= max(workers, 1), "%d workers, items %v, %d at once", workers, got, most.Load())
		})
	}
	assert.NoError(t, parallel.Each(t.Context(), 3, nil, func(context.Context, int, int) error { return errBroken }), "no items")
}

// TestErrors: the first error ends all work and is returned; so is the cause of a context that is
// done.
func TestErrors(t *testing.T) {
	list := make([]int, 1000)
	for _, workers := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			var done atomic.Int32
			err := parallel.Each(t.Context(), workers, list, func(ctx context.Context, i, _ int) error {
				if i == 2 {
					return errBroken
				}
				if i > 2 {
					<-ctx.Done() // items in progress are cancelled
				}
				done.Add(1)
				return context.Cause(ctx)
			})
			assert.Truef(t, errors.Is(err, errBroken) && done.Load() <= int32(2+workers), "%d workers: error %v after %d items", workers, err, done.Load())
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err := parallel.Each(ctx, 2, list, func(_ context.Context, i, _ int) error {
		if i == 5 {
			cancel(errBroken)
		}
		return nil
	})
	assert.ErrorIsf(t, err, errBroken, "error %v, want the cause of the context", err)
}

// counter is a worker that counts its Close calls.
type counter struct {
	closed *atomic.Int32
	err    error
}

func (c counter) Close() error { c.closed.Add(1); return c.err }

// TestDo: failing starts, failing items and errors of Close end the work.
func TestDo(t *testing.T) {
	damaged := func(yield func(int, error) bool) { _ = yield(1, nil) && yield(0, errBroken) }
	for _, c := range []struct {
		name          string
		items         iter.Seq2[int, error]
		start, ending error
		want          error
	}{
		{"no error", parallel.Items([]int{4, 5}), nil, nil, nil},
		{"the items fail", damaged, nil, nil, errBroken},
		{"start fails", parallel.Items([]int{4, 5}), errBroken, nil, errBroken},
		{"Close fails", parallel.Items([]int{4, 5}), nil, errBroken, errBroken},
	} {
		t.Run(c.name, func(t *testing.T) {
			var started, closed atomic.Int32
			err := parallel.Do(t.Context(), 3, 2, c.items, func() (counter, error) {
				if c.start == nil {
					started.Add(1)
				}
				return counter{&closed, c.ending}, c.start
			}, func(context.Context, counter, int, int) error { return nil })
			assert.Truef(t, errors.Is(err, c.want) && closed.Load() == started.Load(), "%s: error %v, want %v; %d started, %d closed", c.name, err, c.want, started.Load(), closed.Load())
		})
	}
}
