package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/view/picture"
	"moonfarm/sim"
)

// Head returns the JSON of film.json.
func (f *Film) Head() ([]byte, error) { return json.Marshal(&f.head) }

// Frames returns the JSON of frames.json: the positions from first on, at most Chunk.
func (f *Film) Frames(seat, first int) ([]byte, error) {
	w := newWriter(&f.head, first)
	last := max(first, min(first+Chunk-1, f.head.Turns))
	for n := first; n <= last; n++ {
		w.position()
		err := f.Moments(seat, n, w.frame)
		if err == nil && f.head.Moves {
			var moves [][]move
			moves, err = f.movesAt(n)
			w.moves = append(w.moves, moves)
		}
		if err != nil {
			return nil, err
		}
	}
	return w.chunk(f.inputs(first, last), f.output)
}

// OneFrame returns the JSON of frames.json with one frame, whose numbers have the order of a spectator's scene.
func OneFrame(spectator, s *features.Scene) ([]byte, error) {
	h := newHead(spectator)
	w := newWriter(&h, 0)
	w.position()
	w.frame(s)
	return w.chunk([][][]string{}, nil)
}

// chunk returns the JSON of the positions that were written. It changes nothing. output may be nil.
func (w *writer) chunk(inputs [][][]string, output *Output) ([]byte, error) {
	out := append([]byte(`{"from":`), strconv.Itoa(w.first)...)
	out = append(out, `,"looks":[`...)
	for i, l := range w.looks {
		out = appendLook(comma(out, i), l, w.numbers[w.maker.Sample(l)])
	}
	out = append(append(append(out, `],"positions":[`...), w.out...), `]],"inputs":`...)
	text, err := json.Marshal(inputs)
	if out = append(out, text...); err == nil && w.head.Moves {
		text, err = json.Marshal(w.moves)
		out = append(append(out, `,"moves":`...), text...)
	}
	if err == nil && output.Any() {
		text, err = json.Marshal(output.positions(w.first, w.positions))
		out = append(append(out, `,"printed":`...), text...)
	}
	return append(out, '}'), err
}

// inputs returns the orders of the turn before position first and of those after positions first to last, as texts: one
// list for each seat.
func (f *Film) inputs(first, last int) [][][]string {
	all := [][][]string{}
	for n := max(first-1, 0); n <= last && n < f.head.Turns; n++ {
		turn := [][]string{}
		for p := range f.head.Seats {
			list := []string{}
			if f.game.Orders != nil {
				if texts := f.game.Orders(f.game.Episode.OrdersOf(n, sim.Player(p))); texts != nil {
					list = texts
				}
			}
			turn = append(turn, list)
		}
		all = append(all, turn)
	}
	return all
}

// Stats returns the JSON of stats.json: the numbers of all positions, in the order of the head's stats, null
// where there is none.
func (f *Film) Stats() ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []byte(`{"turns":[`)
	var s features.Scene
	for n := range f.head.Turns + 1 {
		if err := f.seek(n); err != nil {
			return nil, err
		}
		f.game.Vector.Scene(&s, 0, features.Spectator)
		out = comma(out, n)
		out = f.head.appendStats(out, &s, n)
	}
	return append(out, `]}`...), nil
}

// appendStats appends the numbers of a scene of position n.
func (h *head) appendStats(out []byte, s *features.Scene, n int) []byte {
	values := make([]float64, len(h.Stats))
	for i := range values {
		values[i] = math.NaN()
	}
	for _, n := range s.Stats {
		if i, ok := h.stats[statKey{n.Name, n.Seat}]; ok {
			values[i] = n.Value
		}
	}
	for k, one := range h.series {
		for p := range h.Seats {
			if at := n*h.Seats + p; at < len(one.Values) {
				values[len(h.Stats)-(len(h.series)-k)*h.Seats+p] = float64(one.Values[at])
			}
		}
	}
	out = append(out, '[')
	for i, v := range values {
		if out = comma(out, i); math.IsNaN(v) || math.IsInf(v, 0) {
			out = append(out, "null"...)
		} else {
			out = strconv.AppendFloat(out, v, 'f', -1, 64)
		}
	}
	return append(out, ']')
}

// writer writes the frames of a chunk. Lists are written as their difference from those of the frame
// before.
type writer struct {
	head      *head
	out       []byte
	maker     picture.Maker
	looks     []*picture.Look
	numbers   map[*picture.Look]int // indices in looks
	first     int                   // position
	positions int
	moments   int        // frames of the position
	moves     [][][]move // by position and seat

	areas    []features.Area
	ranges   []features.Range
	entities []features.Entity
	lines    []features.Line
}

func newWriter(h *head, first int) *writer {
	return &writer{numbers: map[*picture.Look]int{}, head: h, first: first}
}

func (w *writer) position() {
	if w.positions > 0 {
		w.out = append(w.out, `],`...)
	}
	w.out = append(w.out, '[')
	w.positions++
	w.moments = 0
}

