package serve

import (
	"encoding/json"
	"errors"
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

// ListenHuman is Listen for a game with a person.
func ListenHuman(address string, hosts []string, page []byte, t *human.Session) (*Server, error) {
	s := &seat{session: t}
	mux := routes(page, s.source)
	mux.HandleFunc("GET /offer.json", s.offer)
	mux.HandleFunc("POST /choose", change(s.choose))
	mux.HandleFunc("POST /undo", change(func(*http.Request) (any, error) {
		done, err := t.Undo()
		return map[string]bool{"done": done}, err
	}))
	mux.HandleFunc("POST /draft", change(s.draft))
	mux.HandleFunc("POST /hint", change(func(*http.Request) (any, error) { return t.Hint() }))
	return listen(address, hosts, mux)
}

// ListenLive is Listen for a game that is being played.
func ListenLive(address string, hosts []string, page []byte, l *view.Live) (*Server, error) {
	mux := routes(page, func() (view.Answerer, int, error) { return l, l.Version(), nil })
	for path, do := range map[string]func(){"hold": func() { l.Hold(true) }, "go": func() { l.Hold(false) }, "step": l.Step} {
		mux.HandleFunc("POST /"+path, change(func(*http.Request) (any, error) {
			do()
			return map[string]bool{"done": true}, nil
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

// source is the Source of the session.
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
func (s *seat) offer(w http.ResponseWriter, r *http.Request) {
	head := human.AllHeads
	if text := r.URL.Query().Get("head"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			fail(w, fmt.Errorf("head=%.40q: expected a whole number", text))
			return
		}
		head = n
	}
	text, err := json.Marshal(s.session.Offer(head))
	if err != nil {
		fail(w, err)
		return
	}
	write(w, r, "application/json", text)
}

// choose plays what the person chooses.
func (s *seat) choose(r *http.Request) (any, error) {
	a, err := answer(r)
	if err != nil {
		return nil, err
	}
	return map[string]bool{"done": true}, s.session.Choose(a)
}

// draft answers what the person's orders would do.
func (s *seat) draft(r *http.Request) (any, error) {
	a, err := answer(r)
	if err != nil {
		return nil, err
	}
	text, err := s.session.Draft(a)
	return json.RawMessage(text), err
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

// change answers a request that changes something.
func change(do func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, err := do(r)
		if errors.Is(err, human.ErrLate) || errors.Is(err, human.ErrOver) || errors.Is(err, human.ErrTogether) {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		if err != nil {
			fail(w, err)
			return
		}
		text, err := json.Marshal(answer)
		if err != nil {
			fail(w, err)
			return
		}
		write(w, r, "application/json", text)
	}
}
