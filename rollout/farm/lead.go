package farm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// takeLease waits until this coordinator has the lease, and returns its revision.
func takeLease(ctx context.Context, st *store, name string, ttl time.Duration) (uint64, error) {
	host, _ := os.Hostname()
	for {
		ask, cancel := context.WithTimeout(ctx, ttl)
		revision, ok, err := write(ask, st.lease, leaseKey, fmt.Sprintf("%s on %s", name, host), 0)
		cancel()
		if ok || err != nil {
			return revision, err
		}
		pause := backoff{ttl / 5, ttl / 5}
		if !pause.pause(ctx) {
			return 0, ctx.Err()
		}
	}
}

// keepLease renews the lease. It returns when ctx is done, and gives the lease
// back, or when it could not renew the lease in time. While nothing can be written to the
// only server, no other coordinator can take the lease.
func keepLease(ctx context.Context, st *store, name string, revision uint64, o *CoordinatorOptions) error {
	ttl := o.lease
	for kept := time.Now(); ; {
		select {
		case <-time.After(ttl / 5):
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), ttl)
			defer cancel()
			_ = st.lease.Delete(end, leaseKey, jetstream.LastRevision(revision)) // else it lapses
			return nil
		}
		ask, cancel := context.WithTimeout(ctx, ttl/3)
		next, ok, err := write(ask, st.lease, leaseKey, name, revision)
		cancel()
		if ok {
			revision, kept = next, time.Now()
		} else if err != nil && o.Server.alone() && o.Server.trouble() != "" {
			kept = time.Now()
		} else if (err == nil || time.Since(kept) > ttl*3/5) && ctx.Err() == nil {
			return fmt.Errorf("the lease is lost: %w", errors.Join(err, errors.New("another coordinator may have it")))
		}
	}
}
