package farm

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/farmtest"
)

// file writes a file into a folder of the test.
func file(t *testing.T, name string, data []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(name, data, 0o600))
	return name
}

// TestListen: a server that listens beyond loopback needs TLS; clients always need credentials.
func TestListen(t *testing.T) {
	cert, key := farmtest.Certificate(t, "127.0.0.1")
	for _, c := range []struct {
		name    string
		o       ServerOptions
		allowed bool
	}{
		{"loopback", ServerOptions{Listen: "127.0.0.1:0"}, true},
		{"loopback 6", ServerOptions{Listen: "[::1]:4222"}, true},
		{"no listener", ServerOptions{}, true},
		{"bare", ServerOptions{Listen: "0.0.0.0:4222"}, false},
		{"no host", ServerOptions{Listen: ":4222"}, false},
		{"a name", ServerOptions{Listen: "farm.example:4222"}, false},
		{"TLS only", ServerOptions{Listen: "10.0.0.1:4222", Cert: cert, Key: key}, true},
		{"TLS of both", ServerOptions{Listen: "10.0.0.1:4222", Cert: cert, Key: key, CA: cert}, true},
		{"no port", ServerOptions{Listen: "127.0.0.1"}, false},
		{"cluster", ServerOptions{Cluster: &ClusterOptions{Name: "a", Listen: "10.0.0.1:6222", Secret: "s"}}, false},
		{"cluster without a secret", ServerOptions{Cluster: &ClusterOptions{Name: "a", Listen: "127.0.0.1:6222"}}, false},
		{"safe cluster", ServerOptions{Cert: cert, Key: key, Cluster: &ClusterOptions{Name: "a", Listen: "10.0.0.1:6222", Secret: "s"}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Dir = t.TempDir()
			_, err := newServer(&c.o).options(&c.o)
			assert.Equalf(t, c.allowed, err == nil, "%s: %v, want allowed", c.name, err)
			assert.Truef(t, err == nil || c.name == "no port" || c.name == "cluster without a secret" || strings.Contains(err.Error(), "beyond loopback a farm needs TLS"), "%s: the error does not say why: %v", c.name, err)
		})
	}
}

// TestCredentials: over TLS, with a CA of certificates, clients connect with a certificate and credentials, each with a
// role; wrong credentials get one clear error, and no client can use another's name.
func TestCredentials(t *testing.T) {
	cert, key := farmtest.Certificate(t, "127.0.0.1")
	f := &farm{t: t, store: newMapStore(), logs: &logs{}}
	ctx, stop := context.WithCancel(context.Background())
	f.ctx, f.log = ctx, newLog(f.logs)
	var err error
	f.server, err = Serve(ServerOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0", Cert: cert, Key: key, CA: cert, Log: f.log})
	require.NoError(t, err)
	t.Cleanup(f.server.Close)
	defer func() { stop(); f.ended.Wait() }()
	o := quick(f.store)
	o.Server, o.Log = f.server, f.log
	f.coordinate(ctx, o)
	who := func(role, name string) ConnectOptions {
		text, err := f.server.gate.key.Credentials(role, name)
		require.NoError(t, err)
		return ConnectOptions{URL: f.server.URL(), Credentials: file(t, "credentials", text), CA: cert, Cert: cert, Key: key, Log: f.log}
	}
	f.client = NewClient(f.connect(who(RoleOperator, "people")))
	f.until("the coordinator answers", func() bool { _, err := f.client.Status(ctx); return err == nil })
	s := spec(1, 40, 0)
	f.submit(s)
	for _, name := range []string{"w1", "w2"} {
		c := f.connect(who(RoleWorker, name))
		f.ended.Go(func() {
			assert.NoError(t, Work(ctx, c, WorkerOptions{Version: testVersion, Open: opener(f.store)}))
		})
	}
	f.done(s)

	other := who(RoleWorker, "w1")
	text, err := Key(make([]byte, keyBytes)).Credentials(RoleWorker, "w1")
	require.NoError(t, err)
	other.Credentials = file(t, "other", text)
	_, err = Connect(ctx, other)
	assert.ErrorContains(t, err, "uthorization", "credentials of another key")
	other.Credentials = ""
	_, err = Connect(ctx, other)
	assert.ErrorContains(t, err, "uthorization", "a certificate without credentials")
	bare := who(RoleWorker, "w1")
	bare.Cert, bare.Key = "", ""
	_, err = Connect(ctx, bare)
	assert.ErrorContains(t, err, "certificate", "credentials without a certificate")
	f.until("the status shows the wrong credentials", func() bool {
		for _, e := range f.status().Failures {
			if strings.Contains(e.Text, "authentication error") {
				return true
			}
		}
		return false
	})
	// A worker uses another's name, then an operator's subjects, then JetStream.
	c := f.connect(who(RoleWorker, "w1"))
	asked := time.Now()
	for subject, want := range map[string]string{
		workerSubject + "claim.w2":             `w1 may not send "claim" as a worker: expected credentials with the role worker and the name w2`,
		clientSubject + "status":               `w1 may not ask for "status": expected credentials with the role operator`,
		"$JS.API.STREAM.DELETE.moonfarm-notes": "expected credentials with the role coordinator",
		"moonfarm.failure":                     "expected credentials with the role coordinator",
	} {
		t.Run(subject, func(t *testing.T) {
			_, err := c.ask(ctx, subject, &request{}, 2*time.Minute)
			assert.Truef(t, err != nil && strings.Contains(err.Error(), "permission denied at tls://") && strings.Contains(err.Error(), want), "%s: %v, want %q", subject, err, want)
		})
	}
	_, err = NewClient(c).Status(ctx)
	assert.ErrorContains(t, err, "role operator", "status of a worker")
	people := f.connect(who(RoleOperator, "people"))
	err = Work(ctx, people, WorkerOptions{Version: testVersion, Open: opener(f.store)})
	assert.Truef(t, errors.Is(err, errRefused) && strings.Contains(err.Error(), "role worker and the name people"), "an operator as a worker: %v", err)
	d := time.Since(asked)
	assert.LessOrEqualf(t, d, time.Minute, "the denials took %v", d)
	f.until("the status shows what was denied", func() bool { return f.failure("Permissions Violation") || f.failure("ublish Violation") })
}

// TestOneServerPerStore: a second server in the same folder is refused, since it would damage the
// store.
func TestOneServerPerStore(t *testing.T) {
	o := ServerOptions{Dir: t.TempDir()}
	s, err := Serve(o)
	require.NoError(t, err)
	if other, err := Serve(o); err == nil || !strings.Contains(err.Error(), "another server has its store there") {
		if err == nil {
			other.Close()
		}
		t.Errorf("a second server: %v", err)
	}
	s.Close()
	s, err = Serve(o)
	require.NoError(t, err)
	s.Close()
}

// TestConnectWaits: a server that ends during a connection attempt counts as not started yet.
func TestConnectWaits(t *testing.T) {
	cert, key := farmtest.Certificate(t, "127.0.0.1")
	dir := t.TempDir()
	server, err := serverKey(dir, nil, logger(nil))
	require.NoError(t, err)
	text, err := server.Credentials(RoleWorker, "w1")
	require.NoError(t, err)
	credentials := file(t, "w1.json", text)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	type result struct {
		c   *Conn
		err error
	}
	connected := make(chan result, 1)
	go func() {
		c, err := Connect(ctx, ConnectOptions{URL: "tls://" + address, Credentials: credentials, CA: cert})
		connected <- result{c, err}
	}()
	info := []byte(`INFO {"server_id":"x","version":"2.14.0","proto":1,"max_payload":1048576,"nonce":"x","tls_required":true}` + "\r\n")
	for _, say := range [][]byte{nil, info[:20], info, info} { // then it disconnects
		_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(10 * time.Second))
		c, err := l.Accept()
		if err != nil {
			t.Fatalf("%v; Connect: %v", err, (<-connected).err)
		}
		_, _ = c.Write(say)
		if len(say) == len(info) {
			_, _ = c.Read(make([]byte, 1)) // unread bytes turn the close into a reset
		}
		c.Close()
	}
	l.Close()
	s, err := Serve(ServerOptions{Dir: dir, Listen: address, Cert: cert, Key: key})
	require.NoError(t, err)
	defer s.Close()
	r := <-connected
	require.NoError(t, r.err)
	r.c.Close()
}

