package view

import (
	"encoding/json"
	"fmt"
	"strconv"
)

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
