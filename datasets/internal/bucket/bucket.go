// Package bucket keeps the files of a dataset in a bucket: a store of objects, such as
// S3, that somebody hands to it.
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

// Bucket is what datasets ask of a store of objects. Keys have slashes and no slash in
// front. Errors say what happened by errors.Is: fs.ErrNotExist if there is no such
// object, fs.ErrPermission if the store denies the request, and errors.ErrUnsupported if
// the store refuses the form of the request. A Bucket may be used by several goroutines
// at once.
type Bucket interface {
	// Size returns the size of an object in bytes.
	Size(ctx context.Context, key string) (int64, error)
	// Read reads an object from a byte to its end, as a stream.
	Read(ctx context.Context, key string, from int64) (io.ReadCloser, error)
	// List returns a page of the keys that begin with prefix; a key that has a slash
	// behind the prefix is cut behind that slash and is told once. token is "" for the
	// first page, then what was returned as next, which is "" with the last page.
	List(ctx context.Context, prefix, token string) (keys []string, next string, err error)
	// Write writes an object as a whole: a reader finds all of it or what was there
	// before. If fresh it fails where there is an object of that key, and with
	// errors.ErrUnsupported if the store has no such condition.
	Write(ctx context.Context, key string, content io.ReadSeeker, fresh bool) error
	// Copy copies an object within the store.
	Copy(ctx context.Context, from, to string) error
	// Delete deletes an object. It need not fail if there is none.
	Delete(ctx context.Context, key string) error
}

// Opener opens the bucket of an URL, whose path is a prefix of the keys that will be
// asked for. Nothing need be asked of the store yet.
type Opener func(ctx context.Context, u *url.URL) (Bucket, error)

// Stores are the openers by the schemes of their URLs.
type Stores map[string]Opener

// SchemeError says that no store is known for an URL.
type SchemeError struct {
	URL    string // without its query
	Scheme string
	Has    []string // the schemes that are known, in order
}

// Error names the URL and what there is instead.
func (e *SchemeError) Error() string {
	return fmt.Sprintf("%s: no store of the scheme %q: this program has %s", e.URL, e.Scheme, strings.Join(e.Has, ", "))
}

// patience is how long a store may let nothing pass.
const patience = 30 * time.Second

// Store is the store.Store in a bucket, below a prefix.
type Store struct {
	bucket   Bucket
	url      string // scheme, bucket and prefix, for messages
	prefix   string // "" or with a slash at the end
	patience time.Duration

	unconditional atomic.Bool // the store refuses conditional writes
}

// Open opens the bucket and prefix of an URL such as s3://bucket/data/td. Its
// query is for the opener, but for timeout, a duration: how long the store may let
// nothing pass before that is an error. Nothing is asked of the store yet.
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

// String is the place of the bucket, for messages.
func (b *Store) String() string { return b.url }

// fail names the object in an error.
func (b *Store) fail(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &fs.PathError{Op: "open", Path: b.url + "/" + name, Err: fs.ErrNotExist}
	}
	return fmt.Errorf("%s/%s: %w", b.url, name, err)
}

// watch is a context that is done when the store lets nothing pass for too long.
type watch struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	patience time.Duration
}

func (b *Store) watch(ctx context.Context) *watch {
	ctx, cancel := context.WithCancelCause(ctx)
	return &watch{ctx, cancel, time.AfterFunc(b.patience, func() { cancel(silence(b.patience)) }), b.patience}
}

// alive says that something passed, or is asked for from now on.
func (w *watch) alive() { w.timer.Reset(w.patience) }

// rest says that nothing is asked for until the next alive.
func (w *watch) rest() { w.timer.Stop() }

func (w *watch) stop() {
	w.rest()
	w.cancel(nil)
}

