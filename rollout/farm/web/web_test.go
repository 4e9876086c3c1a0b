package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"moonfarm/rollout/farm"
)

// fake is a farm that tells what a test says.
type fake struct {
	mu     sync.Mutex
	status farm.Status
	err    error
}

func (f *fake) Status(context.Context) (*farm.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.status
	return &s, f.err
}

func (f *fake) change(how func(f *fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(f)
}

// evil is text that a worker may send.
const evil = `<img src=x onerror="document.title='owned'"></script>"&`

// example is a farm with something in every table.
func example() *fake {
	now := time.Now()
	return &fake{status: farm.Status{
		Version: "v1.2.3", Now: now, Since: now.Add(-time.Hour),
		Runs: []farm.RunStatus{
			{ID: "0123456789abcdef0123456789abcdef", Name: "towerdefence", Out: "s3://bucket/td", State: farm.Running, Created: now.Add(-time.Hour),
				Shards: 200, Made: 50, Held: 4, Episodes: 100_000, Played: 25_000, Rows: 1_234_567, Bytes: 98_765_432, ShardRate: 0.5, RowRate: 4321, Left: 300,
				Audits: farm.Counts{Pending: 1, Passed: 7}},
			{ID: "fedcba9876543210fedcba9876543210", Name: "codecraft", Out: "data/craft", State: farm.Done, Shards: 10, Made: 10, Rows: 77},
		},
		Workers: []farm.WorkerStatus{
			{Name: "alpha", Version: "v1.2.3", Host: evil, Slots: 2, Beat: now.Add(-2 * time.Second), Alive: true, Held: 2, Shards: 30, Rows: 600, RowRate: 4321},
			{Name: "mallory", Version: "v1.2.3", Host: "m", Beat: now.Add(-time.Hour), Quarantined: "shard 7 of towerdefence is wrong", Audits: farm.Counts{Failed: 1}},
		},
		Failures: []farm.Failure{{First: now, Last: now, Count: 3, Worker: "alpha", Text: "disk full: " + evil}},
		Audits: []farm.Audit{{Time: now, Run: "0123456789abcdef0123456789abcdef", Shard: 7, Worker: "mallory", Sum: strings.Repeat("a", 64),
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// visit asks the server's handler without a network.
func visit(s *Server, how func(r *http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "http://localhost/", nil)
	how(r)
	w := httptest.NewRecorder()
	s.http.Handler.ServeHTTP(w, r)
	return w
}

func path(p string) func(r *http.Request) { return func(r *http.Request) { r.URL.Path = p } }

// eventually waits for a condition, at most a minute.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatalf("after a minute: not yet: %s", what)
		}
	}
}

// TestRefusals: nothing is shown where it is not safe.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Listen: "0.0.0.0:0"}, "beyond loopback a page needs TLS"},
		{Options{Listen: ":0"}, "beyond loopback a page needs TLS"},
		{Options{Listen: "[::]:0", User: "u", Password: "p"}, "beyond loopback a page needs TLS"},
		{Options{Listen: "example.com:80", Cert: "c", Key: "k"}, "no such file"},
		{Options{Listen: "127.0.0.1"}, "want host:port"},
		{Options{Listen: "127.0.0.1:0", User: "u"}, "a user needs a password"},
		{Options{Listen: "127.0.0.1:0", Cert: "none"}, "a certificate a key"},
		{Options{Listen: "127.0.0.1:0", Cert: "none", Key: "none"}, "no such file"},
	} {
		s, err := Serve(c.o, example())
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want an error with %q", c.o, err, c.want)
		}
	}
}

