package farm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/internal/tracker"
)

// TestAnonymous: a client without credentials, or with wrong ones, is refused, also on loopback.
func TestAnonymous(t *testing.T) {
	f := newFarm(t)
	worker := &Key{}
	*worker = bytes.Repeat([]byte{1}, keyBytes)
	other, err := worker.Credentials(RoleOperator, "anna")
	require.NoError(t, err)
	right, err := f.server.gate.key.Credentials(RoleWorker, "w1")
	require.NoError(t, err)
	renamed := bytes.Replace(right, []byte(`"w1"`), []byte(`"w2"`), 1)
	raised := bytes.Replace(right, []byte(`"worker"`), []byte(`"coordinator"`), 1)
	_, err = worker.Credentials(RoleCoordinator, "c")
	assert.Error(t, err, "credentials of a coordinator without the key")
	for what, text := range map[string][]byte{"another server's": other, "a changed name": renamed, "a changed role": raised} {
		t.Run(what, func(t *testing.T) {
			_, err := Connect(f.ctx, ConnectOptions{URL: f.server.URL(), Credentials: file(t, "c.json", text)})
			assert.ErrorContainsf(t, err, "the server does not know ", "%s credentials", what)
		})
	}
	_, err = Connect(f.ctx, ConnectOptions{URL: f.server.URL()})
	assert.ErrorContains(t, err, "a client without credentials", "no credentials")
	pair, err := f.server.gate.key.pair(RoleWorker, "w1")
	require.NoError(t, err)
	public, err := pair.PublicKey()
	require.NoError(t, err)
	for what, opts := range map[string][]nats.Option{
		"the public half of a key": {nats.Name(clientName(RoleWorker, "w1")), nats.Nkey(public, func([]byte) ([]byte, error) { return make([]byte, 64), nil })},
		"nothing":                  nil, "the inner user": {nats.UserInfo(insideUser, "")}, "a user without a password": {nats.UserInfo("people", "")},
		"a token": {nats.Token("x")}, "a role": {nats.Name("moonfarm operator anna")},
	} {
		t.Run(what, func(t *testing.T) {
			if nc, err := nats.Connect(f.server.URL(), opts...); !errors.Is(err, nats.ErrAuthorization) {
				t.Errorf("a client of NATS with %s: %v", what, err)
				if err == nil {
					nc.Close()
				}
			}
		})
	}
}

// TestFlood: a client without access cannot fill the log and the failures.
func TestFlood(t *testing.T) {
	f := newFarm(t)
	for i := range 300 {
		c, err := net.Dial("tcp", strings.TrimPrefix(f.server.URL(), "nats://"))
		require.NoError(t, err)
		c.SetDeadline(time.Now().Add(10 * time.Second))
		say := []string{`CONNECT {"user":"u%d","pass":"x"}`, `CONNECT {"nkey":"U%d","name":"x\"'%[1]d"}`, "GET /%d HTTP/1.1", "PUB %d"}[i%4]
		fmt.Fprintf(c, say+"\r\n", i)
		_, _ = io.Copy(io.Discard, c) // until the server closes it
		c.Close()
	}
	f.until("the failures tell of it", func() bool { return f.failure("authentication error") })
	if n := len(f.status().Failures); n > 8 {
		t.Errorf("%d failures, want one of each kind: %v", n, f.status().Failures)
	}
	n := f.logs.count("level=ERROR")
	assert.LessOrEqualf(t, n, 8*10, "%d lines in the log", n)
}

// TestImpostor: an account without the key that listens at the server's port cannot make a worker
// open a run.
func TestImpostor(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, AlwaysEnableNonce: true})
	require.NoError(t, err)
	s.Start()
	defer s.Shutdown()
	require.True(t, s.ReadyForConnections(time.Minute), "the server does not listen")
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	defer nc.Close()
	evil, said := spec(80, 1, 0), make(chan string, 1)
	_, err = nc.Subscribe(workerSubject+">", func(m *nats.Msg) {
		a, q := &answer{Beat: 1000}, new(request)
		switch _ = json.Unmarshal(m.Data, q); strings.Split(m.Subject, ".")[3] {
		case "claim":
			a.Claim = &tracker.Claim{Run: evil.ID()}
		case "spec":
			a.Spec, a.Proof = evil, Key(bytes.Repeat([]byte{2}, keyBytes)).proof("w1", evil.ID())
		case "back":
			select {
			case said <- q.Error:
			default:
			}
		}
		data, _ := json.Marshal(a)
		_ = m.Respond(data)
	})
	require.NoError(t, err)
	text, err := Key(bytes.Repeat([]byte{1}, keyBytes)).Credentials(RoleWorker, "w1")
	require.NoError(t, err)
	c, err := Connect(t.Context(), ConnectOptions{URL: s.ClientURL(), Credentials: file(t, "w1.json", text)})
	require.NoError(t, err)
	defer c.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Work(ctx, c, WorkerOptions{Version: testVersion, Grace: time.Millisecond, Open: func(context.Context, *Spec, int) (Shards, error) {
			t.Error("the worker opens the run")
			return nil, errors.New("no")
		}})
	}()
	select {
	case why := <-said:
		assert.Contains(t, why, "does not prove that it has the key", "the worker gives the shard back since")
	case <-time.After(time.Minute):
		t.Error("the worker does not give the shard back")
	}
	stop()
	assert.NoError(t, <-ended)
}
