// Package web shows a farm over HTTP: one page that follows the farm by server-sent events,
// /status.json, /metrics for Prometheus, /healthz and /readyz, and /debug/pprof/ if requested. It
// changes nothing in the farm.
package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
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
	"time"

	"moonfarm/rollout/farm"
)

// Source returns the state of a farm.
type Source interface {
	Status(ctx context.Context) (*farm.Status, error)
}

// Options configure a Server.
type Options struct {
	Listen string // host:port, port 0 for any
	// Cert and Key are files of TLS, User and Password the credentials of visitors. Beyond loopback
	// all four are needed.
	Cert, Key      string
	User, Password string
	Profile        bool // serve /debug/pprof/
	// Health is a host:port where /healthz and /readyz are served as well, for everybody and
	// without TLS; "" for no such address.
	Health string
	Log    *slog.Logger
}

// Server shows a farm until it is closed.
type Server struct {
	o      Options
	source Source
	listen net.Listener
	http   http.Server
	live   *live
	health *health // nil without Options.Health
	stop   context.CancelFunc
	conns  *conns
	ended  chan struct{}
}

const (
	maxConns = 256              // open connections
	patience = 10 * time.Second // for a visitor to read an answer, and for the source to answer
)

//go:embed page.html page.css page.js
var page embed.FS

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
	l, err := listen(&o)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{o: o, source: source, listen: l, stop: stop, ended: make(chan struct{})}
	if s.o.Log == nil {
		s.o.Log = slog.New(slog.DiscardHandler)
	}
	s.live = newLive(source)
	s.http = http.Server{
		Handler: s.guard(s.routes()), BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: patience, WriteTimeout: patience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		TLSConfig: &tls.Config{Certificates: certificates, MinVersion: tls.VersionTLS12},
		ErrorLog:  slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	s.conns = limit(&s.http, maxConns)
	if o.Health != "" {
		if s.health, err = serveHealth(o.Health, s.probes(http.NewServeMux())); err != nil {
			stop()
			l.Close()
			return nil, fmt.Errorf("health: %w", err)
		}
	}
	go s.live.follow(ctx)
	go func() {
		defer close(s.ended)
		serve := s.http.Serve
		if certificates != nil {
			serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
		}
		err := serve(l)
		if !errors.Is(err, http.ErrServerClosed) {
			s.o.Log.Error("the page is no longer shown", "url", s.URL(), "err", err)
		}
	}()
	return s, nil
}

// listen opens the listener. It refuses an unsafe address.
func listen(o *Options) (net.Listener, error) {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("page on %q: want host:port: %w", o.Listen, err)
	}
	safe := o.Cert != "" && o.User != ""
	if !safe && !loopback(host) {
		return nil, fmt.Errorf("page on %q: beyond loopback a page needs TLS (certificate and key) and credentials (user and password)", o.Listen)
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); !safe && (!ok || !a.IP.IsLoopback()) { // a name may resolve to any address
		l.Close()
		return nil, fmt.Errorf("page on %q: %s is not loopback", o.Listen, l.Addr())
	}
	return l, nil
}

// loopback reports whether a host, as in an address or a URL, is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// URL returns the address of the page.
func (s *Server) URL() string {
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
	s.stop()
	s.http.Close()
	<-s.ended
	if s.health != nil {
		s.health.close()
	}
}

// probes adds the handlers of /healthz and /readyz.
func (s *Server) probes(mux *http.ServeMux) *http.ServeMux {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s.live.ready() {
			say(w, http.StatusOK, "ready")
		} else {
			say(w, http.StatusServiceUnavailable, "not ready: no coordinator answers")
		}
	})
	return mux
}

func (s *Server) routes() http.Handler {
	mux := s.probes(http.NewServeMux())
	for path, file := range map[string]string{"GET /{$}": "page.html", "GET /page.css": "page.css", "GET /page.js": "page.js"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, page, file) })
	}
	mux.HandleFunc("GET /events", s.live.serve)
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

// say answers with one line.
func say(w http.ResponseWriter, code int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, line+"\n")
}

// policy lets the page load only its own files, and forbids building markup from text.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// guard admits visitors with the right credentials. Without credentials the Host must be this
// machine's: otherwise a web page could read the farm through a domain name that resolves to
// loopback.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for k, v := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			h.Set(k, v)
		}
		probe := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
		switch {
		case s.o.User == "" && !loopback(hostOf(r.Host)):
			say(w, http.StatusMisdirectedRequest, "want a Host of this machine, such as localhost")
		case s.o.User != "" && !probe && !s.knows(r):
			h.Set("WWW-Authenticate", `Basic realm="moonfarm", charset="UTF-8"`)
			say(w, http.StatusUnauthorized, "want user and password")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hostOf returns a Host without its port.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		return host[1 : n-1]
	}
	return host
}

// knows compares user and password in constant time.
func (s *Server) knows(r *http.Request) bool {
	user, password, _ := r.BasicAuth()
	same := func(a, b string) int {
		x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
		return subtle.ConstantTimeCompare(x[:], y[:])
	}
	return same(user, s.o.User)&same(password, s.o.Password) == 1
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience/2)
	defer cancel()
	st, err := s.source.Status(ctx)
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