// because is the cause for which the context is done, if it is, and else the error.
func (w *watch) because(err error) error {
	if err != nil && w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// silence is the error of a store that let nothing pass for so long.
type silence time.Duration

// Error implements error.
func (s silence) Error() string {
	return fmt.Sprintf("the store let nothing pass for %v", time.Duration(s))
}

// short does something that takes the store no time to speak of.
func (b *Store) short(ctx context.Context, name string, do func(ctx context.Context) error) error {
	w := b.watch(ctx)
	defer w.stop()
	return b.fail(name, w.because(twice(func() error { return do(w.ctx) })))
}

// twice does something again that was denied. A store denies what was signed many
// minutes ago or in the future. The clock of this machine may be that far off: the
// client of the store then learns the store's time from the answer, and signs with that.
func twice(do func() error) error {
	err := do()
	if errors.Is(err, fs.ErrPermission) {
		err = do()
	}
	return err
}

// Each implements store.Store.
func (b *Store) Each(ctx context.Context, dir string, do func(name string) error) error {
	prefix := b.prefix
	if dir != "" {
		prefix += dir + "/"
	}
	for token, more := "", true; more; more = token != "" {
		var keys []string
		err := b.short(ctx, dir, func(ctx context.Context) (err error) {
			keys, token, err = b.bucket.List(ctx, prefix, token)
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

// Create implements store.Store. The content is held in memory, so that the object
// appears as a whole, under a name that may follow from the content.
func (b *Store) Create(ctx context.Context, _ string) (store.File, error) {
	return &file{Sum: store.NewSum(), to: b, ctx: ctx}, nil
}

// file is a file that is being written.
type file struct {
	store.Sum
	to      *Store
	ctx     context.Context
	content bytes.Buffer
}

// Write implements store.File.
func (f *file) Write(p []byte) (int, error) {
	f.content.Write(p)
	return f.Sum.Write(p)
}

// Close implements store.File.
func (f *file) Close() error { return nil }

// Drop implements store.File.
func (f *file) Drop() {}

// Keep implements store.File.
func (f *file) Keep(name string) error { return f.upload(name, false) }

// KeepNew implements store.File. With a store that refuses conditional writes two may
// keep a file at once.
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

// withoutConditions makes no conditional writes from now on: they are not tried again in
// this process after a write went through without.
func (b *Store) withoutConditions(ctx context.Context, why error) {
	b.unconditional.Store(true)
	store.Warn(ctx, "conditions "+b.url, fmt.Sprintf("%s: the store refuses conditional writes (If-None-Match), which go on without the condition: two different jobs that begin there in the same moment are not told from each other (%v)", b.url, why))
}

// upload uploads the content.
func (f *file) upload(name string, fresh bool) error {
	b := f.to
	w := b.watch(f.ctx)
	defer w.stop()
	return b.fail(name, w.because(twice(func() error {
		return b.bucket.Write(w.ctx, b.prefix+name, &passing{bytes.NewReader(f.content.Bytes()), w.alive}, fresh)
	})))
}

// passing says alive for all that is read.
type passing struct {
	*bytes.Reader
	alive func()
}

// Read implements io.Reader.
func (p *passing) Read(b []byte) (int, error) {
	p.alive()
	return p.Reader.Read(b)
}

// WriteTo hides that of the Reader, which would pass all at once.
func (p *passing) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{p}) }

// Move implements store.Store: the object is copied by the store, then deleted.
func (b *Store) Move(ctx context.Context, from, to string) error {
	err := b.short(ctx, from, func(ctx context.Context) error { return b.bucket.Copy(ctx, b.prefix+from, b.prefix+to) })
	if err != nil {
		return err
	}
	return b.Remove(ctx, from)
}

// Remove implements store.Store.
func (b *Store) Remove(ctx context.Context, name string) error {
	err := b.short(ctx, name, func(ctx context.Context) error { return b.bucket.Delete(ctx, b.prefix+name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Sync implements store.Store: what a store has confirmed is durable.
func (b *Store) Sync(context.Context, string) error { return nil }
