// Package blocks draws a scene as text with colours, for a terminal. It knows no game.
//
// A cell of a small board has two characters: the letter of what stands there, and its number, the mark
// of a missile or unit on top of it, or a mark of its state. A larger board has half a line for each cell,
// in the colour of its owner. The sequences are those of ECMA-48 with the palette of 256 colours, which
// nearly all terminals have.
package blocks

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moonfarm/features"
	"moonfarm/rollout/view/picture"
)

// Reset ends all colours.
const Reset = "\x1b[0m"

// lineEnd ends a line, and clears what a longer line has left there.
const lineEnd = "\x1b[K\n"

const (
	mostCells = 512 // the largest side of a board that is drawn
	mostStats = 64
)

// colourOf returns the number of the colour of a role in the palette of terminals.
func colourOf(r picture.Role) int { return int(r.Colour().Terminal) }

// cell is a cell of a board as text.
type cell struct {
	main, mark rune // 0: none
	letter     int  // colour of main
	markLetter int  // colour of mark
	ground     int  // colour of the cell
	thing      int  // colour in half lines
	bold       bool
}

// Append appends a scene, no wider than a number of columns: its title, the board, the numbers of the
// seats. Each line ends without colours.
func Append(dst []byte, s *features.Scene, columns int) []byte {
	dst = append(append(dst, plain(s.Title)...), lineEnd...)
	if !(s.Width >= 1 && s.Height >= 1 && s.Width <= mostCells && s.Height <= mostCells) {
		return append(dst, "nothing to draw"+lineEnd...)
	}
	g := newGrid(s)
	if 2*g.width <= columns {
		dst = g.appendLetters(dst)
	} else {
		dst = g.appendHalves(dst, columns)
	}
	return appendStats(dst, s)
}

// board is the colour between areas.
var board = colourOf(picture.Paper)

// grid has the cells of a scene, the upper row first.
type grid struct {
	width, height int
	cells         []cell
}

func newGrid(s *features.Scene) *grid {
	g := &grid{width: int(s.Width), height: int(s.Height)}
	g.cells = slices.Repeat([]cell{{ground: board, thing: board}}, g.width*g.height)
	var maker picture.Maker
	list := maker.List(s)
	for i := range s.Areas {
		a := &s.Areas[i]
		colour := colourOf(picture.AreaOf(a.Owner))
		if a.Hidden {
			colour = colourOf(picture.Fog)
		}
		g.each(s, a.X, a.Y, a.Width, a.Height, func(c *cell, _ bool) { c.ground, c.thing = colour, colour })
	}
	for i, look := range list.Looks {
		if look != nil {
			g.entity(s, &s.Entities[i], look)
		}
	}
	for i := range s.Lines {
		if l := &s.Lines[i]; l.Thick && l.X1 == l.X2 { // a barrier along a column
			g.each(s, l.X1-0.5, min(l.Y1, l.Y2), 0.5, max(l.Y1, l.Y2)-min(l.Y1, l.Y2), func(c *cell, _ bool) { c.mark, c.markLetter = '│', colourOf(picture.Edge(l.Owner)) })
		}
	}
	return g
}

// each calls do with the cells that a rectangle covers; first is set for the one with its name.
func (g *grid) each(s *features.Scene, x, y, width, height float32, do func(c *cell, first bool)) {
	if !(x > -mostCells && y > -mostCells && x < mostCells && y < mostCells && width >= 0 && height >= 0 && width <= mostCells && height <= mostCells) {
		return
	}
	x0, y0 := int(math.Floor(float64(x))), int(math.Floor(float64(y)))
	x1, y1 := int(math.Ceil(float64(x+width))), int(math.Ceil(float64(y+height)))
	for cy := max(y0, 0); cy < min(y1, g.height); cy++ {
		row := cy
		if s.Up {
			row = g.height - 1 - cy
		}
		for cx := max(x0, 0); cx < min(x1, g.width); cx++ {
			do(&g.cells[row*g.width+cx], cx == x0 && cy == y0)
		}
	}
}

