// Package bucket keeps the files of a dataset in a bucket: a store of objects, such as
// S3, that the caller provides.
package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"moonfarm/datasets/internal/store"
)

// Bucket is a store of objects. Keys have slashes but do not begin with one. errors.Is
// tells errors apart: fs.ErrNotExist if the object does not exist, fs.ErrPermission if
// the store denies the request, and errors.ErrUnsupported if the store refuses the form
// of the request. Several goroutines may use a Bucket at once.
type Bucket interface {
	// Size returns the size of an object in bytes.
	Size(ctx context.Context, key string) (int64, error)
	// Read reads an object from a byte to its end, as a stream.
	Read(ctx context.Context, key string, from int64) (io.ReadCloser, error)
	// List returns a page of the keys that begin with prefix. A key with a slash after
	// the prefix is cut after that slash, and comes once. token is "" for the first
	// page, and then the last returned next, which is "" with the last page.
	List(ctx context.Context, prefix, token string) (keys []string, next string, err error)
	// Write writes an object as a whole: a reader finds all of it or the object before.
	// If fresh, it fails if the object exists, and with errors.ErrUnsupported if the
	// store has no such condition.
	Write(ctx context.Context, key string, content io.ReadSeeker, fresh bool) error
	// Copy copies an object within the store.
	Copy(ctx context.Context, from, to string) error
	// Delete deletes an object. It need not fail if the object does not exist.
	Delete(ctx context.Context, key string) error
}

// Opener opens the bucket of a URL, whose path is a prefix of all keys. It need not
// send a request.
type Opener func(ctx context.Context, u *url.URL) (Bucket, error)

// Stores maps the schemes of URLs to their openers.
type Stores map[string]Opener

// SchemeError means that no store is known for a URL.
type SchemeError struct {
	URL    string // without its query
	Scheme string
	Has    []string // the known schemes, in order
}

// Error names the URL and the known schemes.
func (s *SchemeError) Error() string {
	return fmt.Sprintf("%s: no store of the scheme %q: this program has %s", s.URL, s.Scheme, strings.Join(s.Has, ", "))
}

// patience is the longest time without a byte from the store.
const patience = 30 * time.Second

// Store is a store.Store in a bucket, below a prefix.
type Store struct {
	bucket   Bucket
	url      string // scheme, bucket and prefix, for messages
	prefix   string // "" or with a slash at the end
	patience time.Duration

	unconditional atomic.Bool // the store refuses conditional writes
}

// Open opens the bucket and prefix of a URL such as s3://bucket/data/td. Its query is
// for the opener, but for timeout, a duration: the longest time without a byte from the
// store before that is an error. Open sends no request.
func Open(ctx context.Context, stores Stores, u *url.URL) (*Store, error) {
	open := stores[u.Scheme]
	if open == nil {
		return nil, &SchemeError{u.Scheme + "://" + u.Host + u.Path, u.Scheme, slices.Sorted(maps.Keys(stores))}
	}
	b := &Store{url: u.Scheme + "://" + u.Host, patience: patience}
	if path := strings.Trim(u.Path, "/"); path != "" {
		b.prefix = path + "/"
		b.url += "/" + path
	}
	if u.Host == "" {
		return nil, fmt.Errorf("%s: the name of a bucket is missing: expected %s://BUCKET/PREFIX", b.url, u.Scheme)
	}
	plain, query := *u, u.Query()
	if text := query.Get("timeout"); text != "" {
		var err error
		if b.patience, err = time.ParseDuration(text); err != nil || b.patience <= 0 {
			return nil, fmt.Errorf("%s: timeout %q, expected a duration such as 30s", b.url, text)
		}
		query.Del("timeout")
	}
	plain.RawQuery = query.Encode()
	var err error
	if b.bucket, err = open(ctx, &plain); err != nil {
		return nil, fmt.Errorf("%s: %w", b.url, err)
	}
	return b, nil
}

// String returns the bucket's URL, for messages.
func (s *Store) String() string { return s.url }

// fail names the object in an error.
func (s *Store) fail(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &fs.PathError{Op: "open", Path: s.url + "/" + name, Err: fs.ErrNotExist}
	}
	return fmt.Errorf("%s/%s: %w", s.url, name, err)
}

// watch is a context that is done when no byte has come from the store for too long.
type watch struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	patience time.Duration
}

func (s *Store) watch(ctx context.Context) *watch {
	ctx, cancel := context.WithCancelCause(ctx)
	return &watch{ctx, cancel, time.AfterFunc(s.patience, func() { cancel(silence(s.patience)) }), s.patience}
}

// alive restarts the timer: a byte came, or a request begins.
func (w *watch) alive() { w.timer.Reset(w.patience) }

// rest stops the timer until the next alive.
func (w *watch) rest() { w.timer.Stop() }

func (w *watch) stop() {
	w.rest()
	w.cancel(nil)
}

