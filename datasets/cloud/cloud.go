//go:build cloud

package cloud

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"

	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcerrors"

	"moonfarm/datasets"
)

// tagged returns the stores that only builds with the tag cloud have.
func tagged() datasets.Stores {
	return datasets.Stores{azureblob.Scheme: open, gcsblob.Scheme: open}
}

func open(ctx context.Context, u *url.URL) (datasets.Bucket, error) {
	plain := *u
	plain.Path = ""
	b, err := blob.OpenBucket(ctx, plain.String())
	if err != nil {
		return nil, err
	}
	return objects{b}, nil
}

// objects implements datasets.Bucket.
type objects struct{ blobs *blob.Bucket }

// Size implements datasets.Bucket, as do the other methods.
func (b objects) Size(ctx context.Context, key string) (int64, error) {
	a, err := b.blobs.Attributes(ctx, key)
	if err != nil {
		return 0, explained(err)
	}
	return a.Size, nil
}

func (b objects) Read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	r, err := b.blobs.NewRangeReader(ctx, key, from, -1, nil)
	if err != nil {
		return nil, explained(err)
	}
	return r, nil
}

func (b objects) List(ctx context.Context, prefix, token string) (keys []string, next string, err error) {
	page := blob.FirstPageToken
	if token != "" {
		page = []byte(token)
	}
	const size = 1000
	list, more, err := b.blobs.ListPage(ctx, page, size, &blob.ListOptions{Prefix: prefix, Delimiter: "/"})
	for _, o := range list {
		keys = append(keys, o.Key)
	}
	return keys, string(more), explained(err)
}

func (b objects) Write(ctx context.Context, key string, content io.ReadSeeker, fresh bool) error {
	return explained(b.blobs.Upload(ctx, key, content, &blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: fresh}))
}

func (b objects) Copy(ctx context.Context, from, to string) error {
	return explained(b.blobs.Copy(ctx, to, from, nil))
}

func (b objects) Delete(ctx context.Context, key string) error {
	return explained(b.blobs.Delete(ctx, key))
}

// fault is an error of the client together with its meaning for package datasets.
type fault struct {
	error
	meaning error
}

// Unwrap returns both errors.
func (f fault) Unwrap() []error { return []error{f.error, f.meaning} }

// explained adds the meaning of an error of the client, if it has one.
func explained(err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return fault{err, fs.ErrNotExist}
	case gcerrors.PermissionDenied:
		return fault{err, fs.ErrPermission}
	case gcerrors.Unimplemented, gcerrors.InvalidArgument:
		return fault{err, errors.ErrUnsupported}
	}
	return err
}
