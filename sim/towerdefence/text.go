package towerdefence

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"moonfarm/sim"
)

// textLetters holds the letters of the kinds; unfinished buildings have lower
// case.
var textLetters = [5]byte{Defense: 'D', Attack: 'A', Energy: 'E', Tesla: 'T'}

// AppendText appends the position s of g as text, for people, tests and
// failure messages. It shows both halves as A sees them, A's base on the left:
//
//	round 57
//	A energy 35 health 100 hits 0 score 431 damage 75 curtain -26 ready yes fails 0
//	B energy 12 health 85 hits 3 score 402 damage 0 curtain 4 ready no fails 0
//	x 0   1   2   3   4   5   6   7   | 7   6   5   4   3   2   1   0
//	0 E   .   .   .   .   .   .>  D'' | .   .   .   .>  .   A2  .   E
//	1 E   .   A   .   .<  .   .   d2  | .   .   t7  .   .   .   .   .
//	…
//
// Every line begins with a word; blanks separate the words after it:
//
//	round  the round to be played
//	A, B   a player, as pairs of a name and a value:
//	         damage   the part of the score from damage,
//	         curtain  the original's counter: the rounds from this one on in
//	                  which the curtain protects; 0 or less when it is down,
//	         ready    yes if the curtain may be raised (apart from energy and a
//	                  curtain that is still up), else no,
//	         fails    the consecutive failed commands
//	x      own x of the columns of both halves
//	0 … 7  a row: the cells of A's half, a bar, the cells of B's half. A cell is
//	         . or a building: D defense, A attack, E energy, T tesla tower, in
//	           lower case if it does not act in this round, followed by
//	         *  on the older one of two finished towers of an owner
//	         '  for each missile a finished building has taken
//	         a number: for an unfinished building, the rounds until it acts, this
//	           one included; for a finished one, the rounds until it may
//	           shoot (nothing for 0)
//	         >  for each missile of A, <  for each of B
//	#      a comment, up to the end of the line
//
// The text holds everything that play depends on, and ParseText reads it. It
// leaves out the ages of finished buildings, since when a tower waits for
// energy, and how far below 0 a dead base is.
func AppendText(dst []byte, g *Game, s *State) []byte {
	dst = fmt.Appendf(dst, "round %d\n", s.Round)
	for p := range sim.Player(2) {
		dst = appendPlayer(dst, g, s, p)
	}
	var cells [Height][2 * Width]string
	widest := 1
	for y := range cells {
		for x := range cells[y] {
			cells[y][x] = string(appendCell(nil, g, s, x, y))
			widest = max(widest, len(cells[y][x]))
		}
	}
	var columns [2 * Width]string
	for x := range columns {
		columns[x] = strconv.Itoa(min(x, 2*Width-1-x))
	}
	dst = appendRow(dst, 'x', &columns, widest)
	for y := range cells {
		dst = appendRow(dst, byte('0'+y), &cells[y], widest)
	}
	return dst
}

// appendRow appends a row of cells of the given width.
func appendRow(dst []byte, name byte, cells *[2 * Width]string, width int) []byte {
	dst = append(dst, name)
	for x, c := range cells {
		if x == Width {
			dst = append(dst, " |"...)
		}
		dst = fmt.Appendf(dst, " %-*s", width, c)
	}
	return append(bytes.TrimRight(dst, " "), '\n')
}

// appendPlayer appends the line of player p.
func appendPlayer(dst []byte, g *Game, s *State, p sim.Player) []byte {
	h, enemy := &s.Half[p], &s.Half[p^1]
	ready := "no"
	if h.Available {
		ready = "yes"
	}
	return fmt.Appendf(dst, "%c energy %d health %d hits %d score %d damage %d curtain %d ready %s fails %d\n", 'A'+p, h.Energy, h.Health(), h.Hits(),
		g.Score(s, p), int(uint32(enemy.Ledger))-g.worth(enemy), s.CurtainTime(p), ready, h.Failures)
}

// appendCell appends the cell in column x, counted from A's base.
func appendCell(dst []byte, g *Game, s *State, x, y int) []byte {
	p, cell := cellOf(x, y)
	h, enemy := &s.Half[p], &s.Half[p^1]
	switch kind, ok := h.Kind(cell); {
	case !ok:
		dst = append(dst, '.')
	case h.Live>>cell&1 == 0:
		dst = append(dst, textLetters[kind]|0x20)
		dst = strconv.AppendInt(dst, int64(g.RoundsUntilDone(s, p, cell)), 10)
	default:
		dst = append(dst, textLetters[kind])
		if t := &h.Tesla; kind == Tesla && h.Teslas == 2 && int(t[0].Cell) == cell && h.Live>>t[1].Cell&1 != 0 {
			dst = append(dst, '*')
		}
		for range (g.rules.Buildings[kind].Health - g.HealthOf(s, p, cell)) / g.damage {
			dst = append(dst, '\'')
		}
		if idle := g.Cooldown(s, p, cell); idle > 0 {
			dst = strconv.AppendInt(dst, int64(idle), 10)
		}
	}
	var missiles [2]int
	missiles[p], missiles[p^1] = h.MissilesOwn(cell), enemy.MissilesFar(cell)
	dst = append(dst, strings.Repeat(">", missiles[0])...)
	return append(dst, strings.Repeat("<", missiles[1])...)
}

// cellOf returns the half and the cell number in it of the cell in column x,
// counted from A's base.
func cellOf(x, y int) (sim.Player, int) {
	if x < Width {
		return 0, y*Width + x
	}
	return 1, y*Width + 2*Width - 1 - x
}