func (w *writer) frame(s *features.Scene) {
	w.out = comma(w.out, w.moments)
	w.moments++
	w.out = append(appendText(append(w.out, `{"t":`...), s.Title), `,"a":`...)
	w.out = difference(w.out, w.areas, s.Areas, w.area)
	w.out = difference(append(w.out, `,"r":`...), w.ranges, s.Ranges, w.reach)
	w.out = difference(append(w.out, `,"e":`...), w.entities, s.Entities, func(out []byte, e *features.Entity) []byte { return w.entity(out, s, e) })
	w.out = difference(append(w.out, `,"l":`...), w.lines, s.Lines, w.line)
	w.out = append(w.out, `,"v":[`...)
	for i := range s.Events {
		w.out = w.event(comma(w.out, i), &s.Events[i])
	}
	w.out = append(w.head.appendStats(append(w.out, `],"s":`...), s, w.first+w.positions-1), '}')
	w.areas = append(w.areas[:0], s.Areas...)
	w.ranges = append(w.ranges[:0], s.Ranges...)
	w.entities = append(w.entities[:0], s.Entities...)
	w.lines = append(w.lines[:0], s.Lines...)
}

// near is how far difference looks for an element that was added or removed.
const near = 16

// difference appends a list as its difference from an older one: [start,count] for elements of the
// older list, other arrays for new elements.
func difference[T comparable](out []byte, old, list []T, item func(out []byte, v *T) []byte) []byte {
	out = append(out, '[')
	for n, i := 0, 0; n < len(list); { // old[:i] is used, or passed over
		if i < len(old) && old[i] != list[n] {
			for k := i + 1; k < min(i+near, len(old)); k++ { // elements of old are gone
				if old[k] == list[n] {
					i = k
					break
				}
			}
		}
		if n > 0 {
			out = append(out, ',')
		}
		first := i
		for i < len(old) && n < len(list) && old[i] == list[n] {
			i, n = i+1, n+1
		}
		if i > first {
			out = append(strconv.AppendInt(append(out, '['), int64(first), 10), ',')
			out = append(strconv.AppendInt(out, int64(i-first), 10), ']')
			continue
		}
		out = item(out, &list[n])
		if n++; i < len(old) && !(n < len(list) && old[i] == list[n]) { // it takes the place of old[i], or is new before it
			i++
		}
	}
	return append(out, ']')
}

func (w *writer) area(out []byte, a *features.Area) []byte {
	out = numbers(append(out, '['), a.X, a.Y, a.Width, a.Height)
	out = integers(append(out, ','), int(a.Owner), bit(a.Hidden, 1))
	return append(out, ']')
}

func (w *writer) reach(out []byte, r *features.Range) []byte {
	out = numbers(append(out, '['), r.X, r.Y, r.Radius)
	out = append(integers(append(out, ','), int(r.Owner)), ',')
	return append(appendText(out, r.Kind), ']')
}

// entity appends an entity of a scene: the number of its look, and what entities that look alike differ in.
func (w *writer) entity(out []byte, s *features.Scene, e *features.Entity) []byte {
	l := w.maker.Of(s, e)
	if l == nil {
		return append(out, `[-1]`...) // it cannot be drawn
	}
	out = append(integers(append(out, '['), w.look(l)), ',')
	out = append(numbers(out, e.X, e.Y, e.Health), ',')
	out = integers(out, e.Number, int(e.ID))
	if e.Note != "" {
		out = appendText(append(out, ','), e.Note)
	}
	return append(out, ']')
}

// look returns the number of a look in the chunk. It adds a new one with its sample.
func (w *writer) look(l *picture.Look) int {
	n, ok := w.numbers[l]
	if !ok {
		n = len(w.looks)
		w.numbers[l], w.looks = n, append(w.looks, l)
		w.look(w.maker.Sample(l))
	}
	return n
}

// appendLook appends a look with the number of its sample.
func appendLook(out []byte, l *picture.Look, sample int) []byte {
	text, _ := json.Marshal([]any{ // they have JSON
		l.Kind, l.Owner, l.Width, l.Height, bit(l.Unfinished, 1) | bit(l.Upgraded, 2) | bit(l.Leaving, 4), l.Corners, l.Fill, l.Edge, l.Stroke.List(),
		l.Letter, l.LetterX, l.LetterY, l.LetterSize.List(), sample,
	})
	return append(out, text...)
}

func (w *writer) line(out []byte, l *features.Line) []byte {
	out = append(numbers(append(out, '['), l.X1, l.Y1, l.X2, l.Y2), ',')
	out = append(integers(out, int(l.Owner), bit(l.Arrow, 1)|bit(l.Thick, 2)), ',')
	out = appendText(append(appendText(out, l.Kind), ','), l.Note)
	if x, y := picture.ArrowEnd(l); x != l.X2 || y != l.Y2 { // where it is drawn to
		out = numbers(append(out, ','), x, y)
	}
	return append(out, ']')
}

func (w *writer) event(out []byte, e *features.Event) []byte {
	out = append(appendText(append(out, '['), e.Kind), ',')
	out = append(integers(out, int(e.Owner)), ',')
	out = append(numbers(out, e.X1, e.Y1, e.X2, e.Y2, e.Amount), ',')
	return append(appendText(out, e.Note), ']')
}

