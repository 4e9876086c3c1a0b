package farm

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/farmtest"
)

// TestStandby: a second coordinator takes over when the first stops during a run.
func TestStandby(t *testing.T) {
	f := newFarm(t)
	o := quick(f.store)
	o.Log = f.log
	s := spec(12, 300, 5*time.Millisecond)
	f.submit(s)
	f.work("w0", opener(f.store))
	f.work("w1", opener(f.store))
	f.coordinate(f.ctx, o)
	f.until("some are made", func() bool { return f.run(s.ID()).Made > 30 })
	f.first()
	f.until("the other coordinates", func() bool { return f.logs.count("msg=coordinating") == 2 })
	f.until("it answers", func() bool { _, err := f.client.Status(f.ctx); return err == nil })
	f.done(s)
}

// TestRestart: the server and the coordinator stop and start again on the same store; for the
// workers this is only a pause.
func TestRestart(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, dir, address := newMapStore(), t.TempDir(), freePort(t)
	o := quick(store)
	l := &logs{}
	o.Log = newLog(l)
	serve := func() (end func()) {
		server, err := Serve(ServerOptions{Dir: dir, Listen: address})
		require.NoError(t, err)
		c, err := Connect(ctx, ConnectOptions{Server: server, Name: "coordinator"})
		require.NoError(t, err)
		leading, done := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() { defer close(ended); _ = Coordinate(leading, c, o) }()
		return func() { done(); <-ended; c.Close(); server.Close() }
	}
	end := serve()
	key := filepath.Join(dir, KeyFile)
	c, err := Connect(ctx, ConnectOptions{URL: "nats://" + address, Name: "people", Credentials: key})
	require.NoError(t, err)
	defer c.Close()
	client := NewClient(c)
	s := spec(13, 300, 5*time.Millisecond)
	farmtest.Until(t, "it is submitted", func() bool { _, err := client.Submit(ctx, s); return err == nil })
	for i := range 2 {
		w, err := Connect(ctx, ConnectOptions{URL: "nats://" + address, Name: fmt.Sprintf("w%d", i), Credentials: key, Role: RoleWorker})
		require.NoError(t, err)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = Work(ctx, w, WorkerOptions{Version: testVersion, Slots: 2, Open: opener(store)})
		}()
		defer func() { stop(); <-ended; w.Close() }()
	}
	made := func() int {
		st, err := client.Status(ctx)
		if err != nil || len(st.Runs) == 0 {
			return 0
		}
		return st.Runs[0].Made
	}
	for _, n := range []int{50, 150} {
		farmtest.Until(t, "some are made", func() bool { return made() >= n })
		end()
		end = serve()
	}
	defer func() { end() }()
	farmtest.Until(t, "all are made", func() bool { return made() == 300 })
	farmtest.Until(t, "the run is done", func() bool {
		st, err := client.Status(ctx)
		return err == nil && st.Runs[0].State == Done
	})
	store.mu.Lock()
	defer store.mu.Unlock()
	requireWhole(t, store.finished[0], 13, 300)
}

// TestNoClocks: no request contains a time, so a worker's clock has no influence.
func TestNoClocks(t *testing.T) {
	var look func(r reflect.Type)
	look = func(r reflect.Type) {
		switch {
		case r == reflect.TypeFor[time.Time]():
			t.Error("a request contains a time")
		case r.Kind() == reflect.Struct:
			for i := range r.NumField() {
				look(r.Field(i).Type)
			}
		case r.Kind() == reflect.Pointer || r.Kind() == reflect.Slice:
			look(r.Elem())
		}
	}
	look(reflect.TypeFor[request]())
}
