package bucket_test

import (
	"bytes"
	"context"
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

// denying denies the first requests for streams, as a store does whose clock differs from this machine's. (Package s3 tests
// all other requests.)
type denying struct {
	bucket.Bucket
	left int
}

func (d *denying) Read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	if d.left--; d.left >= 0 {
		return nil, fs.ErrPermission
	}
	return d.Bucket.Read(ctx, key, from)
}

// TestDenied: each of the four tries to read asks once more if it is denied.
func TestDenied(t *testing.T) {
	d := &denying{left: 7}
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
}
