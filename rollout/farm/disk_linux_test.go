//go:build !race

// Without the race detector: when JetStream starts again, NATS replaces its queue of requests without
// a lock, while a connection may still read the old one.

package farm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/farmtest"
)

// TestFullDisk: while the disk of the server's own store is full, the status and the log say so in
// one line; once there is room, everything continues automatically.
func TestFullDisk(t *testing.T) {
	dir, here := farmtest.SmallDisk(t, "32m")
	if !here {
		return
	}
	f := newFarmIn(t, dir)
	for _, name := range []string{"w0", "w1", "w2"} {
		f.work(name, opener(f.store))
	}
	rounds := 1
	if long() {
		rounds = 4
	}
	for round := range rounds {
		s := spec(40+round, 400, 5*time.Millisecond)
		f.submit(s)
		f.until("some are made", func() bool { return f.run(s.ID()).Made > 50 })
		filler := farmtest.Fill(t, dir)
		f.until("the status says that the disk is full", func() bool {
			return strings.Contains(f.status().Trouble, "no space left on device; make room there")
		})
		made := f.run(s.ID()).Made
		full := time.Now()
		f.until("the disk was full for longer than a lease lasts", func() bool {
			asked := time.Now()
			require.NotEmpty(t, f.status().Trouble, "the disk is full and the status does not say so")
			require.Less(t, time.Since(asked), 20*time.Second, "an answer must not wait for the disk")
			return time.Since(full) > 3*time.Second
		})
		n := f.run(s.ID()).Made
		assert.LessOrEqualf(t, n, made+8, "%d shards were committed on a full disk", n-made)
		_, err := f.client.Submit(f.ctx, spec(50, 5, 0))
		assert.ErrorContains(t, err, "no space left on device", "a run was submitted to a full disk")
		require.NoError(t, os.Remove(filler))
		f.until("it coordinates again", func() bool { return f.logs.count("msg=coordinating") == round+2 })
		f.until("it goes on", func() bool { st, err := f.client.Status(f.ctx); return err == nil && st.Trouble == "" })
		f.done(s)
		if !f.failure("no space left on device; make room there") {
			t.Errorf("it is not among the failures: %v", f.status().Failures)
		}
		n = f.logs.count(`level=ERROR msg="the server's store in`)
		assert.Equalf(t, round+1, n, "the log says %d times that the disk is full, want %d", n, round+1)
		if n := len(f.status().Failures); n != 1 {
			t.Errorf("%d failures, want one: %v", n, f.status().Failures)
		}
	}
	if long() {
		requireFullDiskReported(t, f, dir)
	}
}

// requireFullDiskReported fails unless a coordinator that starts on a full disk reports that to all clients,
// and coordinates once there is room.
func requireFullDiskReported(t *testing.T, f *farm, dir string) {
	t.Helper()
	f.first()
	f.until("nobody coordinates", func() bool {
		_, err := f.client.Status(f.ctx)
		return err != nil && strings.Contains(err.Error(), "no coordinator answers")
	})
	filler := farmtest.Fill(t, dir)
	js, err := jetstream.New(f.client.c.nc)
	require.NoError(t, err)
	for f.server.trouble() == "" { // the stream of the lease still has some room
		_, err = js.PublishAsync("$KV.moonfarm-lease.x", make([]byte, 8<<10))
		require.NoError(t, err)
	}
	o := quick(f.store)
	o.Log, o.Server = f.log, f.server
	f.coordinate(f.ctx, o)
	f.until("the answer is that the disk is full", func() bool {
		_, err := f.client.Status(f.ctx)
		return err != nil && strings.Contains(err.Error(), "no space left on device; make room there")
	})
	if other, err := Serve(ServerOptions{Dir: filepath.Join(dir, "another")}); err == nil {
		other.Close() // a new store may need no room
	} else if !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("a new store on a full disk: %v", err)
	}
	require.NoError(t, os.Remove(filler))
	f.until("it coordinates", func() bool { _, err := f.client.Status(f.ctx); return err == nil })
	s := spec(49, 20, 0)
	f.submit(s)
	f.done(s)
}
