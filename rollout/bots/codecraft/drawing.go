package codecraft

import (
	"math"
	"strings"

	"moonfarm/rollout/view"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// Bounds of what is kept of a client's drawings in a tick. Parts beyond them are dropped and counted. Two triangles on
// every cell are within the bounds.
const (
	maxVertices  = 40_000
	maxTexts     = 1000
	maxLines     = 500     // lines of the log
	maxTextBytes = 1 << 16 // bytes of all placed texts and lines of the log
	maxTextSize  = 500     // bytes of one placed text or line of the log; what is longer is cut

	maxWorld  = 10 * codecraft.Side // the greatest distance from the map's corner, in cells
	maxScreen = 10_000              // the greatest offset, in pixels
	maxFont   = 200                 // the greatest size of a text, in pixels; greater ones become this size
)

// sketch keeps what a client has drawn in a tick, for Match.Drawn.
type sketch struct {
	player sim.Player
	shown  sheet
	manual bool  // SetAutoFlush(false): commands wait in queued for Flush
	queued sheet // what waits
	clears bool  // a Clear waits, too: shown is emptied before queued is added
}

// sheet is a drawing within the bounds.
type sheet struct {
	view.Drawing
	bytes int // of texts
}

// perform carries out a command. Its data may be reused after the call.
func (s *sketch) perform(c *protocol.DebugCommand) {
	to := &s.shown
	if s.manual {
		to = &s.queued
	}
	switch c.Kind {
	case protocol.CommandAdd:
		to.add(s.player, &c.Data)
	case protocol.CommandClear:
		to.clear()
		s.clears = s.manual
	case protocol.CommandSetAutoFlush:
		if s.manual = !c.Enable; c.Enable {
			s.flush()
		}
	case protocol.CommandFlush:
		s.flush()
	}
}

// flush carries out the commands that wait.
func (s *sketch) flush() {
	if s.clears {
		s.shown.clear()
	}
	s.shown.join(&s.queued)
	s.queued.clear()
	s.clears = false
}

// drawing returns the drawing of the tick, nil if there is none.
func (s *sketch) drawing() *view.Drawing {
	d := &s.shown.Drawing
	if len(d.Triangles)+len(d.Lines)+len(d.Texts)+len(d.Log)+d.Dropped == 0 {
		return nil
	}
	return d
}

// clear empties the sheet.
func (s *sheet) clear() {
	clear(s.Texts) // they and the lines have memory of their own
	clear(s.Log)
	s.Drawing = view.Drawing{Triangles: s.Triangles[:0], Lines: s.Lines[:0], Texts: s.Texts[:0], Log: s.Log[:0]}
	s.bytes = 0
}

// add adds the data of player p.
func (s *sheet) add(p sim.Player, d *protocol.DebugData) {
	switch d.Kind {
	case protocol.DebugLog:
		for line := range strings.SplitSeq(d.Text, "\n") {
			if len(s.Log) == maxLines {
				s.Dropped++
				return
			}
			s.log(line)
		}
	case protocol.DebugPrimitives:
		if d.Triangles {
			s.Triangles = s.primitives(s.Triangles, p, d.Vertices, 3)
		} else {
			s.Lines = s.primitives(s.Lines, p, d.Vertices, 2)
		}
	case protocol.DebugText:
		v, ok := vertexOf(p, &d.Vertices[0])
		if !ok || !(d.Size > 0) || !finite(d.Alignment) {
			s.Dropped++
			return
		}
		s.text(&view.PlacedText{Vertex: v, Text: d.Text, Alignment: min(max(d.Alignment, 0), 1), Size: min(d.Size, maxFont)})
	}
}

// join adds what is in another sheet.
func (s *sheet) join(o *sheet) {
	s.Triangles = s.vertices(s.Triangles, o.Triangles, 3)
	s.Lines = s.vertices(s.Lines, o.Lines, 2)
	for i := range o.Texts {
		s.text(&o.Texts[i])
	}
	for _, line := range o.Log {
		s.log(line)
	}
	s.Dropped += o.Dropped
}

// primitives appends lines or triangles, of n vertices each. One with a vertex that cannot be drawn is dropped, and so
// are the vertices after the last whole one.
func (s *sheet) primitives(dst []view.Vertex, p sim.Player, list []protocol.ColoredVertex, n int) []view.Vertex {
	for ; len(list) >= n; list = list[n:] {
		var one [3]view.Vertex
		good := true
		for i := range n {
			var ok bool
			one[i], ok = vertexOf(p, &list[i])
			good = good && ok
		}
		if !good {
			s.Dropped++
			continue
		}
		dst = s.vertices(dst, one[:n], n)
	}
	if len(list) > 0 {
		s.Dropped++
	}
	return dst
}

// vertices appends lines or triangles, of n vertices each, to dst, which becomes the sheet's list of them.
func (s *sheet) vertices(dst, list []view.Vertex, n int) []view.Vertex {
	others := len(s.Triangles)
	if n == 3 {
		others = len(s.Lines)
	}
	room := max(maxVertices-others-len(dst), 0) / n * n
	s.Dropped += (len(list) - min(room, len(list))) / n
	return append(dst, list[:min(room, len(list))]...)
}

// text appends a placed text.
func (s *sheet) text(t *view.PlacedText) {
	one := *t
	one.Text = cut(t.Text)
	if len(s.Texts) == maxTexts || s.bytes+len(one.Text) > maxTextBytes {
		s.Dropped++
		return
	}
	s.bytes += len(one.Text)
	s.Texts = append(s.Texts, one)
}

// log appends a line of the log.
func (s *sheet) log(line string) {
	line = cut(line)
	if len(s.Log) == maxLines || s.bytes+len(line) > maxTextBytes {
		s.Dropped++
		return
	}
	s.bytes += len(line)
	s.Log = append(s.Log, line)
}

// cut returns a copy of the beginning of a text, as valid UTF-8. It does not keep the memory of the whole text.
func cut(text string) string {
	text = strings.TrimRight(text[:min(len(text), maxTextSize)], "\r")
	return strings.Clone(strings.ToValidUTF8(text, ""))
}

// vertexOf converts a vertex from the frame of player p to the frame of the world. It reports false for numbers that
// are not finite or too great to be drawn.
func vertexOf(p sim.Player, v *protocol.ColoredVertex) (view.Vertex, bool) {
	w := view.Vertex{Placed: v.World.Given, DX: v.Screen[0], DY: v.Screen[1]}
	good := within(w.DX, maxScreen) && within(w.DY, maxScreen)
	if w.Placed {
		x, y := v.World.Value[0], v.World.Value[1]
		good = good && within(x, maxWorld) && within(y, maxWorld)
		const side = codecraft.Side
		switch p { // as codecraft.TurnBack does with a square of size 0
		case 1:
			x, y = side-x, side-y
		case 2:
			x, y = side-y, x
		case 3:
			x, y = y, side-x
		}
		w.X, w.Y = x, y
	}
	for i, c := range v.Color {
		good = good && finite(c)
		w.Colour[i] = uint8(float32(min(max(c, 0), 1)*255) + 0.5) // the conversion forbids a fused operation
	}
	return w, good
}

// within reports whether the absolute value of f is at most limit.
func within(f, limit float32) bool { return f >= -limit && f <= limit }

// finite reports whether f is neither infinite nor NaN.
func finite(f float32) bool { return within(f, math.MaxFloat32) }
