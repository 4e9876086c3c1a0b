package s3

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/bucket"
	"moonfarm/datasets/internal/store"
)

// loopback is a server with the part of S3 that datasets need. refuse returns which
// requests it refuses.
type loopback struct {
	refuse func(q *http.Request) (status int, code string)

	mu      sync.Mutex
	objects map[string][]byte
	refused int
}

func (l *loopback) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	body, err := content(q)
	if err != nil {
		panic(err)
	}
	key := q.URL.Path
	if status, code := l.refuse(q); code != "" {
		l.refused++
		fail(w, status, code)
		return
	}
	_, there := l.objects[key]
	if q.Header.Get("If-None-Match") != "" && there {
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	switch {
	case q.Method == http.MethodPut:
		l.objects[key] = body
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(body)))
	case q.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case !there:
		fail(w, http.StatusNotFound, "NoSuchKey")
	default:
		http.ServeContent(w, q, "", time.Unix(0, 0), bytes.NewReader(l.objects[key]))
	}
}

// content is the body of a request, without the chunks and the trailer of aws-chunked.
func content(q *http.Request) (all []byte, err error) {
	if !strings.Contains(q.Header.Get("Content-Encoding"), "aws-chunked") {
		return io.ReadAll(q.Body)
	}
	for in := bufio.NewReader(q.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil || n == 0 {
			_, _ = io.Copy(io.Discard, in)
			return all, err
		}
		chunk := make([]byte, n+2) // with the end of the line
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil, err
		}
		all = append(all, chunk[:n]...)
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
}

// The kinds of requests that stores refuse.
func hasTrailer(q *http.Request) bool {
	return q.Header.Get("X-Amz-Trailer") != "" || strings.Contains(q.Header.Get("Content-Encoding"), "aws-chunked")
}

func hasChecksum(q *http.Request) bool {
	for name := range q.Header {
		if name == "X-Amz-Sdk-Checksum-Algorithm" || strings.HasPrefix(name, "X-Amz-Checksum-") {
			return true
		}
	}
	return hasTrailer(q)
}

func hasCondition(q *http.Request) bool { return q.Header.Get("If-None-Match") != "" }

// TestRefusals: a refused feature is tried once and then not used again, with one
// warning; the content, and the protection of a name where the store has it, stay.
func TestRefusals(t *testing.T) {
	none := func(*http.Request) bool { return false }
	for name, c := range map[string]struct {
		has    func(q *http.Request) bool
		status int
		code   string
		warned []string
	}{
		"nothing":                  {none, 0, "", nil},
		"trailers":                 {hasTrailer, 400, "BadRequest", []string{"checksums"}},
		"trailers by signature":    {hasTrailer, 403, "SignatureDoesNotMatch", []string{"checksums"}},
		"trailers by length":       {hasTrailer, 411, "MissingContentLength", []string{"checksums"}},
		"algorithms":               {hasChecksum, 400, "InvalidArgument", []string{"checksums"}},
		"algorithms, as not there": {hasChecksum, 501, "NotImplemented", []string{"checksums"}},
		"conditions":               {hasCondition, 501, "NotImplemented", []string{"conditional writes"}},
		"conditions, as invalid":   {hasCondition, 400, "InvalidArgument", []string{"conditional writes"}},
		"both":                     {func(q *http.Request) bool { return hasChecksum(q) || hasCondition(q) }, 501, "NotImplemented", []string{"checksums", "conditional writes"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := &loopback{objects: map[string][]byte{}, refuse: func(q *http.Request) (int, string) {
				if c.has(q) {
					return c.status, c.code
				}
				return 0, ""
			}}
			b := server.open(t)
			var warned []string
			ctx := store.WithWarn(t.Context(), func(text string) { warned = append(warned, text) })
			require.NoError(t, store.WriteNew(ctx, b, "new", "new", []byte("abc")))
			require.NoError(t, store.WriteFile(ctx, b, "file", []byte("def")))
			after := server.refused
			require.LessOrEqual(t, after, 5)
			require.NoError(t, store.WriteFile(ctx, b, "file", []byte("ghi")))
			require.NoError(t, store.WriteNew(ctx, b, "newer", "newer", []byte("jkl")))
			require.ErrorIs(t, store.WriteNew(ctx, b, "new", "new", []byte("xyz")), fs.ErrExist)
			require.Equal(t, after, server.refused, "what is refused is not asked for again")
			for name, want := range map[string]string{"new": "abc", "file": "ghi", "newer": "jkl"} {
				text, err := store.ReadFile(ctx, b, name, 10)
				require.NoError(t, err)
				require.Equal(t, want, string(text))
			}
			require.Len(t, warned, len(c.warned), "%q", warned)
			for _, want := range c.warned {
				require.True(t, slices.ContainsFunc(warned, func(text string) bool {
					return strings.HasPrefix(text, "s3://data/td: the store refuses ") && strings.Contains(text, want)
				}), "%q", warned)
			}
		})
	}
}

// TestOtherRefusals: the first error is returned if it has another reason; nothing is
// written and no feature is given up.
func TestOtherRefusals(t *testing.T) {
	for code, status := range map[string]int{"InvalidBucketName": 400, "ExpiredToken": 400, "SignatureDoesNotMatch": 403, "AccessDenied": 403, "ConditionalRequestConflict": 409, "NotImplemented": 501} {
		t.Run(code, func(t *testing.T) {
			server := &loopback{objects: map[string][]byte{}, refuse: func(q *http.Request) (int, string) {
				if q.Method == http.MethodPut {
					return status, code
				}
				return 0, ""
			}}
			b := server.open(t)
			ctx := store.WithWarn(t.Context(), func(text string) { t.Error(text) })
			for _, err := range []error{store.WriteFile(ctx, b, "x", []byte("abc")), store.WriteNew(ctx, b, "x", "x", []byte("abc"))} {
				require.ErrorContains(t, err, "s3://data/td/x: ")
				require.ErrorContains(t, err, code)
			}
			require.Empty(t, server.objects)
			server.refuse = func(q *http.Request) (int, string) {
				if q.Method == http.MethodPut && !hasChecksum(q) {
					return http.StatusTeapot, "NoChecksum"
				}
				return 0, ""
			}
			require.NoError(t, store.WriteNew(ctx, b, "x", "x", []byte("abc")), "with a checksum and a condition, as at first")
		})
	}
}

// open serves on loopback with TLS, which trailing checksums need, and opens a bucket
// there.
func (l *loopback) open(t *testing.T) *bucket.Store {
	t.Helper()
	server := httptest.NewTLSServer(l)
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o666))
	t.Setenv("AWS_CA_BUNDLE", ca)
	return reach(t, server.URL, "")
}
