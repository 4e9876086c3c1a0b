// Package view makes what a page needs to show games to a person: films, whose positions are scenes, and
// game lists. It knows no game and serves nothing: package page draws, package serve
// answers a browser.
package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Chunk is the number of positions that a page asks for at once.
const Chunk = 32

// Game is a game to show.
type Game struct {
	ID      uint64
	Name    string           // "" if it has none
	Vector  env.Vector       // one game, by the rules of the episode, or one that goes through its recorded states
	Episode *rollout.Episode // not to be changed
	Marks   []Mark
	Series  []Series
	// Searches are the results of the seats' searches, with choices of the vector's form; nil: there are none.
	Searches *rollout.SearchResults
	// Orders returns orders as texts for people; nil if there are none.
	Orders func(orders []sim.Order) []string
}

// Series is a number of each seat before each turn that the scenes do not have, such as the value of a search.
type Series struct {
	Name, Unit string
	Values     []float32 // of seat p before turn t at t·seats + p; NaN: none
}

// Mark is a turn that a person may want to see.
type Mark struct {
	Turn int    `json:"turn"`
	Kind string `json:"kind"` // "fault", "worst" or "event"
	Seat int    `json:"seat"`
	Note string `json:"note"`
}

// Film shows a game: its positions, from the start to the end. It may be used by several goroutines
// at once.
type Film struct {
	game Game
	head head

	mu    sync.Mutex
	at    int            // the position of the vector
	kept  map[int][]byte // snapshots, by position
	batch *env.Batch
	turn  *sim.Turn

	output *Output // nil: nobody printed anything
}

// statKey names a number of a seat.
type statKey struct {
	name string
	seat int8
}

// head describes a film to the page.
type head struct {
	Game    string     `json:"game"`
	ID      uint64     `json:"id"`
	Name    string     `json:"name"`
	Players []string   `json:"players"`
	Seats   int        `json:"seats"`
	Fog     bool       `json:"fog"` // a seat sees less than a spectator
	Turns   int        `json:"turns"`
	Chunk   int        `json:"chunk"`
	Width   float32    `json:"width"`
	Height  float32    `json:"height"`
	Up      bool       `json:"up"`
	Word    string     `json:"word"` // for a turn
	Marks   []Mark     `json:"marks"`
	Stats   []headStat `json:"stats"`
	Moves   bool       `json:"moves"`   // chunks have the moves of searches
	Printed bool       `json:"printed"` // chunks have what the bots printed
	Paths   bool       `json:"paths"`   // paths.json has ways of units

	stats  map[statKey]int // the place in Stats
	series []Series        // after the numbers of the scenes
}

type headStat struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Seat int    `json:"seat"`
}

// NewFilm returns the film of a game. It fails if the game has no pictures, or the episode is not one of
// the vector's game.
func NewFilm(g Game) (*Film, error) {
	s := g.Vector.Spec()
	start := &features.Scene{}
	g.Vector.Reset(0, g.Episode.Seed)
	if !g.Vector.Scene(start, 0, features.Spectator) {
		return nil, fmt.Errorf("%s has no pictures", s.Info.Name)
	}
	e := g.Episode
	if e.Players != s.Info.Players || len(e.Ends) != e.Turns*e.Players {
		return nil, fmt.Errorf("an episode of %d seats and %d turns with %d ends of orders; %s has %d seats", e.Players, e.Turns, len(e.Ends), s.Info.Name, s.Info.Players)
	}
	f := &Film{
		game: g, batch: env.NewBatch(s, 1, 0), turn: sim.NewTurn(s.Info.MaxOrders), kept: map[int][]byte{},
		head: newHead(start),
	}
	h := &f.head
	h.Game, h.ID, h.Name, h.Players, h.Seats, h.Turns = s.Info.Name, g.ID, g.Name, e.Policies, e.Players, e.Turns
	h.Moves = g.Searches != nil
	h.Paths = g.Vector.Paths(0, func(*features.Path) {})
	f.Annotate(&Annotation{Marks: g.Marks, Series: g.Series})
	g.Vector.Scene(start, 0, 0)
	h.Fog = hides(start)
	return f, nil
}

// newHead returns what a scene of the start says of a film.
func newHead(start *features.Scene) head {
	h := head{Chunk: Chunk, Width: start.Width, Height: start.Height, Up: start.Up, Marks: []Mark{}, Stats: []headStat{}, stats: map[statKey]int{}}
	h.Word, _, _ = strings.Cut(start.Title, " ")
	h.Word = cmp.Or(h.Word, "turn")
	for _, n := range start.Stats {
		h.stats[statKey{n.Name, n.Seat}] = len(h.Stats)
		h.Stats = append(h.Stats, headStat{n.Name, n.Unit, int(n.Seat)})
	}
	return h
}

// hides reports whether a scene leaves out what its seat does not see.
func hides(s *features.Scene) bool {
	return slices.ContainsFunc(s.Areas, func(a features.Area) bool { return a.Hidden })
}

// Turns returns the number of turns; a film has one position more.
func (f *Film) Turns() int { return f.head.Turns }

