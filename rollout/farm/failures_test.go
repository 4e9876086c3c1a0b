package farm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/shard"
)

// TestStoreFull: while the store is full, each worker logs one line; once there is room, the
// workers continue automatically.
func TestStoreFull(t *testing.T) {
	f := newFarm(t)
	f.store.full.Store(true)
	s := spec(2, 60, 0)
	f.submit(s)
	f.work("w0", opener(f.store))
	f.work("w1", opener(f.store))
	f.until("both say that the store is full", func() bool {
		n := 0
		for _, w := range f.status().Workers {
			if strings.Contains(w.Trouble, "store is full") {
				n++
			}
		}
		return n == 2
	})
	before := f.store.refused.Load()
	f.until("they have tried several times more", func() bool { return f.store.refused.Load() >= before+12 })
	f.store.full.Store(false)
	f.done(s)
	for _, w := range []string{"w0", "w1"} {
		n := f.logs.count(`level=WARN msg="store is full" worker=` + w)
		assert.Equalf(t, 1, n, "%s logged %d lines, want 1", w, n)
	}
	if n := len(f.status().Failures); n != 2 {
		t.Errorf("%d failures, want one of each worker: %v", n, f.status().Failures)
	}
	f.until("no trouble is left", func() bool {
		for _, w := range f.status().Workers {
			if w.Trouble != "" {
				return false
			}
		}
		return true
	})
}

// TestPermanentFailure: a permanent failure fails the run and becomes its text.
func TestPermanentFailure(t *testing.T) {
	f := newFarm(t)
	bad := func(k *fake) {
		k.fail = func(number int) error {
			if number == 7 {
				return &shard.PermanentError{Err: errors.New("the policy has no move")}
			}
			return nil
		}
	}
	s := spec(4, 20, 0)
	f.submit(s)
	f.work("w0", opener(f.store, bad))
	f.work("w1", opener(f.store, bad))
	f.until("the run failed", func() bool { return f.run(s.ID()).State == Failed })
	r := f.run(s.ID())
	assert.Truef(t, strings.Contains(r.Text, "shard 7: ") && strings.Contains(r.Text, "no move"), "the run failed with %q", r.Text)
}

// TestBroken: a shard whose file is missing at the end is made again.
func TestBroken(t *testing.T) {
	var lost atomic.Bool
	f := newFarm(t, func(o *CoordinatorOptions) {
		open := o.Open
		o.Open = func(ctx context.Context, s *Spec, n int) (Shards, error) {
			k, err := open(ctx, s, n)
			if err == nil {
				m := k.(*fake).store.(*mapStore)
				k.(*fake).store = &losing{m, &lost}
			}
			return k, err
		}
	})
	s := spec(5, 30, 0)
	f.submit(s)
	f.work("w0", opener(f.store))
	f.done(s)
	if r := f.run(s.ID()); r.Reverted != 1 || !f.failure("shard 3: its file is missing") {
		t.Errorf("%d made again, failures %v", r.Reverted, f.status().Failures)
	}
}

// losing is a store that reports shard 3 as missing the first time it is asked.
type losing struct {
	*mapStore
	lost *atomic.Bool
}

func (l *losing) has(shard int, sum string) bool {
	if shard == 3 && l.lost.CompareAndSwap(false, true) {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.parts, fmt.Sprintf("%d-%s", shard, sum))
		return false
	}
	return l.mapStore.has(shard, sum)
}
