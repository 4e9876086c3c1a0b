package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/store"
)

func opened(t *testing.T, text string) *Bucket {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	b, err := Open(t.Context(), u)
	require.NoError(t, err)
	return b
}

// TestBucket: what is written in one bucket is read by all who open it.
func TestBucket(t *testing.T) {
	ctx := t.Context()
	b, same, other := opened(t, "mem://test/a/b/"), opened(t, "mem://test/a/b"), opened(t, "mem://test/a")
	require.NoError(t, store.WriteFile(ctx, b, "steps/one", []byte("abc")))
	f, err := b.Create(ctx, "steps/two")
	require.NoError(t, err)
	_, err = f.Write([]byte("de"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	names := func(b *Bucket, dir string) (all []string) {
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
	for _, size := range []int{1, tailBytes, smallBytes, smallBytes + 1, 5 * smallBytes} {
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

// TestURLs: what is wrong with an URL is told.
func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"ftp://host/data":       `no store of the scheme "ftp": this build has file, mem, s3`,
		"s3:///data":            "the name of a bucket is missing",
		"s3://data?timeout=1":   `timeout "1", expected a duration such as 30s`,
		"s3://data?timeout=-1s": "expected a duration",
		"s3://data?colour=red":  `unknown query parameter "colour"`,
	} {
		u, err := url.Parse(text)
		require.NoError(t, err)
		_, err = Open(t.Context(), u)
		require.ErrorContains(t, err, want)
		if len(cloud) == 0 && u.Scheme == "ftp" {
			require.ErrorContains(t, err, "gs and azblob are in a build with -tags cloud")
		}
	}
}

// s3 opens a bucket of an S3 server at an address on loopback.
func s3(t *testing.T, at, more string) *Bucket {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	return opened(t, "s3://data/td?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(at)+more)
}

// TestDeadStore: a store that takes connections and never answers is an error, and
// so is one that is not there.
func TestDeadStore(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	b := s3(t, "http://"+l.Addr().String(), "&timeout=200ms")
	f, err := b.Create(t.Context(), "x")
	require.NoError(t, err)
	for what, do := range map[string]func() error{
		"open":   func() error { _, err := b.Open(t.Context(), "x"); return err },
		"each":   func() error { return b.Each(t.Context(), "x", nil) },
		"keep":   func() error { return f.Keep("x") },
		"remove": func() error { return b.Remove(t.Context(), "x") },
		"move":   func() error { return b.Move(t.Context(), "x", "y") },
	} {
		err := do()
		require.ErrorContains(t, err, "s3://data/td/x: the store let nothing pass for 200ms", what)
	}
	l.Close()
	_, err = b.Open(t.Context(), "x")
	require.ErrorContains(t, err, "s3://data/td/x: ")
	require.NotErrorIs(t, err, fs.ErrNotExist)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err = b.Open(ctx, "x")
	require.ErrorContains(t, err, "enough")
}

// TestBrokenStreams: a stream that breaks off is read on from there; one that falls
// silent is an error.
func TestBrokenStreams(t *testing.T) {
	content := make([]byte, 3*smallBytes)
	for i := range content {
		content[i] = byte(i * i >> 8)
	}
	var silent atomic.Bool
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		from, size := 0, len(content)
		if text := q.Header.Get("Range"); text != "" {
			from, _ = strconv.Atoi(strings.Trim(text, "bytes=-"))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, size-1, size))
		}
		w.Header().Set("Content-Length", strconv.Itoa(size-from))
		w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		if q.Method == http.MethodHead {
			return
		}
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		asked.Add(1)
		_, _ = w.Write(content[from:min(size, from+smallBytes)])
		if silent.Load() {
			<-q.Context().Done()
		}
		if from+smallBytes < size {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	b := s3(t, server.URL, "&timeout=20s")
	sum, err := store.SumFile(t.Context(), b, "x", uint64(len(content)))
	require.NoError(t, err)
	require.Equal(t, store.SHA256(content), sum)
	require.GreaterOrEqual(t, asked.Load(), int32(3))
	b.patience = 300 * time.Millisecond
	silent.Store(true)
	_, err = store.SumFile(t.Context(), b, "x", uint64(len(content)))
	require.ErrorContains(t, err, "s3://data/td/x: the store let nothing pass for 300ms")
}

// TestClock: a store whose clock is an hour away denies what is signed, and is
// asked again with its own time; who is denied all the same gets the error.
func TestClock(t *testing.T) {
	var denied atomic.Int32
	var never atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		now := time.Now().Add(-time.Hour)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		signed, err := time.Parse("20060102T150405Z", q.Header.Get("X-Amz-Date"))
		if err != nil || signed.Sub(now).Abs() > 15*time.Minute || never.Load() {
			denied.Add(1)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Length", "3")
		w.Header().Set("Last-Modified", now.UTC().Format(http.TimeFormat))
		if q.Method == http.MethodGet {
			_, _ = w.Write([]byte("abc"))
		}
	}))
	defer server.Close()
	for what, do := range map[string]func(b *Bucket) error{
		"read":   func(b *Bucket) error { _, err := store.ReadFile(t.Context(), b, "x", 3); return err },
		"write":  func(b *Bucket) error { return store.WriteFile(t.Context(), b, "x", []byte("abc")) },
		"remove": func(b *Bucket) error { return b.Remove(t.Context(), "x") },
		"stream": func(b *Bucket) error {
			r := &reader{bucket: b, ctx: t.Context(), name: "x", size: 3}
			_, err := r.ReadAt(make([]byte, 3), 0)
			return err
		},
	} {
		denied.Store(0)
		require.NoError(t, do(s3(t, server.URL, "")), what)
		require.EqualValues(t, 1, denied.Load(), what)
	}
	never.Store(true)
	_, err := s3(t, server.URL, "").Open(t.Context(), "x")
	require.ErrorContains(t, err, "s3://data/td/x: ")
	require.ErrorContains(t, err, "403")
}

// TestConditions: a store that knows no conditional write keeps the file all the same;
// any other error of such a write is told, and nothing is written without the condition.
func TestConditions(t *testing.T) {
	for status, kept := range map[int]bool{http.StatusNotImplemented: true, http.StatusBadRequest: true, http.StatusConflict: false, http.StatusForbidden: false} {
		var plain atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			switch {
			case q.Method == http.MethodPut && q.Header.Get("If-None-Match") != "":
				w.WriteHeader(status)
			case q.Method == http.MethodPut:
				plain.Add(1)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
		}))
		b := s3(t, server.URL, "&timeout=20s")
		err := store.WriteNew(t.Context(), b, "x", "x", []byte("abc"))
		server.Close()
		if kept {
			require.NoError(t, err, status)
		} else {
			require.ErrorContains(t, err, "s3://data/td/x", status)
		}
		require.Equal(t, kept, plain.Load() > 0, "%d: written without the condition", status)
	}
}

// TestQuiet: of a store that keeps no checksums, and tells no time, the SDK says nothing.
func TestQuiet(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Date", "yesterday")
		w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		fmt.Fprint(w, "abc")
	}))
	defer server.Close()
	stderr, errs := os.Stderr, filepath.Join(t.TempDir(), "errs")
	defer func() { os.Stderr = stderr }()
	var err error
	os.Stderr, err = os.Create(errs)
	require.NoError(t, err)
	defer os.Stderr.Close()
	text, err := store.ReadFile(t.Context(), s3(t, server.URL, ""), "x", 10)
	require.NoError(t, err)
	require.Equal(t, "abc", string(text))
	said, err := os.ReadFile(errs)
	require.NoError(t, err)
	require.Empty(t, string(said))
}
