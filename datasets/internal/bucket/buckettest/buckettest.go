// Package buckettest provides buckets in the memory of the process, for tests.
package buckettest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"moonfarm/datasets/internal/bucket"
)

// Scheme is the scheme of URLs such as mem://bucket/data.
const Scheme = "mem"

// Stores returns a store with new, empty buckets, which all that open them share.
func Stores() bucket.Stores {
	m := &memory{buckets: map[string]*memoryBucket{}}
	return bucket.Stores{Scheme: m.open}
}

// memory holds the buckets by name.
type memory struct {
	mu      sync.Mutex
	buckets map[string]*memoryBucket
}

func (m *memory) open(_ context.Context, u *url.URL) (bucket.Bucket, error) {
	for name := range u.Query() {
		return nil, fmt.Errorf("unknown query parameter %q", name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.buckets[u.Host]
	if b == nil {
		b = &memoryBucket{objects: map[string][]byte{}}
		m.buckets[u.Host] = b
	}
	return b, nil
}

// memoryBucket implements bucket.Bucket.
type memoryBucket struct {
	mu      sync.Mutex
	objects map[string][]byte // never changed, only replaced
}

// object returns an object.
func (b *memoryBucket) object(ctx context.Context, key string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.objects[key]
	if !ok {
		return nil, fmt.Errorf("key %s: %w", key, fs.ErrNotExist)
	}
	return o, ctx.Err()
}

// Size implements bucket.Bucket, as do the other methods.
func (b *memoryBucket) Size(ctx context.Context, key string) (int64, error) {
	o, err := b.object(ctx, key)
	return int64(len(o)), err
}

func (b *memoryBucket) Read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	o, err := b.object(ctx, key)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(o[min(from, int64(len(o))):])), nil
}

// page is the number of keys that List returns at once.
const page = 7

func (b *memoryBucket) List(ctx context.Context, prefix, token string) (keys []string, next string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			key = prefix + rest[:i+1]
		}
		if key <= token || slices.Contains(keys, key) {
			continue
		}
		if len(keys) == page {
			return keys, keys[page-1], ctx.Err()
		}
		keys = append(keys, key)
	}
	return keys, "", ctx.Err()
}

func (b *memoryBucket) Write(ctx context.Context, key string, content io.ReadSeeker, fresh bool) error {
	o, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.objects[key]; there && fresh {
		return fmt.Errorf("key %s: %w", key, fs.ErrExist)
	}
	b.objects[key] = o
	return ctx.Err()
}

func (b *memoryBucket) Copy(ctx context.Context, from, to string) error {
	o, err := b.object(ctx, from)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[to] = o
	return nil
}

func (b *memoryBucket) Delete(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, key)
	return nil
}