// TestGuard: who may ask what, and what every answer says to browsers.
func TestGuard(t *testing.T) {
	s := serve(t, example(), Options{})
	for host, code := range map[string]int{
		"localhost": 200, "localhost:8080": 200, "127.0.0.1": 200, "127.0.0.1:1": 200, "[::1]:8080": 200, "[::1]": 200,
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "": 421, "192.0.2.1": 421,
	} {
		w := visit(s, func(r *http.Request) { r.Host = host })
		if w.Code != code {
			t.Errorf("Host %q: status %d, want %d", host, w.Code, code)
		}
		h := w.Header()
		if h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("Host %q: headers %v", host, h)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if w := visit(s, func(r *http.Request) { r.Method = method }); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: status %d", method, w.Code)
		}
	}
	for _, p := range []string{"/debug/pprof/", "/page.html", "/web.go", "/../web.go"} {
		if w := visit(s, path(p)); w.Code != 404 && w.Code/100 != 3 {
			t.Errorf("%s: status %d", p, w.Code)
		}
	}
	if w := visit(serve(t, example(), Options{Profile: true}), path("/debug/pprof/")); w.Code != 200 {
		t.Errorf("pprof, asked for: status %d", w.Code)
	}
}

// TestCredentials: with a user nothing but the probes is told to others.
func TestCredentials(t *testing.T) {
	s := serve(t, example(), Options{User: "u", Password: "secret"})
	for _, c := range []struct {
		path, user, password string
		code                 int
	}{
		{"/", "", "", 401}, {"/status.json", "u", "wrong", 401}, {"/metrics", "x", "secret", 401}, {"/events", "", "secret", 401},
		{"/", "u", "secret", 200}, {"/status.json", "u", "secret", 200}, {"/healthz", "", "", 200},
	} {
		w := visit(s, func(r *http.Request) {
			r.URL.Path, r.Host = c.path, "farm.example"
			if c.user+c.password != "" {
				r.SetBasicAuth(c.user, c.password)
			}
		})
		if w.Code != c.code {
			t.Errorf("%s as %q: status %d, want %d", c.path, c.user, w.Code, c.code)
		}
	}
}

// TestMachines: status.json, metrics and probes follow the source.
func TestMachines(t *testing.T) {
	f := example()
	s := serve(t, f, Options{})
	var st farm.Status
	if err := json.Unmarshal(visit(s, path("/status.json")).Body.Bytes(), &st); err != nil || st.Workers[0].Host != evil || st.Runs[0].Rows != 1_234_567 {
		t.Errorf("status.json: %v, %+v", err, st)
	}
	text := visit(s, path("/metrics")).Body.String()
	for _, line := range []string{
		"moonfarm_up 1\n",
		`moonfarm_run_rows{name="towerdefence",run="0123456789abcdef0123456789abcdef"} 1.234567e+06` + "\n",
		`moonfarm_run_shards{name="towerdefence",run="0123456789abcdef0123456789abcdef",shards="made"} 50` + "\n",
		`moonfarm_worker_quarantined{worker="mallory"} 1` + "\n", `moonfarm_worker_alive{version="v1.2.3",worker="alpha"} 1` + "\n", "\ngo_goroutines ",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("metrics have no %q:\n%s", line, text)
		}
	}
	eventually(t, "ready", func() bool { return visit(s, path("/readyz")).Code == 200 })
	f.change(func(f *fake) { f.err = errors.New("no coordinator answers") })
	s.live.mu.Lock()
	s.live.ok = time.Time{} // long ago
	s.live.mu.Unlock()
	for p, want := range map[string]int{"/readyz": 503, "/status.json": 503, "/healthz": 200, "/metrics": 200} {
		if w := visit(s, path(p)); w.Code != want {
			t.Errorf("%s without a coordinator: %d, want %d", p, w.Code, want)
		}
	}
	if text := visit(s, path("/metrics")).Body.String(); !strings.Contains(text, "moonfarm_up 0\n") {
		t.Errorf("metrics without a coordinator:\n%s", text)
	}
}

// TestBadLabels: what a worker calls itself cannot spoil the metrics.
func TestBadLabels(t *testing.T) {
	f := example()
	f.status.Workers[0].Version = "\xff\n\"" + evil
	w := visit(serve(t, f, Options{}), path("/metrics"))
	if w.Code != 200 || !strings.Contains(w.Body.String(), `moonfarm_worker_alive{version="?\n\"<img`) {
		t.Errorf("status %d:\n%s", w.Code, w.Body)
	}
}

