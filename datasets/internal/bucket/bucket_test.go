package bucket_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/bucket"
	"moonfarm/datasets/internal/bucket/buckettest"
	"moonfarm/datasets/internal/store"
)

var stores = buckettest.Stores()

func opened(t *testing.T, text string) *bucket.Store {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	b, err := bucket.Open(t.Context(), stores, u)
	require.NoError(t, err)
	return b
}

// TestBucket: all who open a bucket read the same files.
func TestBucket(t *testing.T) {
	ctx := t.Context()
	b, same, other := opened(t, "mem://test/a/b/"), opened(t, "mem://test/a/b"), opened(t, "mem://test/a")
	require.NoError(t, store.WriteFile(ctx, b, "steps/one", []byte("abc")))
	f, err := b.Create(ctx, "steps/two")
	require.NoError(t, err)
	_, err = f.Write([]byte("de"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	names := func(b *bucket.Store, dir string) (all []string) {
		require.NoError(t, b.Each(ctx, dir, func(name string) error {
			all = append(all, name)
			return nil
		}))
		return all
	}
	require.Equal(t, []string{"one"}, names(same, "steps"), "a file is there when it is kept")
	require.NoError(t, f.Keep("steps/two"))
	require.Equal(t, []string{"one", "two"}, names(same, "steps"))
	require.Equal(t, []string{"steps"}, names(same, ""))
	require.Equal(t, []string{"b"}, names(other, ""))
	require.Empty(t, names(same, "none"))
	require.NoError(t, same.Move(ctx, "steps/two", "three"))
	text, err := store.ReadFile(ctx, other, "b/three", 10)
	require.NoError(t, err)
	require.Equal(t, "de", string(text))
	sum, err := store.SumFile(ctx, b, "steps/one", 3)
	require.NoError(t, err)
	require.Equal(t, store.SHA256([]byte("abc")), sum)
	require.ErrorContains(t, store.HasFile(ctx, b, "steps/one", 4), "mem://test/a/b/steps/one: 3 bytes, expected 4")
	require.NoError(t, b.Remove(ctx, "three"))
	require.NoError(t, b.Remove(ctx, "three"))
	_, err = b.Open(ctx, "three")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "mem://test/a/b/three")
	require.ErrorContains(t, b.Move(ctx, "three", "four"), "mem://test/a/b/three")
}

// TestReadAt compares reads of all kinds with the bytes of the object.
func TestReadAt(t *testing.T) {
	ctx, b := t.Context(), opened(t, "mem://test/read")
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, bucket.TailBytes, bucket.SmallBytes, bucket.SmallBytes + 1, 5 * bucket.SmallBytes} {
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(r.Uint32())
		}
		require.NoError(t, store.WriteFile(ctx, b, "file", want))
		f, err := b.Open(ctx, "file")
		require.NoError(t, err)
		require.EqualValues(t, size, f.Size())
		at := 0
		for range 200 {
			n := 1 + r.IntN(min(size, 300<<10))
			switch r.IntN(4) {
			case 0:
				at = r.IntN(size)
			case 1:
				at = max(0, size-n)
			}
			got := make([]byte, n)
			k, err := f.ReadAt(got, int64(at))
			if left := size - at; n > left {
				require.ErrorIs(t, err, io.EOF)
				n = left
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, n, k)
			require.True(t, bytes.Equal(want[at:at+n], got[:n]), "%d bytes at %d of %d", n, at, size)
			at = (at + n) % size
		}
		require.NoError(t, f.Close())
	}
}

// TestURLs: errors tell the fault of a URL.
func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"ftp://host/data":        `ftp://host/data: no store of the scheme "ftp": this program has mem`,
		"mem:///data":            "mem:///data: the name of a bucket is missing",
		"mem://data?timeout=1":   `timeout "1", expected a duration such as 30s`,
		"mem://data?timeout=-1s": "expected a duration",
		"mem://data?colour=red":  `unknown query parameter "colour"`,
	} {
		t.Run(text, func(t *testing.T) {
			u, err := url.Parse(text)
			require.NoError(t, err)
			_, err = bucket.Open(t.Context(), stores, u)
			require.ErrorContains(t, err, want)
		})
	}
}

// deniedOnce denies the first request of each kind, as a store does whose clock differs
// from this machine's.
type deniedOnce struct {
	bucket.Bucket
	denied map[string]bool
}

func (d *deniedOnce) may(what string) error {
	if !d.denied[what] {
		d.denied[what] = true
		return fmt.Errorf("%s: %w", what, fs.ErrPermission)
	}
	return nil
}

func (d *deniedOnce) Size(ctx context.Context, key string) (int64, error) {
	if err := d.may("size"); err != nil {
		return 0, err
	}
	return d.Bucket.Size(ctx, key)
}

func (d *deniedOnce) Read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	if err := d.may("read"); err != nil {
		return nil, err
	}
	return d.Bucket.Read(ctx, key, from)
}

func (d *deniedOnce) List(ctx context.Context, prefix, token string) ([]string, string, error) {
	if err := d.may("list"); err != nil {
		return nil, "", err
	}
	return d.Bucket.List(ctx, prefix, token)
}

func (d *deniedOnce) Write(ctx context.Context, key string, content io.ReadSeeker, fresh bool) error {
	if err := d.may("write"); err != nil {
		_, _ = io.CopyN(io.Discard, content, 2) // these bytes are read again
		return err
	}
	return d.Bucket.Write(ctx, key, content, fresh)
}

// TestDenied: a denied request is repeated once.
func TestDenied(t *testing.T) {
	d := &deniedOnce{denied: map[string]bool{}}
	u, err := url.Parse("mem://test/denied")
	require.NoError(t, err)
	b, err := bucket.Open(t.Context(), bucket.Stores{"mem": func(ctx context.Context, u *url.URL) (bucket.Bucket, error) {
		d.Bucket, err = stores["mem"](ctx, u)
		return d, err
	}}, u)
	require.NoError(t, err)
	require.NoError(t, store.WriteFile(t.Context(), b, "x", []byte("abc")))
	text, err := store.ReadFile(t.Context(), b, "x", 3)
	require.NoError(t, err)
	require.Equal(t, "abc", string(text))
	require.NoError(t, b.Each(t.Context(), "", func(string) error { return nil }))
	require.Len(t, d.denied, 4)
}