// Seats returns the number of seats.
func (f *Film) Seats() int { return f.head.Seats }

// Fog reports whether a seat sees less than a spectator.
func (f *Film) Fog() bool { return f.head.Fog }

// Moments calls frame with the scenes of a position: the moments of the turn before it, in order, and at last the state itself. It must
// not keep them.
func (f *Film) Moments(seat, position int, frame func(s *features.Scene)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case position < 0 || position > f.head.Turns:
		return fmt.Errorf("position %d, expected 0 to %d", position, f.head.Turns)
	case seat < features.Spectator || seat >= f.head.Seats:
		return fmt.Errorf("seat %d, expected %d to %d", seat, features.Spectator, f.head.Seats-1)
	}
	if err := f.seek(max(position-1, 0)); err != nil {
		return err
	}
	if position == 0 {
		var s features.Scene
		f.game.Vector.Scene(&s, 0, seat)
		frame(&s)
		return nil
	}
	f.orders()
	f.game.Vector.Frames(0, f.turn, seat, frame)
	return f.step()
}

// Part is a part of a film as it is shown.
type Part struct {
	Seat        int     // or features.Spectator
	First, Last int     // positions
	Speed       float64 // turns a second
}

// Play calls show with the moments of a part until ctx is done: with the position, the number of its moments that follow, and how long
// the moment is shown. The moments of a turn share its time.
func (f *Film) Play(ctx context.Context, p *Part, show func(n, left int, s *features.Scene, pause time.Duration) error) error {
	var moments []features.Scene
	for n := p.First; n <= p.Last; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		moments = moments[:0]
		if err := f.Moments(p.Seat, n, func(s *features.Scene) { moments = append(moments, s.Clone()) }); err != nil {
			return err
		}
		pause := time.Duration(float64(time.Second) / p.Speed / float64(len(moments)))
		for i := range moments {
			if err := show(n, len(moments)-1-i, &moments[i], pause); err != nil {
				return err
			}
		}
	}
	return nil
}

// AppendText appends the board of a position as text without colours.
func (f *Film) AppendText(dst []byte, position int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if position < 0 || position > f.head.Turns {
		return dst, fmt.Errorf("position %d, expected 0 to %d", position, f.head.Turns)
	}
	if err := f.seek(position); err != nil {
		return dst, err
	}
	return f.game.Vector.AppendText(dst, 0), nil
}

// orders fills in the orders of the turn that comes next.
func (f *Film) orders() {
	for p := range sim.Player(f.head.Seats) {
		f.turn.Set(p, f.game.Episode.OrdersOf(f.at, p))
	}
}

// seek plays up to a position. It keeps a snapshot of every Chunk-th one.
func (f *Film) seek(n int) error {
	from := n / Chunk * Chunk
	for ; from > 0 && f.kept[from] == nil; from -= Chunk {
	}
	if f.at > n || f.at < from {
		if from == 0 || f.game.Vector.Restore(0, f.kept[from]) != nil {
			f.game.Vector.Reset(0, f.game.Episode.Seed)
			from = 0
		}
		f.at = from
	}
	for f.at < n {
		f.orders()
		if err := f.step(); err != nil {
			return err
		}
	}
	return nil
}

// maxKept bounds the memory of the snapshots.
const maxKept = 64 << 20

// step plays the turn whose orders f.turn has.
func (f *Film) step() error {
	b, most := f.batch, len(f.batch.Orders)/f.head.Seats
	for p := range f.head.Seats {
		b.OrderLen[p] = int32(copy(b.Orders[p*most:(p+1)*most], f.turn.Orders(sim.Player(p))))
	}
	f.game.Vector.Step(b)
	if int(b.Turn[0]) != f.at+1 {
		return errors.New("the game is over before its last turn: other rules, or a damaged episode")
	}
	f.at++
	if f.at%Chunk == 0 && f.kept[f.at] == nil {
		if s := f.game.Vector.AppendSnapshot(nil, 0); (len(f.kept)+1)*len(s) <= maxKept {
			f.kept[f.at] = s
		}
	}
	return nil
}

// Annotation is what is known of a game besides its episode.
type Annotation struct {
	Marks  []Mark
	Series []Series
	Output *Output // nil: nobody printed anything
}

// Annotate adds to a film. It must be called before the film is used by other goroutines.
func (f *Film) Annotate(a *Annotation) {
	h := &f.head
	h.Marks = append(h.Marks, a.Marks...)
	for _, one := range a.Series {
		h.series = append(h.series, one)
		for p := range h.Seats {
			h.Stats = append(h.Stats, headStat{one.Name, one.Unit, p})
		}
	}
	if a.Output.Any() {
		f.output, h.Printed = a.Output, true
	}
}

// Game returns the name of the game.
func (f *Film) Game() string { return f.head.Game }

// Players returns the names of the players, by seat.
func (f *Film) Players() []string { return slices.Clone(f.head.Players) }

// HasSeries reports whether the film has a series of that name.
func (f *Film) HasSeries(name string) bool {
	return slices.ContainsFunc(f.head.series, func(s Series) bool { return s.Name == name })
}
