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
func (m *memoryBucket) object(ctx context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[key]
	if !ok {
		return nil, fmt.Errorf("key %s: %w", key, fs.ErrNotExist)
	}
	return o, ctx.Err()
}

// Size implements bucket.Bucket, as do the other methods.
func (m *memoryBucket) Size(ctx context.Context, key string) (int64, error) {
	o, err := m.object(ctx, key)
	return int64(len(o)), err
}

func (m *memoryBucket) Read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	o, err := m.object(ctx, key)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(o[min(from, int64(len(o))):])), nil
}

// page is the number of keys that List returns at once.
const page = 7

func (m *memoryBucket) List(ctx context.Context, prefix, token string) (keys []string, next string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(m.objects)) {
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

func (m *memoryBucket) Write(ctx context.Context, key string, content io.ReadSeeker, fresh bool) error {
	o, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.objects[key]; there && fresh {
		return fmt.Errorf("key %s: %w", key, fs.ErrExist)
	}
	m.objects[key] = o
	return ctx.Err()
}

func (m *memoryBucket) Copy(ctx context.Context, from, to string) error {
	o, err := m.object(ctx, from)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[to] = o
	return nil
}

func (m *memoryBucket) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return nil
}