func (g *grid) entity(s *features.Scene, e *features.Entity, look *picture.Look) {
	colour, thing := colourOf(picture.Edge(e.Owner)), colourOf(picture.Fill(e.Owner))
	if look.Moves {
		thing = colourOf(picture.Mover(e.Owner))
	}
	if e.Unfinished {
		colour, thing = colourOf(picture.Waiting), colourOf(picture.Waiting)
	}
	g.each(s, e.X, e.Y, e.Width, e.Height, func(c *cell, first bool) {
		if c.main != 0 && e.Width < 1 { // on top of something
			c.mark, c.markLetter = look.Sign, colour
			return
		}
		c.main, c.letter, c.thing, c.bold = ' ', colour, thing, e.Upgraded
		if first || e.Width <= 1 {
			c.main = look.Sign
			c.mark, c.markLetter = markOf(e), colour
		}
		if e.Width > 1 {
			c.ground = thing
			c.letter = colourOf(picture.Ink)
		}
	})
}

// markOf returns the second character of an entity: its number, or its state.
func markOf(e *features.Entity) rune {
	switch {
	case e.Number > 9:
		return '+'
	case e.Number > 0:
		return rune('0' + e.Number)
	case e.Leaving:
		return 'x'
	case e.Health > 0 && e.Health < 0.5:
		return '\''
	}
	return 0
}

// colours appends the colours of letters and ground, if they have changed.
type colours struct {
	letter, ground int
	bold           bool
}

func (c *colours) append(dst []byte, letter, ground int, bold bool) []byte {
	if c.bold != bold {
		dst = append(dst, Reset...)
		*c = colours{-1, -1, bold}
		if bold {
			dst = append(dst, "\x1b[1m"...)
		}
	}
	if c.letter != letter {
		dst = fmt.Appendf(dst, "\x1b[38;5;%dm", letter)
	}
	if c.ground != ground {
		dst = fmt.Appendf(dst, "\x1b[48;5;%dm", ground)
	}
	c.letter, c.ground = letter, ground
	return dst
}

// appendLetters appends two characters a cell.
func (g *grid) appendLetters(dst []byte) []byte {
	for y := range g.height {
		c := colours{-1, -1, false}
		for x := range g.width {
			at := &g.cells[y*g.width+x]
			dst = c.append(dst, at.letter, at.ground, at.bold)
			dst = utf8.AppendRune(dst, cmp.Or(at.main, ' '))
			dst = c.append(dst, at.markLetter, at.ground, at.bold)
			dst = utf8.AppendRune(dst, cmp.Or(at.mark, ' '))
		}
		dst = append(dst, Reset+lineEnd...)
	}
	return dst
}

// appendHalves appends a line for two rows of cells. A board that is wider than the columns is drawn
// smaller: of a square of cells the first with a thing of an owner is shown.
func (g *grid) appendHalves(dst []byte, columns int) []byte {
	step := max(1, (g.width+columns-1)/max(columns, 1))
	shown := func(x, y int) int {
		best := -1
		for row := y; row < min(y+step, g.height); row++ {
			for col := x; col < min(x+step, g.width); col++ {
				if c := g.cells[row*g.width+col]; best < 0 || best == board {
					best = c.thing
				}
			}
		}
		return max(best, board)
	}
	for y := 0; y < g.height; y += 2 * step {
		c := colours{-1, -1, false}
		for x := 0; x < g.width; x += step {
			dst = c.append(dst, shown(x, y), shown(x, y+step), false)
			dst = append(dst, "▀"...)
		}
		dst = append(dst, Reset+lineEnd...)
	}
	return dst
}

func appendStats(dst []byte, s *features.Scene) []byte {
	var seats []int8
	for _, n := range s.Stats[:min(len(s.Stats), mostStats)] {
		if !slices.Contains(seats, n.Seat) {
			seats = append(seats, n.Seat)
		}
	}
	slices.Sort(seats)
	for _, seat := range seats {
		dst = fmt.Appendf(dst, "\x1b[38;5;%dm%c%s", colourOf(picture.Edge(seat)), 'A'+rune(max(seat, 0)), Reset)
		for _, n := range s.Stats[:min(len(s.Stats), mostStats)] {
			if n.Seat == seat {
				dst = append(append(append(dst, "  "...), plain(strings.ReplaceAll(n.Name, "_", " "))...), ' ')
				dst = strconv.AppendFloat(dst, math.Round(n.Value*100)/100, 'f', -1, 64)
			}
		}
		dst = append(dst, lineEnd...)
	}
	return dst
}

// plain returns a text without control characters, which a terminal would obey, cut to a line.
func plain(text string) string {
	const most = 200
	n := 0
	return strings.Map(func(r rune) rune {
		if n++; n > most || r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, text)
}
