package view

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
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

// Drawing is what a bot has drawn over a position, and what it has logged. A page draws the triangles first, then the
// lines, then the texts.
type Drawing struct {
	Triangles []Vertex // three for each triangle
	Lines     []Vertex // two for each line
	Texts     []PlacedText
	Log       []string
	Dropped   int // parts that were left out: they exceeded a bound, or had numbers that nobody can draw
}

// Vertex is a point of a Drawing. All numbers are finite.
type Vertex struct {
	Placed bool    // the point has a place on the board
	X, Y   float32 // the place, in the coordinates of features.Scene
	// DX and DY are pixels to the right of and above the place. Without a place they count from the lower left corner
	// of the picture; a negative one counts from the opposite edge.
	DX, DY float32
	Colour [4]uint8 // red, green, blue, alpha
}

// PlacedText is a text of a Drawing.
type PlacedText struct {
	Vertex
	Text      string
	Alignment float32 // which part of the text's width lies left of the point, from 0 to 1
	Size      float32 // of the font, in pixels
}

// Bounds of the JSON of drawings, in bytes.
const (
	mostDrawn = 64 << 20 // that a Live keeps: it forgets the oldest
	mostShown = 16 << 20 // of a chunk: the drawings of its first positions are left out
)

// drawings has the JSON of the drawings of a game.
type drawings struct {
	turns [][][]byte // by turn and seat; nil: the seat has drawn nothing, or it is forgotten
	bytes int
	first int // the turns before have been forgotten
}

// Draw adds what the bots have drawn over the last position, by seat: nil for a seat without a drawing.
func (l *Live) Draw(list []*Drawing) {
	texts := make([][]byte, len(list))
	for seat, d := range list {
		if d != nil {
			texts[seat] = d.append(nil, seat)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drawings.set(l.head.Turns, texts)
	l.version++
}

// set keeps the drawings of a turn, which is not before the last one that has some.
func (d *drawings) set(turn int, texts [][]byte) {
	for len(d.turns) <= turn {
		d.turns = append(d.turns, nil)
	}
	d.turns[turn] = texts
	for _, text := range texts {
		d.bytes += len(text)
	}
	for ; d.bytes > mostDrawn && d.first < turn; d.first++ {
		for _, text := range d.turns[d.first] {
			d.bytes -= len(text)
		}
		d.turns[d.first] = nil
	}
}

type drawnTurn struct {
	Turn  int               `json:"turn"`
	Seats []json.RawMessage `json:"seats"`
}

// addTo adds the drawings from position first on to the JSON of a chunk. last is the newest position of the game. A seat
// gets its own ones, a spectator all. Nobody has drawn over the newest position, so it has the drawings of the turn
// before.
func (d *drawings) addTo(chunk []byte, seat, first, last int) ([]byte, error) {
	if len(d.turns) == 0 {
		return chunk, nil
	}
	end, room := min(first+Chunk-1, last), mostShown
	list := make([]*drawnTurn, end-first+1)
	for n := end; n >= first; n-- {
		turn := n
		if n == last && n >= len(d.turns) {
			turn--
		}
		one := d.of(turn, seat)
		if one != nil {
			for _, text := range one.Seats {
				room -= len(text)
			}
		}
		if room < 0 {
			break // the first positions go without
		}
		list[n-first] = one
	}
	text, err := json.Marshal(list)
	return append(append(append(chunk[:len(chunk)-1], `,"drawings":`...), text...), '}'), err
}

// of returns the drawings of a turn that a seat or a spectator is shown; nil if there are none.
func (d *drawings) of(turn, seat int) *drawnTurn {
	if turn >= len(d.turns) {
		return nil
	}
	one := &drawnTurn{Turn: turn}
	for p, text := range d.turns[turn] {
		if text != nil && (seat < 0 || seat == p) {
			one.Seats = append(one.Seats, text)
		}
	}
	if one.Seats == nil {
		return nil
	}
	return one
}

// append appends the JSON of a seat's drawing. A vertex is five numbers: x, y (null without a place), dx, dy, and the
// index of its colour.
func (d *Drawing) append(out []byte, seat int) []byte {
	colours := palette{index: map[[4]uint8]int{}}
	out = strconv.AppendInt(append(out, `{"seat":`...), int64(seat), 10)
	for _, part := range []struct {
		name string
		list []Vertex
	}{{`,"triangles":[`, d.Triangles}, {`,"lines":[`, d.Lines}} {
		out = append(out, part.name...)
		for i := range part.list {
			out = colours.vertex(comma(out, i), &part.list[i])
		}
		out = append(out, ']')
	}
	out = append(out, `,"texts":[`...)
	for i := range d.Texts {
		t := &d.Texts[i]
		out = append(colours.vertex(append(comma(out, i), '['), &t.Vertex), ',')
		out = append(numbers(out, t.Alignment, t.Size), ',')
		out = append(appendText(out, t.Text), ']')
	}
	out = append(out, `],"log":[`...)
	for i, line := range d.Log {
		out = appendText(comma(out, i), line)
	}
	out = append(append(append(out, `],"colours":[`...), colours.text...), `],"dropped":`...)
	return append(strconv.AppendInt(out, int64(d.Dropped), 10), '}')
}

// palette numbers colours.
type palette struct {
	index map[[4]uint8]int
	text  []byte // their JSON
}

// vertex appends the numbers of a vertex.
func (p *palette) vertex(out []byte, v *Vertex) []byte {
	i, ok := p.index[v.Colour]
	if !ok {
		i = len(p.index)
		p.index[v.Colour] = i
		p.text = fmt.Appendf(comma(p.text, i), `"#%x"`, v.Colour)
	}
	if v.Placed {
		out = numbers(out, v.X, v.Y)
	} else {
		out = append(out, "null,null"...)
	}
	out = append(numbers(append(out, ','), v.DX, v.DY), ',')
	return strconv.AppendInt(out, int64(i), 10)
}
