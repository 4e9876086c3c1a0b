//go:build cloud

package cloud

import (
	"context"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"

	"moonfarm/datasets"
	"moonfarm/datasets/internal/bucket"
	"moonfarm/datasets/internal/store"
)

// TestBucket keeps files in a bucket of gocloud.dev in memory.
func TestBucket(t *testing.T) {
	u, err := url.Parse("mem://box/a/b")
	require.NoError(t, err)
	blobs := memblob.OpenBucket(nil)
	ctx, stores := t.Context(), datasets.Stores{"mem": func(context.Context, *url.URL) (datasets.Bucket, error) { return objects{blobs}, nil }}
	s, err := bucket.Open(ctx, stores, u)
	require.NoError(t, err)
	require.NoError(t, store.WriteNew(ctx, s, "steps/one", "steps/one", []byte("abc")))
	require.ErrorIs(t, store.WriteNew(ctx, s, "steps/one", "steps/one", []byte("xyz")), fs.ErrExist)
	for range 3 {
		require.NoError(t, store.WriteFile(ctx, s, "two", []byte("de")))
	}
	text, err := store.ReadFile(ctx, s, "steps/one", 3)
	require.NoError(t, err)
	require.Equal(t, "abc", string(text))
	require.NoError(t, s.Move(ctx, "two", "three"))
	var names []string
	require.NoError(t, s.Each(ctx, "", func(name string) error {
		names = append(names, name)
		return nil
	}))
	require.Equal(t, []string{"steps", "three"}, names)
	require.NoError(t, s.Remove(ctx, "three"))
	require.NoError(t, s.Remove(ctx, "three"))
	_, err = s.Open(ctx, "three")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, []string{"azblob", "gs", "s3"}, slices.Sorted(maps.Keys(Stores())))
	_, err = open(ctx, &url.URL{Scheme: "nowhere", Host: "box"})
	require.Error(t, err)
}
