package datasets

import (
	"context"
	"io"

	"moonfarm/datasets/internal/store"
)

// hooked is a store that asks before every operation, and may be refused: with it, tests stop a run at
// every step, or see what it does. The operations are open, each, read, create, move, remove and sync, and
// of a file that is written write, close, keep and drop.
type hooked struct {
	store.Store
	may func(ctx context.Context, op, name string) error
}

// hook returns the options of a run whose store is hooked.
func hook(o Options, may func(ctx context.Context, op, name string) error) Options {
	o.Wrap = func(s store.Store) store.Store { return hooked{s, may} }
	return o
}

func (h hooked) Open(ctx context.Context, name string) (store.Reader, error) {
	if err := h.may(ctx, "open", name); err != nil {
		return nil, err
	}
	r, err := h.Store.Open(ctx, name)
	return hookedReader{r, h, name}, err
}

func (h hooked) Each(ctx context.Context, dir string, do func(name string) error) error {
	if err := h.may(ctx, "each", dir); err != nil {
		return err
	}
	return h.Store.Each(ctx, dir, do)
}

func (h hooked) Create(ctx context.Context, name string) (store.File, error) {
	if err := h.may(ctx, "create", name); err != nil {
		return nil, err
	}
	file, err := h.Store.Create(ctx, name)
	return hookedFile{file, h}, err
}

func (h hooked) Move(ctx context.Context, from, to string) error {
	if err := h.may(ctx, "move", from); err != nil {
		return err
	}
	return h.Store.Move(ctx, from, to)
}

func (h hooked) Remove(ctx context.Context, name string) error {
	if err := h.may(ctx, "remove", name); err != nil {
		return err
	}
	return h.Store.Remove(ctx, name)
}

func (h hooked) Sync(ctx context.Context, dir string) error {
	if err := h.may(ctx, "sync", dir); err != nil {
		return err
	}
	return h.Store.Sync(ctx, dir)
}

type hookedReader struct {
	store.Reader
	h    hooked
	name string
}

func (h hookedReader) ReadAt(b []byte, at int64) (int, error) {
	if err := h.h.may(context.Background(), "read", h.name); err != nil {
		return 0, err
	}
	return h.Reader.ReadAt(b, at)
}

type hookedFile struct {
	store.File
	h hooked
}

func (h hookedFile) may(op, name string) error { return h.h.may(context.Background(), op, name) }

func (h hookedFile) Write(b []byte) (int, error) {
	if err := h.may("write", ""); err != nil {
		return 0, err
	}
	return h.File.Write(b)
}

func (h hookedFile) Close() error {
	if err := h.may("close", ""); err != nil {
		return err
	}
	return h.File.Close()
}

func (h hookedFile) Keep(name string) error {
	if err := h.may("keep", name); err != nil {
		return err
	}
	return h.File.Keep(name)
}

func (h hookedFile) KeepNew(name string) error {
	if err := h.may("keep", name); err != nil {
		return err
	}
	return h.File.KeepNew(name)
}

func (h hookedFile) Drop() {
	if h.may("drop", "") == nil {
		h.File.Drop()
	} else if c, ok := h.File.(io.Closer); ok {
		c.Close() // as at the end of the process
	}
}
