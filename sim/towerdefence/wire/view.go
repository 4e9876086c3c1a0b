package wire

import (
	"strconv"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// The players as the original names them in its displays.
const (
	seatA sim.Player = 0
	seatB sim.Player = 1
)

// letters names the players.
const letters = "AB"

// view turns columns and players to what one player is shown: itself as A, on the left.
type view struct{ viewer sim.Player }

// x is a column as the viewer sees it, and back.
func (v view) x(x int) int {
	if v.viewer == seatB {
		return Columns - 1 - x
	}
	return x
}

// displayWriter appends a display as one player sees it.
type displayWriter struct {
	buf []byte
	view
	*Position
}

func (d *displayWriter) raw(s string) { d.buf = append(d.buf, s...) }

// letter is the letter of a player as the viewer sees him.
func (v view) letter(p sim.Player) byte { return letters[(p^v.viewer)&1] }

// displayKinds is the order in which our displays list the kinds; in the
// original's state.json it varies from run to run, its text map has this one.
var displayKinds = [4]towerdefence.Kind{towerdefence.Attack, towerdefence.Defense, towerdefence.Energy, towerdefence.Tesla}

// energyPerShot is a field of every building in state.json.
func energyPerShot(r *towerdefence.Rules, k towerdefence.Kind) int {
	if k == towerdefence.Tesla {
		return r.TeslaEnergyPerShot
	}
	return 0
}

// board finds what stands and flies on a cell.
type board struct {
	building [Rows][Columns]int    // index + 1 into Position.Buildings
	missiles [Rows][Columns][2]int // count by owner
	flying   [Rows][Columns][]int  // indices into Position.Missiles
}

// board sorts buildings and missiles into their cells; what lies outside the
// map, which no position of a match has, is left out.
func (p *Position) board() *board {
	b := new(board)
	for i, x := range p.Buildings {
		if onMap(x.X, x.Y) {
			b.building[x.Y][x.X] = i + 1
		}
	}
	for i, m := range p.Missiles {
		if onMap(m.X, m.Y) {
			b.missiles[m.Y][m.X][m.Owner&1]++
			b.flying[m.Y][m.X] = append(b.flying[m.Y][m.X], i)
		}
	}
	return b
}

func onMap(x, y int) bool { return uint(x) < Columns && uint(y) < Rows }

// icon is the letter of a building on the maps: lower case while unfinished.
func (p *Position) icon(b *Building) byte {
	letter := p.Rules.Buildings[b.Kind].Icon
	if b.BuildTime > -1 {
		letter |= 'a' - 'A'
	}
	return letter
}

// appendInt appends a decimal number.
func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// appendPadded appends a number in at least width characters.
func appendPadded(dst []byte, n, width int) []byte {
	digits := strconv.Itoa(n)
	for i := len(digits); i < width; i++ {
		dst = append(dst, ' ')
	}
	return append(dst, digits...)
}