// follow opens /events and returns a function that reads the next event.
func follow(t *testing.T, s *Server) func() *event {
	t.Helper()
	resp, err := http.Get(s.URL() + "events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("status %d, type %q", resp.StatusCode, kind)
	}
	in := bufio.NewReader(resp.Body)
	return func() *event {
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return nil
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				e := new(event)
				if err := json.Unmarshal([]byte(data), e); err != nil {
					t.Fatalf("%v: %s", err, data)
				}
				return e
			}
		}
	}
}

// TestEvents: a page is told the chart of the last minutes, then what changes;
// trouble of the source is an event too, and closing ends the stream.
func TestEvents(t *testing.T) {
	f := example()
	s := serve(t, f, Options{})
	next := follow(t, s)
	eventually(t, "a second point", func() bool {
		e := next()
		return e.Status.Runs[0].Made == 50 && len(e.Chart) == 1 && e.Chart[0][1] == 4321 && func() bool {
			s.live.mu.Lock()
			defer s.live.mu.Unlock()
			return len(s.live.points) > 1
		}()
	})
	if e := follow(t, s)(); len(e.Chart) < 2 {
		t.Errorf("the first event of a later page has %d points", len(e.Chart))
	}
	f.change(func(f *fake) { f.status.Runs = slices.Clone(f.status.Runs); f.status.Runs[0].Made = 51 })
	eventually(t, "51 shards", func() bool { return next().Status.Runs[0].Made == 51 })
	f.change(func(f *fake) { f.err = errors.New("no coordinator answers") })
	eventually(t, "trouble", func() bool { e := next(); return e.Status == nil && e.Trouble == "no coordinator answers" })
	f.change(func(f *fake) { f.err = nil })
	eventually(t, "recovery", func() bool { return next().Status != nil })
	s.Close()
	eventually(t, "the end", func() bool { return next() == nil })
}

// TestBounds: events stay small whatever the farm; pages and connections have
// a limit, and places are given back; a page that reads nothing keeps nobody.
func TestBounds(t *testing.T) {
	f := example()
	for i := range 2000 {
		w := farm.WorkerStatus{Name: fmt.Sprintf("w%04d", i), Alive: true}
		if i == 1999 {
			w.Quarantined = "wrong"
		}
		f.status.Workers = append(f.status.Workers, w)
	}
	s := serve(t, f, Options{})
	e := follow(t, s)()
	if len(e.Status.Workers) != maxWorkers || e.More.Workers != 2002-maxWorkers {
		t.Errorf("%d workers and %d more", len(e.Status.Workers), e.More.Workers)
	}
	if w := e.Status.Workers; w[0].Name != "mallory" || w[1].Name != "w1999" || w[2].Name != "alpha" {
		t.Errorf("first %s, %s, %s: want the quarantined first", w[0].Name, w[1].Name, w[2].Name)
	}
	var pages []io.Closer
	for range maxStreams - 1 {
		resp, err := http.Get(s.URL() + "events")
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(err, resp)
		}
		pages = append(pages, resp.Body)
	}
	if resp, err := http.Get(s.URL() + "events"); err != nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("page %d: %v, %v", maxStreams+1, resp, err)
	}
	before := s.live.points
	eventually(t, "looks although nobody reads", func() bool {
		s.live.mu.Lock()
		defer s.live.mu.Unlock()
		return len(s.live.points) > len(before)+1
	})
	for _, p := range pages {
		p.Close()
	}
	eventually(t, "room for a page", func() bool {
		resp, err := http.Get(s.URL() + "events")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == 200
	})
	requireBoundedConns(t, s)
}