// because returns the cause for which the context is done, if it is, and err otherwise.
func (w *watch) because(err error) error {
	if err != nil && w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// silence is the error of a store that sent nothing for that long.
type silence time.Duration

// Error implements error.
func (s silence) Error() string {
	return fmt.Sprintf("no byte came from the store for %v", time.Duration(s))
}

// short makes a request that takes the store little time.
func (s *Store) short(ctx context.Context, name string, do func(ctx context.Context) error) error {
	w := s.watch(ctx)
	defer w.stop()
	return s.fail(name, w.because(twice(func() error { return do(w.ctx) })))
}

// twice repeats a request that was denied. A store denies requests that were signed
// many minutes ago or in the future, and the clock of this machine may be wrong by so
// much: the client learns the store's time from the first answer, and signs the second
// request with it.
func twice(do func() error) error {
	err := do()
	if errors.Is(err, fs.ErrPermission) {
		err = do()
	}
	return err
}

// Each implements store.Store.
func (s *Store) Each(ctx context.Context, dir string, do func(name string) error) error {
	prefix := s.prefix
	if dir != "" {
		prefix += dir + "/"
	}
	for token, more := "", true; more; more = token != "" {
		var keys []string
		err := s.short(ctx, dir, func(ctx context.Context) (err error) {
			keys, token, err = s.bucket.List(ctx, prefix, token)
			return err
		})
		if err != nil {
			return err
		}
		for _, key := range keys {
			if name := strings.TrimSuffix(strings.TrimPrefix(key, prefix), "/"); name != "" {
				if err := do(name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Create implements store.Store. It holds the content in memory, so that the object
// appears as a whole, under a name that may depend on the content.
func (s *Store) Create(ctx context.Context, _ string) (store.File, error) {
	return &file{to: s, ctx: ctx}, nil
}

// file is a file that is being written.
type file struct {
	bytes.Buffer
	to  *Store
	ctx context.Context
}

// SHA256 implements store.File.
func (f *file) SHA256() string { return store.SHA256(f.Bytes()) }

// Close implements store.File.
func (f *file) Close() error { return nil }

// Drop implements store.File.
func (f *file) Drop() {}

// Keep implements store.File.
func (f *file) Keep(name string) error { return f.upload(name, false) }

// KeepNew implements store.File. In a store that refuses conditional writes, two
// processes may keep a file at once.
func (f *file) KeepNew(name string) error {
	b := f.to
	var err error
	if !b.unconditional.Load() {
		if err = f.upload(name, true); err == nil {
			return nil
		}
	}
	there, is := b.Open(f.ctx, name)
	switch {
	case is == nil:
		return errors.Join(&fs.PathError{Op: "create", Path: there.Name(), Err: fs.ErrExist}, there.Close())
	case err != nil && !(errors.Is(is, fs.ErrNotExist) && errors.Is(err, errors.ErrUnsupported)):
		return err
	case !errors.Is(is, fs.ErrNotExist):
		return is
	}
	again := f.upload(name, false)
	if err != nil && again == nil {
		b.withoutConditions(f.ctx, err)
	}
	return again
}

// withoutConditions ends conditional writes in this process, after a write succeeded
// without the condition.
func (s *Store) withoutConditions(ctx context.Context, why error) {
	s.unconditional.Store(true)
	store.Warn(ctx, "conditions "+s.url, fmt.Sprintf("%s: the store refuses conditional writes (If-None-Match), which go on without the condition: two different jobs that begin there in the same moment are not told from each other (%v)", s.url, why))
}

// upload uploads the content.
func (f *file) upload(name string, fresh bool) error {
	b := f.to
	w := b.watch(f.ctx)
	defer w.stop()
	return b.fail(name, w.because(twice(func() error {
		return b.bucket.Write(w.ctx, b.prefix+name, &passing{bytes.NewReader(f.Bytes()), w.alive}, fresh)
	})))
}

// passing calls alive for every read. It has no WriteTo, which would pass all bytes at once.
type passing struct {
	io.ReadSeeker
	alive func()
}

// Read implements io.Reader.
func (p *passing) Read(b []byte) (int, error) {
	p.alive()
	return p.ReadSeeker.Read(b)
}

// Move implements store.Store: the object is copied by the store, then deleted.
func (s *Store) Move(ctx context.Context, from, to string) error {
	err := s.short(ctx, from, func(ctx context.Context) error { return s.bucket.Copy(ctx, s.prefix+from, s.prefix+to) })
	if err != nil {
		return err
	}
	return s.Remove(ctx, from)
}

// Remove implements store.Store.
func (s *Store) Remove(ctx context.Context, name string) error {
	err := s.short(ctx, name, func(ctx context.Context) error { return s.bucket.Delete(ctx, s.prefix+name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Sync implements store.Store: writes that a store has confirmed are durable.
func (s *Store) Sync(context.Context, string) error { return nil }
