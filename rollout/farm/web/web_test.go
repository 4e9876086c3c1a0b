package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/access"
	"moonfarm/rollout/farm"
	"moonfarm/rollout/farm/farmtest"
)

// fake is a farm whose status a test sets.
type fake struct {
	mu     sync.Mutex
	status farm.Status
	err    error
	asked  int
}

func (f *fake) Status(ctx context.Context) (*farm.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	s := f.status
	return &s, errors.Join(f.err, ctx.Err())
}

func (f *fake) change(how func(f *fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(f)
}

// evil is a text that a worker might send.
const evil = `<img src=x onerror="document.title='owned'"></script>"&`

// example returns a farm with entries in every table.
func example() *fake {
	now := time.Now()
	return &fake{status: farm.Status{
		Version: "v1.2.3", Now: now, Since: now.Add(-time.Hour),
		Runs: []farm.RunStatus{
			{ID: "0123456789abcdef0123456789abcdef", Name: "towerdefence", Out: "s3://bucket/td", State: farm.Running, Created: now.Add(-time.Hour),
				Shards: 200, Made: 50, Held: 4, Episodes: 100_000, Played: 25_000, Rows: 1_234_567, Bytes: 98_765_432, ShardRate: 0.5, RowRate: 4321, Left: 300,
				Audits: farm.AuditCounts{Pending: 1, Passed: 7}},
			{ID: "fedcba9876543210fedcba9876543210", Name: "codecraft", Out: "data/craft", State: farm.Done, Shards: 10, Made: 10, Rows: 77},
		},
		Workers: []farm.WorkerStatus{
			{Name: "alpha", Version: "v1.2.3", Host: evil, Slots: 2, Beat: now.Add(-2 * time.Second), Alive: true, Held: 2, Shards: 30, Rows: 600, RowRate: 4321},
			{Name: "mallory", Version: "v1.2.3", Host: "m", Beat: now.Add(-time.Hour), Quarantined: "shard 7 of towerdefence is wrong", Audits: farm.AuditCounts{Failed: 1}},
		},
		Failures: []farm.Failure{{First: now, Last: now, Count: 3, Worker: "alpha", Text: "disk full: " + evil}},
		Audits: []farm.Quarantine{{Time: now, Run: "0123456789abcdef0123456789abcdef", Shard: 7, Worker: "mallory", Sum: strings.Repeat("a", 64),
			Right: strings.Repeat("b", 64), Row: "steps row 12, column reward: 1, want 0", Returned: 20}},
	}}
}

// serve shows a farm until the test ends.
func serve(t *testing.T, source Source, o Options) *Server {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	s, err := Serve(o, source)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// visit calls the server's handler without a network.
func visit(s *Server, how func(r *http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "http://localhost/", nil)
	r.Header.Set("Authorization", "Bearer "+s.o.Token)
	how(r)
	w := httptest.NewRecorder()
	s.http.Handler.ServeHTTP(w, r)
	return w
}

func path(p string) func(r *http.Request) { return func(r *http.Request) { r.URL.Path = p } }

// TestRefusals: Serve refuses unsafe addresses and incomplete options.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Listen: "0.0.0.0:0"}, "elsewhere the page needs TLS"},
		{Options{Listen: ":0"}, "elsewhere the page needs TLS"},
		{Options{Listen: "[::]:0", Control: access.Control{User: "u", Password: "p"}}, "elsewhere the page needs TLS"},
		{Options{Listen: "example.com:80", Cert: "c", Key: "k"}, "no such file"},
		{Options{Listen: "127.0.0.1"}, "expected host:port"},
		{Options{Listen: "127.0.0.1:0", Control: access.Control{User: "u"}}, "a user needs a password"},
		{Options{Listen: "127.0.0.1:0", Cert: "none"}, "a certificate a key"},
		{Options{Listen: "127.0.0.1:0", Cert: "none", Key: "none"}, "no such file"},
	} {
		t.Run(fmt.Sprintf("%+v", c.o), func(t *testing.T) {
			s, err := Serve(c.o, example())
			if err == nil {
				s.Close()
			}
			assert.ErrorContainsf(t, err, c.want, "%+v", c.o)
		})
	}
}

// TestGuard: the page is guarded (package access tests how), it is only read, and has no other files.
func TestGuard(t *testing.T) {
	s := serve(t, example(), Options{})
	for _, p := range []string{"/", "/page.js", "/page.css", "/viewer.css", "/status.json", "/metrics"} {
		w := visit(s, path(p))
		assert.Equal(t, 200, w.Code, p)
		assert.Equal(t, policy, w.Header().Get("Content-Security-Policy"), p)
		assert.Equal(t, 401, visit(s, func(r *http.Request) { r.URL.Path = p; r.Header.Del("Authorization") }).Code, p)
	}
	assert.Equal(t, 200, visit(s, func(r *http.Request) { r.URL.Path = "/healthz"; r.Header.Del("Authorization") }).Code)
	assert.Equal(t, 421, visit(s, func(r *http.Request) { r.Host = "evil.example" }).Code)
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		assert.Equal(t, http.StatusMethodNotAllowed, visit(s, func(r *http.Request) { r.Method = method }).Code, method)
	}
	for _, p := range []string{"/debug/pprof/", "/page.html", "/web.go", "/../web.go"} {
		w := visit(s, path(p))
		assert.Truef(t, w.Code == 404 || w.Code/100 == 3, "%s: status %d", p, w.Code)
	}
	assert.Equal(t, 200, visit(serve(t, example(), Options{Profile: true}), path("/debug/pprof/")).Code, "pprof, asked for")
}

