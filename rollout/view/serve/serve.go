// Package serve answers a browser that shows games: the page, and the JSON that package view makes. It
// listens on loopback only, and changes nothing.
package serve

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"moonfarm/rollout/view"
)

// Source returns what is shown now, and a number that is another one after each change. It may be called by
// several goroutines at once.
type Source func() (responder view.Answerer, version int, err error)

// Server shows games until it is closed.
type Server struct {
	listen net.Listener
	http   http.Server
	ended  chan struct{}
}

const (
	readPatience  = 10 * time.Second
	writePatience = time.Minute // for the visitor to read an answer, and for long games to be played up to a position
)

// Listen starts to show the source with a page, at a host:port of this machine, port 0 for any.
func Listen(address string, page []byte, source Source) (*Server, error) {
	return listen(address, routes(page, source))
}

// listen serves a handler at an address of this machine.
func listen(address string, routes http.Handler) (*Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q: expected host:port: %w", address, err)
	}
	if !loopback(host) {
		return nil, fmt.Errorf("%q: expected an address of this machine, such as 127.0.0.1:8080", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() { // a name may stand for any address
		l.Close()
		return nil, fmt.Errorf("%q: %s is not this machine alone", address, l.Addr())
	}
	s := &Server{listen: l, ended: make(chan struct{})}
	s.http = http.Server{
		Handler: guard(routes), ReadTimeout: readPatience, WriteTimeout: writePatience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(l) // until it is closed
	}()
	return s, nil
}

// URL returns the address of the page.
func (s *Server) URL() string { return "http://" + s.listen.Addr().String() + "/" }

// Close ends the server.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil { // a visitor does not read
		s.http.Close()
	}
	<-s.ended
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// guard admits only visitors who name this machine: a page of another site could otherwise read the games
// through a name of its own that resolves to loopback.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for k, v := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store",
			"Content-Security-Policy": "base-uri 'none'; form-action 'none'; frame-ancestors 'none'", // the page has the rest
		} {
			w.Header().Set(k, v)
		}
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		origin := r.Header.Get("Origin")
		switch {
		case !loopback(host):
			http.Error(w, "expected a Host of this machine, such as localhost", http.StatusMisdirectedRequest)
		case origin != "" && origin != "http://"+r.Host:
			http.Error(w, "expected no request from another site", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// routes answers the page's requests.
func routes(page []byte, source Source) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { write(w, r, "text/html; charset=utf-8", page) })
	mux.HandleFunc("GET /version.json", func(w http.ResponseWriter, r *http.Request) {
		_, version, err := source()
		if err != nil {
			fail(w, err)
			return
		}
		write(w, r, "application/json", []byte(`{"version":`+strconv.Itoa(version)+`}`))
	})
	mux.HandleFunc("GET /{name}", func(w http.ResponseWriter, r *http.Request) {
		responder, _, err := source()
		if err != nil {
			fail(w, err)
			return
		}
		text, err := responder.Answer(r.PathValue("name") + "?" + r.URL.RawQuery)
		if err != nil {
			fail(w, err)
			return
		}
		write(w, r, "application/json", text)
	})
	return mux
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	code := http.StatusBadRequest
	if errors.As(err, new(*view.UnknownError)) {
		code = http.StatusNotFound
	}
	http.Error(w, err.Error(), code)
}

// write answers with a text, compressed if the visitor can read that.
func write(w http.ResponseWriter, r *http.Request, kind string, text []byte) {
	w.Header().Set("Content-Type", kind)
	if len(text) < 1024 || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(text) // the visitor may have gone
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is right
	_, _ = z.Write(text)
	_ = z.Close()
}
