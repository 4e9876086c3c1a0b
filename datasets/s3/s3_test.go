package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets"
	"moonfarm/datasets/internal/bucket"
	"moonfarm/datasets/internal/store"
)

func opened(t *testing.T, text string) (*bucket.Store, error) {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return bucket.Open(t.Context(), datasets.Stores{Scheme: Open}, u)
}

// reach opens a bucket of an S3 server at an address on loopback.
func reach(t *testing.T, at, more string) *bucket.Store {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	b, err := opened(t, "s3://data/td?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(at)+more)
	require.NoError(t, err)
	return b
}

// TestURLs: errors tell the fault of a URL.
func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"s3:///data":                                  "the name of a bucket is missing",
		"s3://data?colour=red":                        `unknown query parameter "colour"; there are: accelerate, anonymous, `,
		"s3://data?fips=maybe":                        "query parameter fips=maybe: expected true or false",
		"s3://data?role=me":                           "expected the ARN of a role",
		"s3://data?ssetype=none":                      "expected one of: [AES256 ",
		"s3://data?rate_limiter_capacity=-1":          "query parameter rate_limiter_capacity=-1: ",
		"s3://data?request_checksum_calculation=no":   "expected when_required or when_supported",
		"s3://data?response_checksum_validation=none": "expected when_required or when_supported",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := opened(t, text)
			require.ErrorContains(t, err, want)
		})
	}
	for _, query := range []string{
		"region=eu-west-1&use_path_style=true&s3ForcePathStyle=false&hostname_immutable=true&endpoint=http%3A%2F%2F127.0.0.1:1&anonymous=true",
		"region=eu-west-1&dualstack=true&fips=true&accelerate=false&disable_https=false&ssetype=aes256&kmskeyid=k&rate_limiter_capacity=5",
		"region=eu-west-1&role=arn:aws:iam::1:role/r&request_checksum_calculation=when_required&response_checksum_validation=WHEN_SUPPORTED&timeout=1s",
	} {
		_, err := opened(t, "s3://data/td?"+query)
		require.NoError(t, err)
	}
}

// requests are the requests to a server, in short.
type requests struct {
	mu  sync.Mutex
	all []string
}

func (r *requests) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := q.Method + " " + q.Host + q.URL.Path
	for _, name := range []string{"X-Amz-Server-Side-Encryption", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id", "X-Amz-Copy-Source", "Content-Type"} {
		if value := q.Header.Get(name); value != "" && q.Method == http.MethodPut {
			text += " " + value
		}
	}
	if strings.Contains(q.Header.Get("Authorization"), "accept-encoding") || q.Header.Get("Accept-Encoding") != "identity" {
		text += " with a signed Accept-Encoding, which a proxy may change"
	}
	r.all = append(r.all, text)
	w.Header().Set("Content-Length", "0")
}

// TestRequests: parameters of a URL reach the store.
func TestRequests(t *testing.T) {
	var asked requests
	server := httptest.NewServer(&asked)
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	b := reach(t, server.URL, "&ssetype=AWS:kms&kmskeyid=mine")
	require.NoError(t, store.WriteFile(t.Context(), b, "a b", []byte("abc")))
	require.NoError(t, b.Move(t.Context(), "a b", "c"))
	require.Equal(t, []string{
		"PUT " + host + "/data/td/a b aws:kms mine application/octet-stream",
		"PUT " + host + "/data/td/c aws:kms mine data%2Ftd%2Fa+b",
		"DELETE " + host + "/data/td/a b",
	}, asked.all)
}

// TestDeadStore: a store that accepts connections and never answers is an error, and so
// is a store that does not exist.
func TestDeadStore(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	b := reach(t, "http://"+l.Addr().String(), "&timeout=200ms")
	f, err := b.Create(t.Context(), "x")
	require.NoError(t, err)
	for what, do := range map[string]func() error{
		"open":   func() error { _, err := b.Open(t.Context(), "x"); return err },
		"each":   func() error { return b.Each(t.Context(), "x", nil) },
		"keep":   func() error { return f.Keep("x") },
		"remove": func() error { return b.Remove(t.Context(), "x") },
		"move":   func() error { return b.Move(t.Context(), "x", "y") },
	} {
		t.Run(what, func(t *testing.T) {
			err := do()
			require.ErrorContains(t, err, "s3://data/td/x: no byte came from the store for 200ms", what)
		})
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

// TestBrokenStreams: reading continues where a stream broke off; a silent stream is an
// error.
func TestBrokenStreams(t *testing.T) {
	const size = 3 << 20
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i * i >> 8)
	}
	var silent atomic.Bool
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		from := 0
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
		_, _ = w.Write(content[from:min(size, from+size/3)])
		if silent.Load() {
			<-q.Context().Done()
		}
		if from+size/3 < size {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	b := reach(t, server.URL, "&timeout=20s")
	sum, err := store.SumFile(t.Context(), b, "x", uint64(len(content)))
	require.NoError(t, err)
	require.Equal(t, store.SHA256(content), sum)
	require.GreaterOrEqual(t, asked.Load(), int32(3))
	silent.Store(true)
	b = reach(t, server.URL, "&timeout=300ms")
	_, err = store.SumFile(t.Context(), b, "x", uint64(len(content)))
	require.ErrorContains(t, err, "s3://data/td/x: no byte came from the store for 300ms")
}

// TestClock: a store whose clock differs by an hour denies signed requests, and gets
// them again with its own time; if it denies these too, that is an error.
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
	for what, do := range map[string]func(b *bucket.Store) error{
		"read":   func(b *bucket.Store) error { _, err := store.ReadFile(t.Context(), b, "x", 3); return err },
		"write":  func(b *bucket.Store) error { return store.WriteFile(t.Context(), b, "x", []byte("abc")) },
		"remove": func(b *bucket.Store) error { return b.Remove(t.Context(), "x") },
		"list":   func(b *bucket.Store) error { return b.Each(t.Context(), "", nil) },
	} {
		t.Run(what, func(t *testing.T) {
			denied.Store(0)
			require.NoError(t, do(reach(t, server.URL, "")), what)
			require.EqualValues(t, 1, denied.Load(), what)
		})
	}
	never.Store(true)
	_, err := reach(t, server.URL, "").Open(t.Context(), "x")
	require.ErrorContains(t, err, "s3://data/td/x: ")
	require.ErrorContains(t, err, "403")
}

// TestQuiet: the SDK prints nothing for a store that keeps no checksums and gives no
// time.
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
	text, err := store.ReadFile(t.Context(), reach(t, server.URL, ""), "x", 10)
	require.NoError(t, err)
	require.Equal(t, "abc", string(text))
	said, err := os.ReadFile(errs)
	require.NoError(t, err)
	require.Empty(t, string(said))
}