// TestMachines: status.json, metrics and probes follow the source.
func TestMachines(t *testing.T) {
	f := example()
	s := serve(t, f, Options{})
	var st farm.Status
	err := json.Unmarshal(visit(s, path("/status.json")).Body.Bytes(), &st)
	require.NoError(t, err, "status.json")
	assert.Truef(t, st.Workers[0].Host == evil && st.Runs[0].Rows == 1_234_567, "status.json, %+v", st)
	text := visit(s, path("/metrics")).Body.String()
	for _, line := range []string{
		"moonfarm_up 1\n",
		`moonfarm_run_rows{name="towerdefence",run="0123456789abcdef0123456789abcdef"} 1.234567e+06` + "\n",
		`moonfarm_run_shards{name="towerdefence",run="0123456789abcdef0123456789abcdef",shards="made"} 50` + "\n",
		`moonfarm_worker_quarantined{worker="mallory"} 1` + "\n", `moonfarm_worker_alive{version="v1.2.3",worker="alpha"} 1` + "\n", "\ngo_goroutines ",
	} {
		assert.Contains(t, text, line, "metrics have no")
	}
	require.Equal(t, 200, visit(s, path("/readyz")).Code)
	f.change(func(f *fake) { f.err = errors.New("no coordinator answers") })
	s.latest.mu.Lock()
	s.latest.asked, s.latest.ok = time.Time{}, time.Time{} // long ago
	s.latest.mu.Unlock()
	for p, want := range map[string]int{"/readyz": 503, "/status.json": 503, "/healthz": 200, "/metrics": 200} {
		t.Run(p, func(t *testing.T) {
			assert.Equalf(t, want, visit(s, path(p)).Code, "%s without a coordinator", p)
		})
	}
	assert.Contains(t, visit(s, path("/metrics")).Body.String(), "moonfarm_up 0\n", "metrics without a coordinator")
}

// TestLatest: the farm is asked once for many visitors, also if the first one leaves, and stays ready while another
// coordinator takes over.
func TestLatest(t *testing.T) {
	f := example()
	l := &latest{source: f}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 100 {
		_, err := l.Status(gone)
		require.NoError(t, err)
	}
	require.True(t, l.ready(gone))
	assert.Equal(t, 1, f.asked)
	f.err = errors.New("no coordinator answers")
	l.asked, l.ok = l.asked.Add(-every), l.ok.Add(-every)
	require.True(t, l.ready(gone))
	assert.Equal(t, 2, f.asked)
	l.ok = l.ok.Add(-lenience)
	require.False(t, l.ready(gone))
}

// TestBadLabels: texts from a worker cannot break the metrics.
func TestBadLabels(t *testing.T) {
	f := example()
	f.status.Workers[0].Version = "\xff\n\"" + evil
	w := visit(serve(t, f, Options{}), path("/metrics"))
	assert.Truef(t, w.Code == 200 && strings.Contains(w.Body.String(), `moonfarm_worker_alive{version="?\n\"<img`), "status %d:\n%s", w.Code, w.Body)
}

// TestHealth: the probes have a separate address, which serves nothing else. Both addresses answer while clients that send
// nothing, or the beginning of a request, fill them; the number of open connections is bounded.
func TestHealth(t *testing.T) {
	s := serve(t, example(), Options{Health: "127.0.0.1:0"})
	for i := range maxConns + 50 {
		for _, address := range []string{s.listen.Addr().String(), s.health.listen.Addr().String()} {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if i%2 == 0 {
				fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localh")
			}
		}
	}
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, p := range []string{"healthz", "status.json", ""} {
		r, err := http.NewRequest("GET", s.origin()+p, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+s.o.Token)
		resp, err := client.Do(r)
		require.NoErrorf(t, err, "/%s beside idle connections", p)
		require.Equalf(t, 200, resp.StatusCode, "/%s beside idle connections", p)
		resp.Body.Close()
	}
	s.conns.mu.Lock()
	assert.LessOrEqual(t, len(s.conns.open), maxConns)
	s.conns.mu.Unlock()
	for p, want := range map[string]int{"healthz": 200, "readyz": 200, "": 404, "status.json": 404, "metrics": 404, "debug/pprof/": 404} {
		t.Run(fmt.Sprintf("%q", p), func(t *testing.T) {
			r, err := http.NewRequest("GET", s.HealthURL()+p, nil)
			require.NoError(t, err)
			r.Host = "pod.example" // a probe may use any host name
			resp, err := client.Do(r)
			require.NoErrorf(t, err, "/%s: %v", p, resp)
			require.Equalf(t, want, resp.StatusCode, "/%s: %v", p, resp)
			resp.Body.Close()
		})
	}
	_, err := Serve(Options{Listen: "127.0.0.1:0", Health: "nowhere"}, example())
	assert.ErrorContains(t, err, "health: ", "an invalid address")
}

// TestTLS serves with everything that a page beyond loopback needs. (The test listens on loopback,
// where this is allowed too.)
func TestTLS(t *testing.T) {
	cert, key := farmtest.Certificate(t, "127.0.0.1")
	text, err := os.ReadFile(cert)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(text))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	s := serve(t, example(), Options{Cert: cert, Key: key, Control: access.Control{User: "u", Password: "p"}})
	assert.Regexp(t, `^https://127\.0\.0\.1:\d+/$`, s.URL())
	r, err := http.NewRequest("GET", s.origin()+"status.json", nil)
	require.NoError(t, err)
	resp, err := client.Do(r)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, 401, resp.StatusCode)
	r.SetBasicAuth("u", "p")
	resp, err = client.Do(r)
	require.NoErrorf(t, err, "%v", resp)
	require.Truef(t, resp.StatusCode == 200 && resp.ProtoMajor == 2, "%v", resp)
	resp.Body.Close()
}
