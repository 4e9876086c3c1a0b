package bucket

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"gocloud.dev/blob"

	"moonfarm/datasets/internal/store"
)

// client reaches the bucket, and keeps in mind what its store refuses. Stores that are
// like S3 know neither all of its checksums nor all of its conditional writes. Each is
// tried, and not tried again in this process after a write went through without it.
type client struct {
	blobs         atomic.Pointer[blob.Bucket]
	unconditional atomic.Bool // no conditional writes

	simpler func(context.Context) (*blob.Bucket, error) // opens it without checksums in uploads; nil: it has none
	mu      sync.Mutex
	without *blob.Bucket // what simpler opened
}

// withoutChecksums is the bucket without checksums in uploads, nil if those were tried
// without already.
func (c *client) withoutChecksums(ctx context.Context) (*blob.Bucket, error) {
	if c.simpler == nil {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.without == nil {
		var err error
		if c.without, err = c.simpler(ctx); err != nil {
			return nil, err
		}
	}
	if c.without == c.blobs.Load() {
		return nil, nil
	}
	return c.without, nil
}

// goOnWithoutChecksums uses the bucket without checksums from now on.
func (b *Bucket) goOnWithoutChecksums(ctx context.Context, blobs *blob.Bucket, why error) {
	if b.blobs.Swap(blobs) == blobs {
		return
	}
	store.Warn(ctx, "checksums "+b.url, fmt.Sprintf("%s: the store refuses the checksums of S3 in uploads, which go on without them; the dataset has sums of its own, which verify compares (%v)", b.url, why))
}

// withoutConditions makes no conditional writes from now on.
func (b *Bucket) withoutConditions(ctx context.Context, why error) {
	b.unconditional.Store(true)
	store.Warn(ctx, "conditions "+b.url, fmt.Sprintf("%s: the store refuses conditional writes (If-None-Match), which go on without the condition: two different jobs that begin there in the same moment are not told from each other (%v)", b.url, why))
}
