// Package parallel spreads independent work, such as shards, files and games, over goroutines.
package parallel

import (
	"context"
	"io"
	"iter"
	"sync"
)

// Each calls do for every item of the list, with its index, on the given number of goroutines (at
// least 1). It returns the first error. After an error, or once ctx is done, it begins no more
// items and cancels the context of the items in progress; the result is then that error or the
// cause of ctx.
func Each[T any](ctx context.Context, workers int, list []T, do func(ctx context.Context, i int, item T) error) error {
	return Do(ctx, workers, len(list), Items(list), func() (noWorker, error) { return noWorker{}, nil },
		func(ctx context.Context, _ noWorker, i int, item T) error { return do(ctx, i, item) })
}

// noWorker is the worker of Each, which needs none.
type noWorker struct{}

func (noWorker) Close() error { return nil }

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

// Do is Each for items that come one by one, at most n, and for goroutines with their own resource:
// start makes it, Close releases it. An item is taken when a goroutine is free, so not all items
// need be in memory. An error of start, Close or the items counts like an error of do.
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

// numbered is an item with its index.
type numbered[T any] struct {
	i    int
	item T
}

// feed passes on the items until one fails or the context is done.
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
