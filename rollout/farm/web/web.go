// Package web shows a farm over HTTP: one page over /status.json, /metrics for Prometheus, /healthz
// and /readyz, and /debug/pprof/ if requested. It changes nothing in the farm.
package web

import (
	"context"
	"crypto/tls"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"moonfarm/rollout/access"
	"moonfarm/rollout/farm"
	"moonfarm/rollout/view/page"
)

// Source returns the state of a farm.
type Source interface {
	Status(ctx context.Context) (*farm.Status, error)
}

// Options configure a Server.
type Options struct {
	Listen string // host:port, port 0 for any
	// Control decides which requests are answered. Without User and Token it gets a new Token. Serve sets its Open and
	// Policy.
	access.Control
	Cert, Key string // files of TLS; beyond loopback they, User and Password are needed
	Profile   bool   // serve /debug/pprof/
	// Health is a host:port where /healthz and /readyz are served as well, for everybody and
	// without TLS; "" for no such address.
	Health string
	Log    *slog.Logger
}

// Server shows a farm until it is closed.
type Server struct {
	o      Options
	latest *latest
	site
	health *site // nil without Options.Health
}

const (
	maxConns = 256              // open connections
	patience = 10 * time.Second // for a visitor to read an answer, and for the source to answer
)

//go:embed page.html page.css page.js
var files embed.FS

// Serve starts to show the status of the source.
func Serve(o Options, source Source) (*Server, error) {
	if (o.User == "") != (o.Password == "") || (o.Cert == "") != (o.Key == "") {
		return nil, errors.New("page: a user needs a password, and a certificate a key")
	}
	var certificates []tls.Certificate
	if o.Cert != "" {
		c, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("page: TLS: %w", err)
		}
		certificates = append(certificates, c)
	}
	if o.Token == "" {
		o.Token = access.NewToken()
	}
	o.Open, o.Policy = []string{"/healthz", "/readyz"}, policy
	l, err := listen(&o)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	s := &Server{o: o, latest: &latest{source: source}, site: site{listen: l}}
	if s.o.Log == nil {
		s.o.Log = slog.New(slog.DiscardHandler)
	}
	s.http = http.Server{
		Handler: s.o.Guard(s.routes()), ReadHeaderTimeout: patience, WriteTimeout: patience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		TLSConfig: &tls.Config{Certificates: certificates, MinVersion: tls.VersionTLS12},
		ErrorLog:  slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	if o.Health != "" {
		if s.health, err = serveHealth(o.Health, s.probes(http.NewServeMux())); err != nil {
			l.Close()
			return nil, fmt.Errorf("health: %w", err)
		}
	}
	s.start(maxConns, certificates != nil, func(err error) { s.o.Log.Error("the page is no longer shown", "url", s.origin(), "err", err) })
	return s, nil
}

// listen opens the listener. It refuses an unsafe address.
func listen(o *Options) (net.Listener, error) {
	if o.Cert != "" && o.User != "" {
		return net.Listen("tcp", o.Listen)
	}
	l, err := access.Listen(o.Listen)
	if errors.Is(err, access.ErrElsewhere) {
		err = fmt.Errorf("%w; elsewhere the page needs TLS (certificate and key) and credentials (user and password)", err)
	}
	return l, err
}

// URL returns the address of the page, with the secret if visitors need it.
func (s *Server) URL() string { return s.o.Address(s.origin()) }

// origin returns the address without the secret.
func (s *Server) origin() string {
	scheme := "http"
	if s.o.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + s.listen.Addr().String() + "/"
}

// HealthURL returns the address of the probes, "" without Options.Health.
func (s *Server) HealthURL() string {
	if s.health == nil {
		return ""
	}
	return "http://" + s.health.listen.Addr().String() + "/"
}

// Close stops the server.
func (s *Server) Close() {
	s.close()
	if s.health != nil {
		s.health.close()
	}
}

// probes adds the handlers of /healthz and /readyz.
func (s *Server) probes(mux *http.ServeMux) *http.ServeMux {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "alive\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if s.latest.ready(r.Context()) {
			_, _ = io.WriteString(w, "ready\n")
		} else {
			http.Error(w, "not ready: no coordinator answers", http.StatusServiceUnavailable)
		}
	})
	return mux
}

func (s *Server) routes() http.Handler {
	mux := s.probes(http.NewServeMux())
	for path, file := range map[string]string{"GET /{$}": "page.html", "GET /page.css": "page.css", "GET /page.js": "page.js"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, file) })
	}
	mux.HandleFunc("GET /viewer.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		_, _ = w.Write(page.Style())
	})
	mux.HandleFunc("GET /status.json", s.status)
	mux.Handle("GET /metrics", s.metrics())
	if s.o.Profile {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// latest asks the farm for its status at most once in a while, however many ask it: the probes are open to everybody.
type latest struct {
	source Source

	mu     sync.Mutex
	asked  time.Time
	status *farm.Status
	err    error
	ok     time.Time // of the last status
}

const (
	every    = time.Second      // a status is that new
	lenience = 20 * time.Second // for another coordinator to take over
)

// Status returns the status of the farm.
func (l *latest) Status(ctx context.Context) (*farm.Status, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.asked) < every {
		return l.status, l.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience/2) // others wait for this answer
	defer cancel()
	l.status, l.err = l.source.Status(ctx)
	if l.asked = time.Now(); l.err == nil {
		l.ok = l.asked
	}
	return l.status, l.err
}

// ready reports whether the farm has sent its status recently.
func (l *latest) ready(ctx context.Context) bool {
	_, _ = l.Status(ctx) // an error leaves ok as it is
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.ok) < lenience
}

// policy lets the page load only its own files, and forbids building markup from text.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	st, err := s.latest.Status(r.Context())
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
		return
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(st)
}
