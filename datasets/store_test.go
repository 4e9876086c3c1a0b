package datasets

import (
	"context"
	"io"

	"moonfarm/datasets/internal/store"
)

// faulty is a store that asks before every change and may be refused: with it, tests
// stop a run at every step.
type faulty struct {
	store.Store
	may func(op, name string) error
}

func (f faulty) Create(ctx context.Context, name string) (store.File, error) {
	if err := f.may("create", name); err != nil {
		return nil, err
	}
	file, err := f.Store.Create(ctx, name)
	return faultyFile{file, f.may}, err
}

func (f faulty) Move(ctx context.Context, from, to string) error {
	if err := f.may("move", from); err != nil {
		return err
	}
	return f.Store.Move(ctx, from, to)
}

func (f faulty) Remove(ctx context.Context, name string) error {
	if err := f.may("remove", name); err != nil {
		return err
	}
	return f.Store.Remove(ctx, name)
}

func (f faulty) Sync(ctx context.Context, dir string) error {
	if err := f.may("sync", dir); err != nil {
		return err
	}
	return f.Store.Sync(ctx, dir)
}

type faultyFile struct {
	store.File
	may func(op, name string) error
}

func (f faultyFile) Write(b []byte) (int, error) {
	if err := f.may("write", ""); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f faultyFile) Close() error {
	if err := f.may("close", ""); err != nil {
		return err
	}
	return f.File.Close()
}

func (f faultyFile) Keep(name string) error {
	if err := f.may("keep", name); err != nil {
		return err
	}
	return f.File.Keep(name)
}

func (f faultyFile) Drop() {
	if f.may("drop", "") == nil {
		f.File.Drop()
	} else if c, ok := f.File.(io.Closer); ok {
		c.Close() // as at the end of the process
	}
}
