package farm

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
)

// file writes a file into a folder of the test.
func file(t *testing.T, name string, data []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// certificate makes a certificate of this machine that signed itself.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "farm"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, "cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		file(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}))
}

// TestListen: beyond loopback a server wants TLS and credentials.
func TestListen(t *testing.T) {
	cert, key := certificate(t)
	users := file(t, "users.json", []byte(`{"users": [{"name": "w1", "role": "worker", "password": "p"}]}`))
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
		{"users only", ServerOptions{Listen: "10.0.0.1:4222", Users: users}, false},
		{"TLS only", ServerOptions{Listen: "10.0.0.1:4222", Cert: cert, Key: key}, false},
		{"TLS and users", ServerOptions{Listen: "10.0.0.1:4222", Cert: cert, Key: key, Users: users}, true},
		{"TLS of both", ServerOptions{Listen: "10.0.0.1:4222", Cert: cert, Key: key, CA: cert}, true},
		{"no port", ServerOptions{Listen: "127.0.0.1"}, false},
		{"cluster", ServerOptions{Cluster: &ClusterOptions{Name: "a", Listen: "10.0.0.1:6222", Secret: "s"}}, false},
		{"safe cluster", ServerOptions{Cert: cert, Key: key, Cluster: &ClusterOptions{Name: "a", Listen: "10.0.0.1:6222", Secret: "s"}}, true},
	} {
		c.o.Dir = t.TempDir()
		_, err := new(Server).options(&c.o)
		if (err == nil) != c.allowed {
			t.Errorf("%s: %v, want allowed %v", c.name, err, c.allowed)
		}
		if err != nil && c.name != "no port" && !strings.Contains(err.Error(), "beyond loopback a farm needs TLS") {
			t.Errorf("%s: the error does not say why: %v", c.name, err)
		}
	}
	for text, want := range map[string]string{
		`{"users": [{"name": "w 1", "role": "worker", "password": "p"}]}`:             "not a name",
		`{"users": [{"name": "w1", "role": "boss", "password": "p"}]}`:                "want worker, operator or coordinator",
		`{"users": [{"name": "w1", "role": "worker"}]}`:                               "want a password or an nkey",
		`{"users": [{"name": "inside", "role": "worker", "password": "p"}]}`:          "not a name",
		`{"users": [{"name": "w1", "role": "worker", "password": "p", "nkey": "U"}]}`: "want a password or an nkey",
		`what`: "invalid character",
	} {
		_, err := new(Server).options(&ServerOptions{Dir: t.TempDir(), Users: file(t, "u", []byte(text))})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("users %s: %v, want %q", text, err, want)
		}
	}
}

// TestCredentials: over TLS, with a password, an nkey and a role each; who has
// the wrong ones gets one clear error, and nobody speaks for another.
func TestCredentials(t *testing.T) {
	cert, key := certificate(t)
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := pair.PublicKey()
	seed, _ := pair.Seed()
	list, _ := json.Marshal(map[string]any{"users": []user{
		{Name: "w1", Role: "worker", Password: "secret1"},
		{Name: "w2", Role: "worker", Nkey: public},
		{Name: "people", Role: "operator", Password: "secret2"},
	}})
	f := &farm{t: t, ctx: t.Context(), store: newMapStore(), logs: &logs{}}
	ctx, stop := context.WithCancel(context.Background())
	f.ctx, f.log = ctx, newLog(f.logs)
	f.server, err = Serve(ServerOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0", Cert: cert, Key: key, Users: file(t, "users.json", list), Log: f.log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.server.Close)
	defer func() { stop(); f.ended.Wait() }()
	o := quick(f.store)
	o.Server, o.Log = f.server, f.log
	f.coordinate(ctx, o)
	who := func(k credentials) ConnectOptions {
		text, _ := json.Marshal(k)
		return ConnectOptions{URL: f.server.URL(), Credentials: file(t, "credentials", text), CA: cert, Log: f.log}
	}
	f.client = NewClient(f.connect(who(credentials{Name: "people", Password: "secret2"})))
	f.until("the coordinator answers", func() bool { _, err := f.client.Status(ctx); return err == nil })
	s := spec(1, 40, 0)
	f.submit(s)
	for _, k := range []credentials{{Name: "w1", Password: "secret1"}, {Name: "w2", Seed: string(seed)}} {
		c := f.connect(who(k))
		f.ended.Go(func() {
			if err := Work(ctx, c, WorkerOptions{Version: testVersion, Open: opener(f.store)}); err != nil {
				t.Error(err)
			}
		})
	}
	f.done(s)

	for _, k := range []credentials{{Name: "w1", Password: "wrong"}, {Name: "w3", Password: "secret1"}} {
		if _, err := Connect(ctx, who(k)); err == nil || !strings.Contains(err.Error(), "uthorization") {
			t.Errorf("%s with password %s: %v", k.Name, k.Password, err)
		}
	}
	f.until("the status shows the wrong credentials", func() bool {
		for _, e := range f.status().Failures {
			if strings.Contains(e.Text, "authentication error") {
				return true
			}
		}
		return false
	})
	if _, err := Connect(ctx, ConnectOptions{URL: f.server.URL(), CA: cert}); err == nil {
		t.Error("connected without credentials")
	}
	// A worker says it is another, acts as an operator, and reaches for JetStream.
	c := f.connect(who(credentials{Name: "w1", Password: "secret1"}))
	for _, subject := range []string{workerSubject + "claim.w2", clientSubject + "status", "$JS.API.STREAM.DELETE.moonfarm-work", workSubject + "a.1"} {
		if _, err := c.ask(ctx, subject, &request{}, 300*time.Millisecond); err == nil || !strings.Contains(err.Error(), "denies") {
			t.Errorf("%s: %v, want a denial", subject, err)
		}
	}
}

// TestOneServerPerStore: two servers in one folder would spoil each other's store.
func TestOneServerPerStore(t *testing.T) {
	o := ServerOptions{Dir: t.TempDir()}
	s, err := Serve(o)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := Serve(o); err == nil || !strings.Contains(err.Error(), "another server has its store there") {
		if err == nil {
			other.Close()
		}
		t.Errorf("a second server: %v", err)
	}
	s.Close()
	if s, err = Serve(o); err != nil {
		t.Fatal(err)
	}
	s.Close()
}
