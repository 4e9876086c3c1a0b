package farm

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"moonfarm/rollout/farm/farmtest"
	"moonfarm/rollout/farm/internal/tracker"
)

// hello reads the first line of a server and returns the answer of a client that has
// credentials of the key.
func hello(t *testing.T, c net.Conn, key Key, role, name string) string {
	t.Helper()
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Nonce string `json:"nonce"`
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "INFO ")), &info); err != nil || info.Nonce == "" {
		t.Fatalf("the server says %q: %v", line, err)
	}
	pair, err := key.pair(role, name)
	if err != nil {
		t.Fatal(err)
	}
	public, _ := pair.PublicKey()
	sig, err := pair.Sign([]byte(info.Nonce))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(map[string]any{"verbose": false, "name": clientName(role, name), "nkey": public, "sig": base64.RawURLEncoding.EncodeToString(sig)})
	return "CONNECT " + string(text) + "\r\n"
}

// TestAnonymous: a client without credentials, or with wrong ones, gets nothing, also
// on loopback.
func TestAnonymous(t *testing.T) {
	f := newFarm(t)
	worker := &Key{}
	*worker = bytes.Repeat([]byte{1}, keyBytes)
	other, err := worker.Credentials(RoleOperator, "anna")
	if err != nil {
		t.Fatal(err)
	}
	right, err := f.server.gate.key.Credentials(RoleWorker, "w1")
	if err != nil {
		t.Fatal(err)
	}
	renamed := bytes.Replace(right, []byte(`"w1"`), []byte(`"w2"`), 1)
	raised := bytes.Replace(right, []byte(`"worker"`), []byte(`"coordinator"`), 1)
	if _, err := worker.Credentials(RoleCoordinator, "c"); err == nil {
		t.Error("credentials of a coordinator without the key")
	}
	for what, text := range map[string][]byte{"another server's": other, "a changed name": renamed, "a changed role": raised} {
		_, err := Connect(f.ctx, ConnectOptions{URL: f.server.URL(), Credentials: file(t, "c.json", text)})
		if err == nil || !strings.Contains(err.Error(), "the server does not know ") {
			t.Errorf("%s credentials: %v", what, err)
		}
	}
	if _, err := Connect(f.ctx, ConnectOptions{URL: f.server.URL()}); err == nil || !strings.Contains(err.Error(), "a client without credentials") {
		t.Errorf("no credentials: %v", err)
	}
	for what, opts := range map[string][]nats.Option{
		"nothing": nil, "the inner user": {nats.UserInfo(insideUser, "")}, "a user without a password": {nats.UserInfo("people", "")},
		"a token": {nats.Token("x")}, "a role": {nats.Name("moonfarm operator anna")},
	} {
		if nc, err := nats.Connect(f.server.URL(), opts...); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("a client of NATS with %s: %v", what, err)
			if err == nil {
				nc.Close()
			}
		}
	}
}

// TestFlood: a client that may not connect cannot fill the log and the failures.
func TestFlood(t *testing.T) {
	f := newFarm(t)
	for i := range 300 {
		c, err := net.Dial("tcp", strings.TrimPrefix(f.server.URL(), "nats://"))
		if err != nil {
			t.Fatal(err)
		}
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
	if n := f.logs.count("level=ERROR"); n > 8*10 {
		t.Errorf("%d lines in the log", n)
	}
}

// denied fails unless the server denies the actions of do.
func denied(t *testing.T, nc *nats.Conn, what string, do func() error) {
	t.Helper()
	said := make(chan error, 16)
	nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		select {
		case said <- err:
		default:
		}
	})
	if err := do(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	select {
	case err := <-said:
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%s: %v, want a violation of permissions", what, err)
		}
	case <-time.After(10 * time.Second):
		t.Errorf("%s: the server denies nothing", what)
	}
}

