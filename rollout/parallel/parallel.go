// Package parallel spreads work over goroutines: shards, files and games that
// do not depend on each other.
package parallel

import (
	"context"
	"io"
	"iter"
	"sync"
)

// Each calls do for every item of the list, with its place in it, on so many
// goroutines (1 if workers is less). It returns the first error. When there is
// one, or ctx is done, no more items are begun and the context of those in hand
// is done; the error is then that error or the cause of ctx.
func Each[T any](ctx context.Context, workers int, list []T, do func(ctx context.Context, i int, item T) error) error {
	return Do(ctx, workers, len(list), Items(list), func() (nobody, error) { return nobody{}, nil },
		func(ctx context.Context, _ nobody, i int, item T) error { return do(ctx, i, item) })
}

// nobody is the worker of Each.
type nobody struct{}

func (nobody) Close() error { return nil }

// Items yields the items of a list without errors.
func Items[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range list {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// Do is Each for items that come one by one, n at most, and for goroutines that
// need something of their own: start makes it, Close lets go of it. An item is
// taken when a goroutine is free, so that not all need be in memory. An error of
// start, Close or the items counts as one of do.
func Do[W io.Closer, T any](ctx context.Context, workers, n int, items iter.Seq2[T, error],
	start func() (W, error), do func(ctx context.Context, w W, i int, item T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan numbered[T])
	work := func() (err error) {
		w, err := start()
		if err != nil {
			return err
		}
		defer func() {
			if e := w.Close(); err == nil {
				err = e
			}
		}()
		for item := range next {
			if ctx.Err() != nil {
				return nil
			}
			if err := do(ctx, w, item.i, item.item); err != nil {
				return err
			}
		}
		return nil
	}
	var all sync.WaitGroup
	for range min(max(workers, 1), n) {
		all.Go(func() {
			if err := work(); err != nil {
				cancel(err) // the first cause stays
			}
		})
	}
	if err := feed(ctx, next, items); err != nil {
		cancel(err)
	}
	close(next)
	all.Wait()
	return context.Cause(ctx)
}

// numbered is the i-th item, from 0.
type numbered[T any] struct {
	i    int
	item T
}

// feed hands out the items until one fails or the context is done.
func feed[T any](ctx context.Context, next chan<- numbered[T], items iter.Seq2[T, error]) error {
	i := 0
	for item, err := range items {
		if err != nil {
			return err
		}
		select {
		case next <- numbered[T]{i, item}:
		case <-ctx.Done():
			return nil
		}
		i++
	}
	return nil
}
