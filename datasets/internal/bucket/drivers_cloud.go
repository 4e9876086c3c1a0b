//go:build cloud

package bucket

import (
	"context"
	"net/url"

	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
	"gocloud.dev/blob/gcsblob"
)

// cloud are the openers of a build with the tag cloud. They take the credentials
// that the environment has.
var cloud = map[string]opener{azureblob.Scheme: usual, gcsblob.Scheme: usual}

func usual(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	return blob.OpenBucket(ctx, u.String())
}
