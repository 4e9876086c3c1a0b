package datasets

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"moonfarm/datasets/internal/bucket"
	"moonfarm/datasets/internal/disk"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout/filelock"
	"moonfarm/rollout/redact"
)

// Bucket is what datasets ask of a store of objects, such as S3 (package datasets/s3).
type Bucket = bucket.Bucket

// Opener opens the bucket of an URL.
type Opener = bucket.Opener

// Stores are the openers by the schemes of their URLs, such as s3.
type Stores = bucket.Stores

// SchemeError is the error for an URL of whose scheme there is no store.
type SchemeError = bucket.SchemeError

type storesKey struct{}

// WithStores returns a context in which all functions that take the place of a dataset
// also take URLs of these stores, such as s3://bucket/data/td. The query of an URL is for
// the store; timeout=30s in it is how long the store may let nothing pass. This package
// has folders only.
func WithStores(ctx context.Context, stores Stores) context.Context {
	return context.WithValue(ctx, storesKey{}, stores)
}

// WithWarn returns a context for Generate, Write, Merge and the methods of Run, which then
// tell what is not as usual, and no error: a folder that cannot be made durable, or a
// store that refuses checksums or conditional writes. Each is told once.
func WithWarn(ctx context.Context, tell func(text string)) context.Context {
	return store.WithWarn(ctx, tell)
}

// scheme matches the beginning of an URL.
var scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// storeOf returns the store of the files of a dataset at a place: the path of a
// folder, or an URL. Nothing is asked of the store yet.
func storeOf(ctx context.Context, place string) (store.Store, error) {
	if !scheme.MatchString(place) {
		return disk.Folder(place), nil
	}
	if err := redact.Check(place); err != nil {
		return nil, err
	}
	u, err := url.Parse(place)
	if err != nil {
		return nil, redact.Error(fmt.Errorf("%s: not an URL: %w", place, err))
	}
	if u.Scheme != "file" {
		stores, _ := ctx.Value(storesKey{}).(Stores)
		b, err := bucket.Open(ctx, stores, u)
		if unknown := (*SchemeError)(nil); errors.As(err, &unknown) {
			unknown.Has = append([]string{"file"}, unknown.Has...)
		}
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	if u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return nil, fmt.Errorf("%s: expected the path of a folder on this machine, as in file:///data/td", place)
	}
	return disk.Folder(u.Path), nil
}

// lock keeps other runs out of the folder at a place until it is released or the
// process ends; runs that share it do not keep each other out. It makes the folder.
// In a bucket nothing is locked.
func lock(ctx context.Context, place string, share bool, locks *filelock.Locker) (release func(), err error) {
	files, err := storeOf(ctx, place)
	if f, ok := files.(disk.Folder); ok {
		return f.Lock(locks, share)
	}
	return func() {}, err
}
