// Package serve answers a browser that shows games: the page, and the JSON that package view makes. It
// listens on loopback only, and answers those who have the secret of its address.
package serve

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"moonfarm/rollout/access"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/human"
	"moonfarm/rollout/view/page"
	"moonfarm/sim/bounded"
)

// Source returns what is shown now, and a number that is another one after each change. It may be called by
// several goroutines at once.
type Source func() (responder view.Answerer, version int, err error)

// Server shows games until it is closed.
type Server struct {
	access access.Control
	listen net.Listener
	http   http.Server
	ended  chan struct{}
}

const (
	readPatience  = 10 * time.Second
	writePatience = time.Minute // for the visitor to read an answer, and for long games to be played up to a position
)

// policy is for all answers; the page has the rest of its own.
const policy = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Listen starts to show the source with its page, at a host:port of this machine, port 0 for any. hosts are the names under
// which a proxy forwards visitors to it.
func Listen(address string, hosts []string, source Source) (*Server, error) {
	return listen(address, hosts, routes(source))
}

// listen serves a handler at an address of this machine.
func listen(address string, hosts []string, routes http.Handler) (*Server, error) {
	l, err := access.Listen(address)
	if err != nil {
		return nil, err
	}
	s := &Server{access: access.Control{Token: access.NewToken(), Hosts: hosts, Policy: policy}, listen: l, ended: make(chan struct{})}
	s.http = http.Server{
		Handler: s.access.Guard(routes), ReadTimeout: readPatience, WriteTimeout: writePatience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(l) // until it is closed
	}()
	return s, nil
}

// URL returns the address of the page, with the secret that visitors need.
func (s *Server) URL() string { return s.access.Address("http://" + s.listen.Addr().String() + "/") }

// Close ends the server.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil { // a visitor does not read
		s.http.Close()
	}
	<-s.ended
}

func routes(source Source) *http.ServeMux {
	mux, html := http.NewServeMux(), page.HTML(nil)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { write(w, r, "text/html; charset=utf-8", html) })
	mux.HandleFunc("GET /version.json", answered(func(*http.Request) (any, error) {
		_, version, err := source()
		return map[string]int{"version": version}, err
	}))
	mux.HandleFunc("GET /{name}", answered(func(r *http.Request) (any, error) {
		responder, _, err := source()
		if err != nil {
			return nil, err
		}
		return responder.Answer(r.PathValue("name") + "?" + r.URL.RawQuery)
	}))
	return mux
}

// answered answers requests with what do returns, as JSON unless it is a text.
func answered(do func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, err := do(r)
		text, isText := answer.([]byte)
		if !isText && err == nil {
			text, err = json.Marshal(answer)
		}
		if err != nil {
			fail(w, err)
			return
		}
		write(w, r, "application/json", text)
	}
}

func fail(w http.ResponseWriter, err error) {
	code := http.StatusBadRequest
	switch {
	case errors.As(err, new(*view.UnknownError)):
		code = http.StatusNotFound
	case errors.Is(err, human.ErrLate) || errors.Is(err, human.ErrOver) || errors.Is(err, human.ErrTogether):
		code = http.StatusConflict
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

// maxAnswer bounds what a person's page sends, in bytes.
const maxAnswer = 1 << 20

var done = map[string]bool{"done": true}

// ListenHuman is Listen for a game with a person.
func ListenHuman(address string, hosts []string, t *human.Session) (*Server, error) {
	mux := routes(sourceOf(t))
	mux.HandleFunc("GET /offer.json", answered(func(r *http.Request) (any, error) {
		head, text := human.AllHeads, r.URL.Query().Get("head")
		if text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, fmt.Errorf("head=%.40q: expected a whole number", text)
			}
			head = n
		}
		return t.Offer(head), nil // with the options of the head that the request names
	}))
	mux.HandleFunc("POST /choose", choosing(func(a human.Answer) (any, error) { return done, t.Choose(a) }))
	mux.HandleFunc("POST /draft", choosing(func(a human.Answer) (any, error) { return t.Draft(a) }))
	mux.HandleFunc("POST /undo", answered(func(*http.Request) (any, error) {
		undone, err := t.Undo()
		return map[string]bool{"done": undone}, err
	}))
	mux.HandleFunc("POST /hint", answered(func(*http.Request) (any, error) { return t.Hint() }))
	return listen(address, hosts, mux)
}

// ListenLive is Listen for a game that is being played.
func ListenLive(address string, hosts []string, l *view.Live) (*Server, error) {
	mux := routes(func() (view.Answerer, int, error) { return l, l.Version(), nil })
	for path, do := range map[string]func(){"hold": func() { l.Hold(true) }, "go": func() { l.Hold(false) }, "step": l.Step} {
		mux.HandleFunc("POST /"+path, answered(func(*http.Request) (any, error) {
			do()
			return done, nil
		}))
	}
	return listen(address, hosts, mux)
}

// sourceOf returns the Source of a session, whose versions begin with 1.
func sourceOf(t *human.Session) Source {
	var mu sync.Mutex
	var responder *view.Responder
	version := 0
	return func() (view.Answerer, int, error) {
		mu.Lock()
		defer mu.Unlock()
		if v := t.Version(); v != version {
			games := t.GameList()
			games.Person = &view.Person{Seat: t.Seat()}
			responder, version = view.NewResponder(games), v
		}
		return responder, version, nil
	}
}

// choosing answers requests in which a person says what it chooses.
func choosing(do func(a human.Answer) (any, error)) http.HandlerFunc {
	return answered(func(r *http.Request) (any, error) {
		var a human.Answer
		body, err := bounded.Read(r.Body, maxAnswer)
		if err == nil {
			err = json.Unmarshal(body, &a)
		}
		if err != nil {
			return nil, fmt.Errorf("the choice cannot be read: %w", err)
		}
		return do(a)
	})
}
