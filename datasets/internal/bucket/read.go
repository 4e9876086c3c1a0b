package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"time"

	"moonfarm/datasets/internal/store"
)

const (
	smallBytes = 1 << 20   // an object up to this size is read at once
	tailBytes  = 64 << 10  // held of the end of a larger object, where the footer is
	skipBytes  = 256 << 10 // up to this gap, bytes are read and dropped instead of a new request
	attempts   = 4         // to read from where a stream broke off
)

// reader reads an object: as a stream for reads that go forward, and its end
// separately.
type reader struct {
	of   *Store
	ctx  context.Context
	name string
	size int64
	tail []byte // the last bytes; nil: not yet read

	stream io.ReadCloser // nil: none
	at     int64         // of the stream
	watch  *watch        // of the stream
}

// Open implements store.Store.
func (s *Store) Open(ctx context.Context, name string) (store.Reader, error) {
	r := &reader{of: s, ctx: ctx, name: name}
	return r, s.short(ctx, name, func(ctx context.Context) (err error) {
		r.size, err = s.bucket.Size(ctx, s.prefix+name)
		return err
	})
}

// Size implements store.Reader.
func (r *reader) Size() int64 { return r.size }

// Name implements store.Reader.
func (r *reader) Name() string { return r.of.url + "/" + r.name }

// Close implements store.Reader.
func (r *reader) Close() error {
	if r.stream != nil {
		r.stream.Close() // an error of bytes that nobody reads
		r.watch.stop()
		r.stream = nil
	}
	return nil
}

// ReadAt implements io.ReaderAt.
func (r *reader) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at >= r.size {
		return 0, io.EOF
	}
	short := error(nil)
	if left := r.size - at; int64(len(p)) > left {
		p, short = p[:left], io.EOF
	}
	from := r.size - tailBytes
	if r.size <= smallBytes {
		from = 0
	}
	if r.tail == nil && at >= from && (r.stream == nil || at != r.at) {
		tail := make([]byte, r.size-from)
		if err := r.fill(tail, from); err != nil {
			return 0, err
		}
		r.Close() // the stream of the tail is at its end
		r.tail = tail
	}
	if r.tail != nil && at >= from {
		return copy(p, r.tail[at-from:]), short
	}
	if err := r.fill(p, at); err != nil {
		return 0, err
	}
	return len(p), short
}

// fill reads from the stream. If it breaks off, another continues.
func (r *reader) fill(p []byte, at int64) error {
	for try := 1; ; {
		n, err := r.forward(p, at)
		p, at = p[n:], at+int64(n)
		if len(p) == 0 {
			return nil
		}
		r.Close()
		if n > 0 {
			try = 1
		}
		if try == attempts || r.ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) || errors.As(err, new(silence)) {
			return err
		}
		pause := int64(50*time.Millisecond) << try
		select {
		case <-time.After(time.Duration(pause/2 + rand.Int64N(pause))):
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
		try++
	}
}

// forward reads from the stream, or opens one, and returns how much it read.
func (r *reader) forward(p []byte, at int64) (n int, err error) {
	b := r.of
	if r.stream != nil && (at < r.at || at > r.at+skipBytes) {
		r.Close()
	}
	if r.stream == nil {
		r.watch = b.watch(r.ctx)
		err := twice(func() (err error) {
			r.stream, err = b.bucket.Read(r.watch.ctx, b.prefix+r.name, at)
			return err
		})
		if err != nil {
			err = b.fail(r.name, r.watch.because(err))
			r.watch.stop()
			return 0, err
		}
		r.at = at
	}
	r.watch.alive()
	defer r.watch.rest()
	if at > r.at {
		skipped, err := io.CopyN(io.Discard, r.stream, at-r.at)
		if r.at += skipped; err != nil {
			return 0, b.fail(r.name, r.watch.because(err))
		}
	}
	for n < len(p) && err == nil {
		var k int
		k, err = r.stream.Read(p[n:])
		n += k
		r.watch.alive()
	}
	r.at += int64(n)
	if err == io.EOF && n < len(p) {
		err = fmt.Errorf("it ended after %d of %d bytes: %w", r.at, r.size, io.ErrUnexpectedEOF)
	}
	return n, b.fail(r.name, r.watch.because(err))
}