// TestRawBytes: a program that sends raw bytes to the port is disconnected, with one line in the
// log, and does not delay other clients.
func TestRawBytes(t *testing.T) {
	f := newFarm(t)
	s := spec(8, 100, 5*time.Millisecond)
	f.submit(s)
	for i, bytes := range []string{
		"GET / HTTP/1.1\r\n\r\n",
		fmt.Sprintf("PUB %sstatus %d\r\n", clientSubject, maxPayload+1) + strings.Repeat("x", maxPayload+1) + "\r\n",
		fmt.Sprintf("PUB %sstatus 99999999999999999999\r\n", clientSubject),
		"PUB " + strings.Repeat("x", 1<<16),
		"PUB " + clientSubject + "status 4\r\nlong enough to be no end of it\r\n",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(f.server.URL(), "nats://"))
		require.NoError(t, err)
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if i > 0 {
			bytes = hello(t, c, f.server.gate.key, RoleOperator, "raw") + bytes
		}
		c.Write([]byte(bytes)) // it may be disconnected before all of it is written
		var timeout net.Error
		_, err = io.Copy(io.Discard, c)
		assert.Truef(t, !errors.As(err, &timeout) || !timeout.Timeout(), "%.60q: still connected after 10 s", bytes)
		c.Close()
	}
	f.work("w0", opener(f.store))
	f.done(s)
	if !f.failure("payload") {
		t.Errorf("the failures do not mention the message that was too large: %v", f.status().Failures)
	}
}

// hello reads the first line of a server and returns the answer of a client with credentials of the
// key.
func hello(t *testing.T, c net.Conn, key Key, role, name string) string {
	t.Helper()
	line, err := bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	var info struct {
		Nonce string `json:"nonce"`
	}
	err = json.Unmarshal([]byte(strings.TrimPrefix(line, "INFO ")), &info)
	require.NoErrorf(t, err, "the server says %q", line)
	require.NotEqualf(t, "", info.Nonce, "the server says %q", line)
	pair, err := key.pair(role, name)
	require.NoError(t, err)
	public, _ := pair.PublicKey()
	sig, err := pair.Sign([]byte(info.Nonce))
	require.NoError(t, err)
	text, _ := json.Marshal(map[string]any{"verbose": false, "name": clientName(role, name), "nkey": public, "sig": base64.RawURLEncoding.EncodeToString(sig)})
	return "CONNECT " + string(text) + "\r\n"
}