// bit returns the flag if it is set.
func bit(set bool, flag int) int {
	if set {
		return flag
	}
	return 0
}

// comma appends a comma before all elements but the first.
func comma(out []byte, i int) []byte {
	if i > 0 {
		return append(out, ',')
	}
	return out
}

// integers appends numbers with commas between them.
func integers(out []byte, list ...int) []byte {
	for i, n := range list {
		out = strconv.AppendInt(comma(out, i), int64(n), 10)
	}
	return out
}

// numbers appends numbers with commas between them, rounded to a thousandth. JSON has no numbers that
// are not finite: they become 0.
func numbers(out []byte, list ...float32) []byte {
	for i, n := range list {
		v := math.Round(float64(n)*1000) / 1000
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = 0
		}
		out = strconv.AppendFloat(comma(out, i), v, 'f', -1, 64)
	}
	return out
}

// appendText appends a JSON string.
func appendText(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, _ := json.Marshal(s) // strings have JSON
			return append(out, text...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}

// Paths returns the JSON of paths.json: for the positions from first on, at most Chunk, the ways that units or missiles would take from
// each place where they can start: [seat, x, y of the start, 1 if it stops early, the steps, a note if there is one], a step being "r", "l", "u" or
// "d": towards greater x, less x, greater y, less y.
func (f *Film) Paths(first int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.head.Paths || first < 0 || first > f.head.Turns {
		return nil, fmt.Errorf("paths from position %d, expected 0 to %d of a game that has them", first, f.head.Turns)
	}
	out := append([]byte(`{"from":`), strconv.Itoa(first)...)
	out = append(out, `,"positions":[`...)
	for n := first; n <= min(first+Chunk-1, f.head.Turns); n++ {
		if err := f.seek(n); err != nil {
			return nil, err
		}
		out = append(comma(out, n-first), '[')
		k := 0
		f.game.Vector.Paths(0, func(p *features.Path) {
			out = appendPath(comma(out, k), p)
			k++
		})
		out = append(out, ']')
	}
	return append(out, `]}`...), nil
}

// appendPath appends a way.
func appendPath(out []byte, p *features.Path) []byte {
	at := p.Cells[0]
	out = integers(append(out, '['), int(p.Owner), int(at.X), int(at.Y), bit(p.Stops, 1))
	out = append(out, `,"`...)
	for _, next := range p.Cells[1:] {
		switch {
		case next.X > at.X:
			out = append(out, 'r')
		case next.X < at.X:
			out = append(out, 'l')
		case next.Y > at.Y:
			out = append(out, 'u')
		default:
			out = append(out, 'd')
		}
		at = next
	}
	out = append(out, '"')
	if p.Note != "" {
		out = appendText(append(out, ','), p.Note)
	}
	return append(out, ']')
}

// mostMoves is the number of a search's moves that a page gets of a turn and seat, those with the largest shares.
const mostMoves = 24

type move struct {
	share  float32
	kind   string // of its first order that has a place, or of its first
	placed bool
	x, y   float32
	text   string // of all orders
}

func (m move) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{m.share, m.kind, m.placed, m.x, m.y, m.text})
}

// movesAt returns the moves of the searches in the turn after a position, by seat.
func (f *Film) movesAt(position int) ([][]move, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.seek(position); err != nil {
		return nil, err
	}
	seats := make([][]move, f.head.Seats)
	for p := range seats {
		seats[p] = []move{}
		if position < f.head.Turns {
			seats[p] = f.movesOf(f.game.Searches, sim.Player(p))
		}
	}
	return seats, nil
}

func (f *Film) movesOf(r *rollout.SearchResults, p sim.Player) []move {
	list := []move{}
	spec := f.game.Vector.Spec()
	for _, m := range r.Moves(f.at*f.head.Seats + int(p)) {
		action := slices.Repeat([]int32{int32(spec.Nothing)}, len(spec.Heads))
		if !set(action, spec.Heads, m.Choices) {
			continue
		}
		orders := f.game.Vector.AppendOrders(nil, 0, p, action)
		one := move{share: m.Share}
		for i, o := range orders {
			c, _ := f.game.Vector.Command(o, p)
			if i == 0 || c.Placed && !one.placed {
				one.kind, one.placed, one.x, one.y = c.Kind, c.Placed, c.X, c.Y
			}
		}
		if f.game.Orders != nil {
			one.text = strings.Join(f.game.Orders(orders), ", ")
		}
		one.text = cmp.Or(one.text, one.kind, "nothing")
		list = append(list, one)
	}
	slices.SortStableFunc(list, func(a, b move) int { return cmp.Compare(b.share, a.share) })
	return list[:min(len(list), mostMoves)]
}

// set writes choices, which are numbered through all heads, into an action. It reports false if there is no such choice.
func set(action []int32, heads []int, choices []int32) bool {
	for _, c := range choices {
		h := 0
		for ; h < len(heads) && c >= int32(heads[h]); h++ {
			c -= int32(heads[h])
		}
		if c < 0 || h == len(heads) {
			return false
		}
		action[h] = c
	}
	return true
}