// requireBoundedConns opens more connections than there may be, which say nothing or
// the beginning of a request: the page, the probes and the streams that are followed
// go on.
func requireBoundedConns(t *testing.T, s *Server) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	next := follow(t, s)
	for i := range maxConns + 50 {
		c, err := net.Dial("tcp", s.listen.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localh")
		}
	}
	for _, p := range []string{"healthz", "status.json", ""} {
		c := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := c.Get(s.URL() + p)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("/%s beside idle connections: %v", p, err)
		}
		resp.Body.Close()
	}
	if next() == nil {
		t.Error("a stream that is followed has ended")
	}
	s.conns.mu.Lock()
	defer s.conns.mu.Unlock()
	if n := len(s.conns.open); n > maxConns {
		t.Errorf("%d connections are open, the limit is %d", n, maxConns)
	}
}

// TestHealth: the probes have a place of their own, which no connections to the page
// fill, and nothing else is told there.
func TestHealth(t *testing.T) {
	s := serve(t, example(), Options{Health: "127.0.0.1:0"})
	for range 300 {
		for _, address := range []string{s.listen.Addr().String(), s.health.listen.Addr().String()} {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
	}
	client := http.Client{Timeout: time.Minute}
	for p, want := range map[string]int{"healthz": 200, "": 404, "status.json": 404, "metrics": 404, "debug/pprof/": 404} {
		r, err := http.NewRequest("GET", s.HealthURL()+p, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "pod.example" // a probe may call it by any name
		resp, err := client.Do(r)
		if err != nil || resp.StatusCode != want {
			t.Fatalf("/%s: %v, %v, want %d", p, resp, err, want)
		}
		resp.Body.Close()
	}
	eventually(t, "ready", func() bool {
		resp, err := client.Get(s.HealthURL() + "readyz")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil && resp.StatusCode == 200
	})
	if _, err := Serve(Options{Listen: "127.0.0.1:0", Health: "nowhere"}, example()); err == nil || !strings.Contains(err.Error(), "health: ") {
		t.Errorf("a place that is none: %v", err)
	}
}

// TestSlowReader: who takes nothing of a stream is dropped.
func TestSlowReader(t *testing.T) {
	if os.Getenv("MOONFARM_LONG") == "" {
		t.Skip("MOONFARM_LONG is not set: takes as long as a page may be silent")
	}
	f := example()
	for i := range maxWorkers {
		f.status.Workers = append(f.status.Workers, farm.WorkerStatus{Name: fmt.Sprint(i), Host: strings.Repeat("h", 10_000)})
	}
	s := serve(t, f, Options{})
	c, err := net.Dial("tcp", s.listen.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	pages := func() int {
		s.live.mu.Lock()
		defer s.live.mu.Unlock()
		return len(s.live.pages)
	}
	eventually(t, "a page", func() bool { return pages() == 1 })
	eventually(t, "no page", func() bool { return pages() == 0 })
}

// TestTLS: beyond loopback with everything that it takes. (The test listens on
// loopback, where it is taken too.)
func TestTLS(t *testing.T) {
	cert, key, client := certificate(t)
	s := serve(t, example(), Options{Cert: cert, Key: key, User: "u", Password: "p"})
	if !strings.HasPrefix(s.URL(), "https://127.0.0.1:") {
		t.Errorf("URL %s", s.URL())
	}
	r, err := http.NewRequest("GET", s.URL()+"status.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("u", "p")
	resp, err := client.Do(r)
	if err != nil || resp.StatusCode != 200 || resp.ProtoMajor != 2 {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
}

// certificate writes that of httptest into files.
func certificate(t *testing.T) (cert, key string, client *http.Client) {
	t.Helper()
	ts := httptest.NewUnstartedServer(nil)
	ts.EnableHTTP2 = true
	ts.StartTLS()
	t.Cleanup(ts.Close)
	pair := ts.TLS.Certificates[0]
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePEM(t, cert, "CERTIFICATE", pair.Certificate[0])
	writePEM(t, key, "PRIVATE KEY", pkcs8(t, pair.PrivateKey))
	return cert, key, ts.Client()
}
