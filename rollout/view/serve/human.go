package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"moonfarm/rollout/view"
	"moonfarm/rollout/view/human"
	"moonfarm/sim/bounded"
)

// maxAnswer bounds what a person's page sends, in bytes.
const maxAnswer = 1 << 20

var done = map[string]bool{"done": true}

// ListenHuman is Listen for a game with a person.
func ListenHuman(address string, hosts []string, t *human.Session) (*Server, error) {
	s := &seat{session: t}
	mux := routes(s.source)
	mux.HandleFunc("GET /offer.json", answered(s.offer))
	mux.HandleFunc("POST /choose", answered(s.choose))
	mux.HandleFunc("POST /undo", answered(func(*http.Request) (any, error) {
		undone, err := t.Undo()
		return map[string]bool{"done": undone}, err
	}))
	mux.HandleFunc("POST /draft", answered(s.draft))
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

// seat serves a session.
type seat struct {
	session *human.Session

	mu        sync.Mutex
	responder *view.Responder
	version   int
}

func (s *seat) source() (view.Answerer, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.session.Version(); s.responder == nil || v != s.version {
		games := s.session.GameList()
		games.Person = &view.Person{Seat: s.session.Seat()}
		s.responder, s.version = view.NewResponder(games), v
	}
	return s.responder, s.version, nil
}

// offer answers offer.json: what can be chosen now, with the options of the head that the request names.
func (s *seat) offer(r *http.Request) (any, error) {
	head := human.AllHeads
	if text := r.URL.Query().Get("head"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("head=%.40q: expected a whole number", text)
		}
		head = n
	}
	return s.session.Offer(head), nil
}

func (s *seat) choose(r *http.Request) (any, error) {
	a, err := answer(r)
	if err != nil {
		return nil, err
	}
	return done, s.session.Choose(a)
}

func (s *seat) draft(r *http.Request) (any, error) {
	a, err := answer(r)
	if err != nil {
		return nil, err
	}
	return s.session.Draft(a)
}

// answer reads what the person chooses.
func answer(r *http.Request) (a human.Answer, err error) {
	body, err := bounded.Read(r.Body, maxAnswer)
	if err == nil {
		err = json.Unmarshal(body, &a)
	}
	if err != nil {
		return a, fmt.Errorf("the choice cannot be read: %w", err)
	}
	return a, nil
}
