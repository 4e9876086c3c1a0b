package view

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"moonfarm/features"
)

// Live is a game that is being played elsewhere, as far as it has come. It answers the page's questions as a Responder
// does, and can hold the game. It may be used by several goroutines at once.
type Live struct {
	entry  Entry
	game   string
	output *Output

	mu       sync.Mutex
	changed  chan struct{} // closed and made again when held or steps change
	version  int
	head     head
	tracks   map[int][]*writer // the chunks of a view, by seat or Spectator
	numbers  []byte            // of stats.json
	drawings drawings
	held     bool
	steps    int // turns that are let through while the game is held
}

// NewLive returns a game of players that has not begun. With hold it waits for Step before each turn.
func NewLive(game, name string, players []string, hold bool) *Live {
	return &Live{
		game: game, entry: Entry{Name: name, Players: players, Status: "running", Winner: -1, Scores: []string{}},
		changed: make(chan struct{}), tracks: map[int][]*writer{}, held: hold, output: NewOutput(len(players)),
	}
}

// Show adds the next position, which scene draws as a seat, or a Spectator, sees it.
func (l *Live) Show(scene func(dst *features.Scene, seat int)) {
	var s features.Scene
	scene(&s, features.Spectator)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tracks) == 0 {
		l.head = newHead(&s)
		l.head.Game, l.head.Name, l.head.Players, l.head.Seats = l.game, l.entry.Name, l.entry.Players, len(l.entry.Players)
		var own features.Scene
		scene(&own, 0)
		l.head.Fog = hides(&own)
		l.tracks[features.Spectator] = nil
		for seat := 0; seat < l.head.Seats && l.head.Fog; seat++ {
			l.tracks[seat] = nil
		}
	} else {
		l.head.Turns++
		l.numbers = append(l.numbers, ',')
	}
	l.numbers = l.head.appendStats(l.numbers, &s, l.head.Turns)
	for seat, chunks := range l.tracks {
		if l.head.Turns%Chunk == 0 {
			chunks = append(chunks, newWriter(&l.head, l.head.Turns))
			l.tracks[seat] = chunks
		}
		w := chunks[len(chunks)-1]
		w.position()
		scene(&s, seat)
		w.frame(&s)
	}
	l.entry.Turns = l.head.Turns
	l.version++
}

// Wait waits while the game is held, until Step or ctx is done.
func (l *Live) Wait(ctx context.Context) error {
	for {
		l.mu.Lock()
		changed, wait := l.changed, l.held && l.steps == 0
		if !wait && l.held {
			l.steps--
		}
		l.mu.Unlock()
		if !wait {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Hold holds the game before its next turn, or lets it go on.
func (l *Live) Hold(held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held, l.steps = held, 0
	l.wake()
}

// mostSteps bounds the turns that wait to be let through.
const mostSteps = 1000

// Step lets one turn through, and holds the game after it.
func (l *Live) Step() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held, l.steps = true, min(l.steps+1, mostSteps)
	l.wake()
}

// wake ends the waiting of all. It is called with the lock held.
func (l *Live) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
	l.version++
}

// Mark marks the turn that the game has come to.
func (l *Live) Mark(kind string, seat int, note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const most = 1000
	if len(l.head.Marks) < most {
		l.head.Marks = append(l.head.Marks, Mark{Turn: l.head.Turns, Kind: kind, Seat: seat, Note: note})
		l.version++
	}
}

// Log returns a writer for the log of a seat's bot: see Output.Log.
func (l *Live) Log(seat int) io.Writer { return l.output.Log(seat) }

// End says how the game has ended.
func (l *Live) End(winner int, scores []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entry.Status, l.entry.Winner, l.entry.Scores = "over", winner, scores
	l.version++
}

// Version returns a number that is another one after each change.
func (l *Live) Version() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version + l.output.version()
}

// Answer is Responder.Answer.
func (l *Live) Answer(question string) ([]byte, error) {
	v, path, err := asked(question)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch path {
	case "list.json":
		return json.Marshal(ListHead{Title: l.game, Kind: "games", Total: 1, Policies: l.entry.Players, Live: true, Held: &l.held})
	case "games.json":
		return json.Marshal(gamesAnswer{1, []Entry{l.entry}})
	}
	if v.Get("game") != "0" || len(l.tracks) == 0 {
		return nil, fmt.Errorf("game=%.40q: expected 0, once the game has begun", v.Get("game"))
	}
	switch path {
	case "film.json":
		l.head.Printed = l.output.Any()
		return json.Marshal(&l.head)
	case "stats.json":
		return append(append([]byte(`{"turns":[`), l.numbers...), `]}`...), nil
	case "frames.json":
		seat, from := v.number("seat", features.Spectator), v.number("from", 0)
		chunks := l.tracks[seat]
		if v.err != nil || from < 0 || from%Chunk != 0 || from/Chunk >= len(chunks) {
			return nil, fmt.Errorf("seat=%.40q and from=%.40q: there is no such part of the game", v.Get("seat"), v.Get("from"))
		}
		text, err := chunks[from/Chunk].chunk([][][]string{}, l.output)
		if err != nil {
			return nil, err
		}
		return l.drawings.addTo(text, seat, from, l.head.Turns)
	}
	return nil, &UnknownError{strings.TrimSpace(question)}
}
