package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"moonfarm/features"
)

// Answerer answers the page's questions. It may be used by several goroutines at once.
type Answerer interface {
	// Answer returns the JSON that a name stands for: "film.json?game=3".
	Answer(question string) ([]byte, error)
}

// Responder answers the page's questions about a game list. It may be used by several goroutines at once.
type Responder struct {
	// Progress, if not nil, is called by Everything with the number of games that are done, and of all.
	Progress func(done, all int)

	list GameList
	*openFilms
}

type openFilms struct {
	mu    sync.Mutex
	films []*opened // the latest first
}

type opened struct {
	id   uint64
	film *Film
}

// mostOpen is the number of films that stay open.
const mostOpen = 4

// NewResponder returns the responder of a game list.
func NewResponder(s GameList) *Responder { return &Responder{list: s, openFilms: &openFilms{}} }

// Grown returns the responder of a list that has the games of the list before and further ones. Films that are open
// stay open.
func (r *Responder) Grown(s GameList) *Responder { return &Responder{list: s, openFilms: r.openFilms} }

// UnknownError means that a question names nothing that there is.
type UnknownError struct{ Question string }

// Error implements error.
func (u *UnknownError) Error() string { return fmt.Sprintf("nothing is called %.100q", u.Question) }

// Answer returns the JSON that a name stands for: "film.json?game=3".
func (r *Responder) Answer(question string) ([]byte, error) {
	v, path, err := asked(question)
	if err != nil {
		return nil, err
	}
	switch path {
	case "list.json":
		return json.Marshal(r.list.Head())
	case "games.json":
		return r.games(v)
	case "overview.json":
		return r.overview(question)
	case "film.json":
		return r.film(v, func(f *Film) ([]byte, error) { return f.Head() })
	case "stats.json":
		return r.film(v, func(f *Film) ([]byte, error) { return f.Stats() })
	case "paths.json":
		from := v.number("from", 0)
		return r.film(v, func(f *Film) ([]byte, error) { return f.Paths(from) })
	case "frames.json":
		seat, from := v.number("seat", features.Spectator), v.number("from", 0)
		return r.film(v, func(f *Film) ([]byte, error) { return f.Frames(seat, from) })
	}
	return nil, &UnknownError{question}
}

// asked splits a question into its name and its arguments.
func asked(question string) (*values, string, error) {
	u, err := url.Parse(question)
	if err != nil || u.IsAbs() || u.Host != "" {
		return nil, "", &UnknownError{question}
	}
	return &values{u.Query(), nil}, strings.TrimPrefix(u.Path, "/"), nil
}

type gamesAnswer struct {
	Total uint64  `json:"total"`
	Games []Entry `json:"games"`
}

func (r *Responder) games(v *values) ([]byte, error) {
	q := Query{From: v.number("from", 0), Count: v.number("count", 50), Sort: v.Get("sort"), Policy: v.Get("policy"), Against: v.Get("against"), Outcome: v.Get("outcome")}
	if v.err != nil {
		return nil, v.err
	}
	list, total, err := r.list.Games(q)
	if err != nil {
		return nil, err
	}
	if list == nil {
		list = []Entry{}
	}
	return json.Marshal(gamesAnswer{total, list})
}

func (r *Responder) overview(question string) ([]byte, error) {
	if !r.list.Head().Overview {
		return nil, &UnknownError{question}
	}
	o, err := r.list.Overview()
	if err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// film answers a question about the film of a game.
func (r *Responder) film(v *values, answer func(f *Film) ([]byte, error)) ([]byte, error) {
	id, err := strconv.ParseUint(v.Get("game"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("game=%.40q: expected the number of a game", v.Get("game"))
	}
	if v.err != nil {
		return nil, v.err
	}
	f, err := r.open(id)
	if err != nil {
		return nil, err
	}
	return answer(f)
}

// open returns the film of a game, which may be open already.
func (r *Responder) open(id uint64) (*Film, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.films, func(o *opened) bool { return o.id == id })
	if i >= 0 {
		o := r.films[i]
		r.films = slices.Insert(slices.Delete(r.films, i, i+1), 0, o)
		return o.film, nil
	}
	f, err := r.list.Film(id)
	if err != nil {
		return nil, err
	}
	r.films = slices.Insert(r.films, 0, &opened{id, f})
	r.films = r.films[:min(len(r.films), mostOpen)]
	return f, nil
}

// values are the arguments of a question.
type values struct {
	url.Values
	err error // of the first argument that is no number
}

// number returns an argument, or without it the default.
func (v *values) number(name string, without int) int {
	text := v.Get(name)
	if text == "" {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil && v.err == nil {
		v.err = fmt.Errorf("%s=%.40q: expected a whole number", name, text)
	}
	return n
}

// ErrMany marks errors of games that are too many for a page without a server.
var ErrMany = errors.New("choose fewer games")

// Everything returns all answers about a game list, by question, for a page without a server. It fails if they
// have more than `most` bytes, or the game list has more games than a list may have.
func (r *Responder) Everything(most int) (map[string][]byte, error) {
	all, size := map[string][]byte{}, 0
	list, total, err := r.list.Games(Query{Count: MostListed})
	if err != nil {
		return nil, err
	}
	if total > MostListed {
		return nil, fmt.Errorf("%d games, a page holds at most %d: %w", total, MostListed, ErrMany)
	}
	questions := []string{"list.json"}
	if r.list.Head().Overview {
		questions = append(questions, "overview.json")
	}
	for _, x := range list {
		f, err := r.open(x.ID)
		if errors.Is(err, errNoFilm) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"film", "stats"} {
			questions = append(questions, fmt.Sprintf("%s.json?game=%d", name, x.ID))
		}
		for from := 0; f.head.Paths && from <= f.Turns(); from += Chunk {
			questions = append(questions, fmt.Sprintf("paths.json?game=%d&from=%d", x.ID, from))
		}
		for seat := features.Spectator; seat < f.Seats() && (seat < 0 || f.Fog()); seat++ {
			for from := 0; from <= f.Turns(); from += Chunk {
				questions = append(questions, fmt.Sprintf("frames.json?game=%d&seat=%d&from=%d", x.ID, seat, from))
			}
		}
	}
	for i, q := range questions {
		answer, err := r.Answer(q)
		if err != nil {
			return nil, err
		}
		if size += len(answer); size > most {
			return nil, fmt.Errorf("more than %d MB for one page: %w", most>>20, ErrMany)
		}
		all[q] = answer
		if r.Progress != nil {
			r.Progress(i*len(list)/len(questions), len(list))
		}
	}
	answer, err := r.Answer(fmt.Sprintf("games.json?from=0&count=%d", MostListed))
	all["games.json?from=0&count=50"] = answer
	return all, err
}
