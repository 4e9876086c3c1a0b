package web

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// conns are the open connections of one http.Server, at most `most` at a time. A new connection
// beyond that closes the oldest one without a request in progress, so silent or slow connections do
// not keep others out.
type conns struct {
	most int

	mu   sync.Mutex
	next uint64 // number of the next connection
	open map[net.Conn]*conn
}

// conn is an open connection.
type conn struct {
	number    uint64
	answering atomic.Int64 // requests
}

// connKey is the key of a request's conn in its context.
type connKey struct{}

func newConns(most int) *conns { return &conns{most: most, open: map[net.Conn]*conn{}} }

// enter registers a connection; it is http.Server.ConnContext.
func (s *conns) enter(ctx context.Context, c net.Conn) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &conn{number: s.next}
	s.next++
	s.open[c] = k
	if len(s.open) > s.most {
		oldest := c
		for o, v := range s.open {
			if v.answering.Load() == 0 && v.number < s.open[oldest].number {
				oldest = o
			}
		}
		delete(s.open, oldest)
		if t, ok := oldest.(*tls.Conn); ok {
			oldest = t.NetConn() // closing the TLS connection would first send a message
		}
		_ = oldest.Close() // only frees the place
	}
	return context.WithValue(ctx, connKey{}, k)
}

// state removes a closed connection; it is http.Server.ConnState.
func (s *conns) state(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, c)
	}
}

// handler marks the connection of a request while it is answered.
func (s *conns) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if k, ok := r.Context().Value(connKey{}).(*conn); ok {
			k.answering.Add(1)
			defer k.answering.Add(-1)
		}
		next.ServeHTTP(w, r)
	})
}

// site is an http.Server at an address.
type site struct {
	listen net.Listener
	http   http.Server
	conns  *conns
	ended  sync.WaitGroup
}

// start serves at most most connections until close is called. failed gets the error of an earlier end.
func (s *site) start(most int, encrypted bool, failed func(error)) {
	s.conns = newConns(most)
	s.http.ConnContext, s.http.ConnState, s.http.Handler = s.conns.enter, s.conns.state, s.conns.handler(s.http.Handler)
	s.ended.Go(func() {
		serve := s.http.Serve
		if encrypted {
			serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
		}
		if err := serve(s.listen); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	})
}

func (s *site) close() {
	s.http.Close()
	s.ended.Wait()
}

const (
	maxProbes     = 64              // most open connections of probes
	probePatience = 2 * time.Second // for a probe to send its request and read the answer
)

// serveHealth serves only the probes, at a separate address, so that a client that fills the page's
// connections does not block them. Their answers are two words at most, for everybody.
func serveHealth(address string, probes http.Handler) (*site, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	h := &site{listen: l, http: http.Server{Handler: probes, ReadTimeout: probePatience, WriteTimeout: probePatience, IdleTimeout: probePatience, MaxHeaderBytes: 4 << 10}}
	h.start(maxProbes, false, func(error) {})
	return h, nil
}
