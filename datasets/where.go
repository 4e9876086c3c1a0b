package datasets

import (
	"context"
	"fmt"
	"net/url"
	"regexp"

	"moonfarm/datasets/internal/bucket"
	"moonfarm/datasets/internal/disk"
	"moonfarm/datasets/internal/store"
)

// scheme matches the beginning of an URL.
var scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// storeOf returns the store of the files of a dataset at a place: the path of a
// folder, or an URL. Nothing is asked of the store yet.
func storeOf(ctx context.Context, place string) (store.Store, error) {
	if !scheme.MatchString(place) {
		return disk.Folder(place), nil
	}
	u, err := url.Parse(place)
	if err != nil {
		return nil, fmt.Errorf("%s: not an URL: %w", place, err)
	}
	if u.Scheme != "file" {
		return bucket.Open(ctx, u)
	}
	if u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return nil, fmt.Errorf("%s: expected the path of a folder on this machine, as in file:///data/td", place)
	}
	return disk.Folder(u.Path), nil
}

// lock keeps other runs out of the folder at a place until it is released or the
// process ends; runs that share it do not keep each other out. It makes the folder.
// In a bucket nothing is locked.
func lock(place string, share bool) (release func(), err error) {
	files, err := storeOf(context.Background(), place)
	if f, ok := files.(disk.Folder); ok {
		return f.Lock(share)
	}
	return func() {}, err
}
