package farm

import (
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// TestVanishedStreams: a stream deleted by a client with all rights is recreated, the failures name
// it, and the run ends normally.
func TestVanishedStreams(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) {
		o.Audit, o.Trusted, o.look = 0, []string{"w0", "w1"}, 50*time.Millisecond
	})
	s := spec(62, 200, time.Millisecond)
	f.submit(s)
	last := make(chan struct{}) // closed when the last shard may be made
	release := sync.OnceFunc(func() { close(last) })
	defer release()
	hold := func(k *fake) {
		k.fail = func(shard int) error {
			if shard == 199 {
				<-last
			}
			return nil
		}
	}
	f.work("w0", opener(f.store, hold))
	f.work("w1", opener(f.store, hold))
	js, err := jetstream.New(f.connect(ConnectOptions{Server: f.server, Name: "vandal"}).nc)
	require.NoError(t, err)
	for i, name := range allStreams {
		state := State("")
		f.until("some are made", func() bool {
			st := f.try()
			if st == nil || len(st.Runs) != 1 || st.Runs[0].Made <= 10 {
				return false
			}
			state = st.Runs[0].State
			return true
		})
		require.Equalf(t, Running, state, "the run is %s before %s is deleted", state, name)
		require.NoError(t, js.DeleteStream(f.ctx, name), name)
		f.until(name+" is there again", func() bool { _, err := js.Stream(f.ctx, name); return err == nil })
		f.until("a coordinator begins again", func() bool { return f.logs.count("msg=coordinating") >= i+2 })
		f.until("the log names the stream", func() bool {
			return f.logs.count("the stream "+name+" was missing and is recreated") > 0 || f.logs.count("streams="+name) > 0 || name == leaseStream
		})
	}
	release()
	f.until("the run is done", func() bool { st := f.try(); return st != nil && len(st.Runs) == 1 && st.Runs[0].State == Done })
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	requireWhole(t, f.store.finished[len(f.store.finished)-1], 62, 200)
}

// try returns the status, or nil if no coordinator answers now.
func (f *farm) try() *Status {
	s, err := f.client.Status(f.ctx)
	if err != nil {
		return nil
	}
	return s
}