// TestRights: credentials of a role allow the subjects of that role, and no more.
func TestRights(t *testing.T) {
	f := newFarm(t)
	s := spec(60, 5, time.Hour)
	worker := f.connect(ConnectOptions{URL: f.server.URL(), Name: "w1"})
	people := f.connect(ConnectOptions{URL: f.server.URL(), Name: "w1", Credentials: f.key(), Role: RoleOperator}) // the same name
	if _, err := NewClient(people).Submit(f.ctx, s); err != nil {
		t.Fatal(err)
	}
	ask := func(c *Conn, subject string, body any) func() error {
		return func() error {
			data, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.nc.PublishRequest(subject, c.inbox+".x", data); err != nil {
				return err
			}
			return c.nc.Flush()
		}
	}
	listen := func(c *Conn, subject string) func() error {
		return func() error {
			if _, err := c.nc.SubscribeSync(subject); err != nil {
				return err
			}
			return c.nc.Flush()
		}
	}
	for _, c := range []*Conn{worker, people} {
		for what, do := range map[string]func() error{
			"deletes a stream":           ask(c, "$JS.API.STREAM.DELETE.moonfarm-work", nil),
			"makes a stream":             ask(c, "$JS.API.STREAM.CREATE.mine", jetstream.StreamConfig{Name: "mine", Subjects: []string{">"}}),
			"purges records":             ask(c, "$JS.API.STREAM.PURGE.KV_moonfarm-runs", nil),
			"reads records":              ask(c, "$JS.API.DIRECT.GET.KV_moonfarm-runs", nil),
			"writes a record":            ask(c, "$KV.moonfarm-workers.w1", workerRecord{}),
			"feeds the queue":            ask(c, workSubject+s.ID()+".1", nil),
			"reads all":                  listen(c, ">"),
			"reads all inboxes":          listen(c, "_INBOX.>"),
			"reads what workers say":     listen(c, workerSubject+">"),
			"answers for a coordinator":  listen(c, clientSubject+"status"),
			"takes part in the system":   listen(c, "$SYS.>"),
			"speaks into another's name": ask(c, workerSubject+"claim.w2", &request{Version: testVersion}),
		} {
			denied(t, c.nc, c.role+" "+what, do)
		}
	}
	denied(t, worker.nc, "a worker submits", ask(worker, clientSubject+"submit", &request{Spec: spec(61, 5, 0)}))
	denied(t, worker.nc, "a worker cancels", ask(worker, clientSubject+"cancel", &request{Claim: tracker.Claim{Run: s.ID()}}))
	denied(t, worker.nc, "a worker asks for the status", ask(worker, clientSubject+"status", &request{}))
	denied(t, worker.nc, "a worker reads an operator's inbox", listen(worker, people.inbox+".>"))
	denied(t, people.nc, "an operator commits", ask(people, workerSubject+"commit.w1", &request{}))
	denied(t, people.nc, "an operator reads a worker's inbox", listen(people, worker.inbox+".>"))
	if st := f.status(); len(st.Runs) != 1 || st.Runs[0].State != Running {
		t.Errorf("the status has %+v", st.Runs)
	}
	if a, err := f.raw(worker, "claim", &request{Slots: 1, Wait: 5000}); err != nil || a.Claim == nil {
		t.Errorf("a worker claims: %+v, %v", a, err)
	}
}

