// Package bucket keeps the files of a dataset in a bucket: S3 and what is like it,
// or memory, for tests. A program built with the tag cloud has Google's and
// Microsoft's stores, too.
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
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"

	"moonfarm/datasets/internal/store"
)

// opener opens the bucket of an URL.
type opener func(ctx context.Context, u *url.URL) (*blob.Bucket, error)

// openers open the buckets of each scheme that every build has.
var openers = map[string]opener{
	memblob.Scheme: (&memory{buckets: map[string]*blob.Bucket{}}).open,
	s3blob.Scheme:  openS3,
}

// memory has buckets in the memory of the process, by their names.
type memory struct {
	mu      sync.Mutex
	buckets map[string]*blob.Bucket
}

func (m *memory) open(_ context.Context, u *url.URL) (*blob.Bucket, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.buckets[u.Host]
	if b == nil {
		b = memblob.OpenBucket(nil)
		m.buckets[u.Host] = b
	}
	return b, nil
}

// patience is how long a store may let nothing pass.
const patience = 30 * time.Second

// Bucket is the store.Store in a bucket, below a prefix.
type Bucket struct {
	client
	url      string // scheme, bucket and prefix, for messages
	prefix   string // "" or with a slash at the end
	patience time.Duration
}

// Open opens the bucket and prefix of an URL such as s3://bucket/data/td. Its
// query is for the driver (https://gocloud.dev/howto/blob), but for timeout, a
// duration: how long the store may let nothing pass before that is an error. Nothing
// is asked of the store yet.
func Open(ctx context.Context, u *url.URL) (*Bucket, error) {
	open := openers[u.Scheme]
	if open == nil {
		open = cloud[u.Scheme]
	}
	if open == nil {
		return nil, unknown(u)
	}
	b := &Bucket{url: u.Scheme + "://" + u.Host, patience: patience}
	if path := strings.Trim(u.Path, "/"); path != "" {
		b.prefix = path + "/"
		b.url += "/" + path
	}
	if u.Host == "" {
		return nil, fmt.Errorf("%s: the name of a bucket is missing: expected %s://BUCKET/PREFIX", u, u.Scheme)
	}
	plain, query := *u, u.Query()
	if text := query.Get("timeout"); text != "" {
		var err error
		if b.patience, err = time.ParseDuration(text); err != nil || b.patience <= 0 {
			return nil, fmt.Errorf("%s: timeout %q, expected a duration such as 30s", b.url, text)
		}
		query.Del("timeout")
	}
	plain.Path, plain.RawQuery = "", query.Encode()
	blobs, err := open(ctx, &plain)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.url, err)
	}
	b.blobs.Store(blobs)
	b.simpler = simpler(open, &plain)
	return b, nil
}

// unknown tells which schemes there are.
func unknown(u *url.URL) error {
	has := slices.Sorted(maps.Keys(openers))
	has = append(slices.Sorted(maps.Keys(cloud)), has...)
	more := ""
	if len(cloud) == 0 {
		more = "; gs and azblob are in a build with -tags cloud"
	}
	return fmt.Errorf("%s: no store of the scheme %q: this build has file, %s%s", u, u.Scheme, strings.Join(has, ", "), more)
}

// String is the place of the bucket, for messages.
func (b *Bucket) String() string { return b.url }

// fail names the object in an error.
func (b *Bucket) fail(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case gcerrors.Code(err) == gcerrors.NotFound:
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

func (b *Bucket) watch(ctx context.Context) *watch {
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
func (b *Bucket) short(ctx context.Context, name string, do func(ctx context.Context) error) error {
	w := b.watch(ctx)
	defer w.stop()
	return b.fail(name, w.because(twice(func() error { return do(w.ctx) })))
}

// twice does something again that was denied. A store denies what was signed many
// minutes ago or in the future. The clock of this machine may be that far off: the
// driver then learns the store's time from the answer, and signs with that.
func twice(do func() error) error {
	err := do()
	if gcerrors.Code(err) == gcerrors.PermissionDenied {
		err = do()
	}
	return err
}

// Each implements store.Store.
func (b *Bucket) Each(ctx context.Context, dir string, do func(name string) error) error {
	prefix := b.prefix
	if dir != "" {
		prefix += dir + "/"
	}
	const page = 1000
	token := blob.FirstPageToken
	for token != nil {
		var list []*blob.ListObject
		err := b.short(ctx, dir, func(ctx context.Context) (err error) {
			list, token, err = b.blobs.Load().ListPage(ctx, token, page, &blob.ListOptions{Prefix: prefix, Delimiter: "/"})
			return err
		})
		if err != nil {
			return err
		}
		for _, o := range list {
			if name := strings.TrimSuffix(strings.TrimPrefix(o.Key, prefix), "/"); name != "" {
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
func (b *Bucket) Create(ctx context.Context, _ string) (store.File, error) {
	return &file{Sum: store.NewSum(), bucket: b, ctx: ctx}, nil
}

// file is a file that is being written.
type file struct {
	store.Sum
	bucket  *Bucket
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
	b := f.bucket
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
	case err != nil && !(errors.Is(is, fs.ErrNotExist) && refuses(err)):
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

// upload uploads the content, without checksums if the store refuses them.
func (f *file) upload(name string, fresh bool) error {
	b := f.bucket
	err := f.put(b.blobs.Load(), name, fresh)
	if err == nil || !refuses(err) && !badSignature(err) {
		return err
	}
	blobs, failed := b.withoutChecksums(f.ctx)
	if blobs == nil || failed != nil {
		return err
	}
	again := f.put(blobs, name, fresh)
	if again != nil && (refuses(again) || badSignature(again)) { // for another reason
		return err
	}
	b.goOnWithoutChecksums(f.ctx, blobs, err)
	return again
}

// put uploads the content.
func (f *file) put(blobs *blob.Bucket, name string, fresh bool) error {
	b := f.bucket
	w := b.watch(f.ctx)
	defer w.stop()
	return b.fail(name, w.because(twice(func() error {
		from := &passing{Reader: bytes.NewReader(f.content.Bytes()), alive: w.alive}
		return blobs.Upload(w.ctx, b.prefix+name, from, &blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: fresh})
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
func (b *Bucket) Move(ctx context.Context, from, to string) error {
	err := b.short(ctx, from, func(ctx context.Context) error { return b.blobs.Load().Copy(ctx, b.prefix+to, b.prefix+from, nil) })
	if err != nil {
		return err
	}
	return b.Remove(ctx, from)
}

// Remove implements store.Store.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	err := b.short(ctx, name, func(ctx context.Context) error { return b.blobs.Load().Delete(ctx, b.prefix+name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Sync implements store.Store: what a store has confirmed is durable.
func (b *Bucket) Sync(context.Context, string) error { return nil }