// TestImpostor: an account that listens at the server's port without its key cannot make a worker
// open a run.
func TestImpostor(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, AlwaysEnableNonce: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not listen")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	text, err := Key(bytes.Repeat([]byte{1}, keyBytes)).Credentials(RoleWorker, "w1")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Connect(t.Context(), ConnectOptions{URL: s.ClientURL(), Credentials: file(t, "w1.json", text)})
	if err != nil {
		t.Fatal(err)
	}
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
		if !strings.Contains(why, "does not prove that it has the key") {
			t.Errorf("the worker gives the shard back since %q", why)
		}
	case <-time.After(time.Minute):
		t.Error("the worker does not give the shard back")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestCertificateRoles: a certificate gives the role of its organizational unit under its
// common name, and one without a role both that people and workers have.
func TestCertificateRoles(t *testing.T) {
	cert, key := farmtest.Certificate(t, "127.0.0.1")
	worker, workerKey := farmtest.CertificateOf(t, "127.0.0.1", pkix.Name{CommonName: "w1", OrganizationalUnit: []string{"worker"}})
	var all []byte
	for _, name := range []string{cert, worker} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	s, err := Serve(ServerOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0", Cert: cert, Key: key, CA: file(t, "ca.pem", all)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	connect := func(cert, key, name string) (*Conn, error) {
		return Connect(t.Context(), ConnectOptions{URL: s.URL(), CA: file(t, "ca.pem", all), Cert: cert, Key: key, Name: name})
	}
	if _, err := connect(worker, workerKey, "w2"); err == nil || !strings.Contains(err.Error(), "uthorization") {
		t.Errorf("a worker's certificate under another name: %v", err)
	}
	publish := func(c *Conn, subject string) func() error {
		return func() error { return errors.Join(c.nc.Publish(subject, nil), c.nc.Flush()) }
	}
	for _, c := range []struct {
		cert, key, name string
		denied, allowed []string
	}{
		{worker, workerKey, "w1", []string{clientSubject + "submit", workerSubject + "claim.w2", "$JS.API.INFO"}, []string{workerSubject + "claim.w1"}},
		{cert, key, "any", []string{workerSubject + "claim.w2", "$JS.API.INFO"}, []string{clientSubject + "submit", workerSubject + "claim.any"}},
	} {
		conn, err := connect(c.cert, c.key, c.name)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, subject := range c.denied {
			denied(t, conn.nc, c.name+" says "+subject, publish(conn, subject))
		}
		for _, subject := range c.allowed {
			if _, err := conn.nc.Request(subject, nil, 5*time.Second); !errors.Is(err, nats.ErrNoResponders) {
				t.Errorf("%s says %s: %v, want that there is no coordinator", c.name, subject, err)
			}
		}
	}
}

// TestKeyFile: a server's key is readable to its owner alone, stays, and is one for the
// servers of a cluster; a damaged one is an error.
func TestKeyFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	serve := func(o ServerOptions) error {
		o.Dir, o.Listen = dir, "127.0.0.1:0"
		s, err := Serve(o)
		if err == nil {
			s.Close()
		}
		return err
	}
	if err := serve(ServerOptions{}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, KeyFile)
	first, err := ReadKey(name)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{name: 0o600, dir: 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: mode %v, want %o (%v)", path, info.Mode(), want, err)
			}
		}
	}
	l := &logs{}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := serve(ServerOptions{Log: newLog(l)}); err != nil {
		t.Fatal(err)
	}
	if n := l.count("other accounts of this machine can read"); n != 1 && runtime.GOOS != "windows" {
		t.Errorf("%d warnings of a key that all can read, want 1", n)
	}
	if again, err := ReadKey(name); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the key has changed: %v", err)
	}
	if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := serve(ServerOptions{}); err == nil || !strings.Contains(err.Error(), KeyFile+": expected the key") {
		t.Errorf("a damaged key: %v", err)
	}
	os.Remove(name)
	one, err := serverKey(dir, &ClusterOptions{Secret: "common"}, logger(nil))
	if err != nil {
		t.Fatal(err)
	}
	if two, err := serverKey(t.TempDir(), &ClusterOptions{Secret: "common"}, logger(nil)); err != nil || !bytes.Equal(one, two) {
		t.Errorf("two servers of a cluster have two keys: %v", err)
	}
}

// TestReadableUsers: a file of users that other accounts can read is warned of, and a
// name stands in it once.
func TestReadableUsers(t *testing.T) {
	list := []byte(`{"users": [{"name": "w1", "role": "worker", "password": "p"}]}`)
	for mode, want := range map[os.FileMode]int{0o600: 0, 0o640: 1, 0o604: 1} {
		name := file(t, "users.json", list)
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		l := &logs{}
		o := ServerOptions{Dir: t.TempDir(), Users: name, Log: newLog(l)}
		if _, err := newServer(&o).options(&o); err != nil {
			t.Fatal(err)
		}
		if n := l.count("other accounts of this machine can read"); n != want && runtime.GOOS != "windows" {
			t.Errorf("mode %o: %d warnings, want %d", mode, n, want)
		}
	}
	twice := bytes.Replace(list, []byte("]"), []byte(`, {"name": "w1", "role": "operator", "password": "q"}]`), 1)
	o := ServerOptions{Dir: t.TempDir(), Users: file(t, "u", twice)}
	if _, err := newServer(&o).options(&o); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("a name of two users: %v", err)
	}
}
