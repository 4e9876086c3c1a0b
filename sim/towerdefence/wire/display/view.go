package display

import (
	"strconv"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// The players as the original names them in its displays.
const (
	SeatA sim.Player = 0
	SeatB sim.Player = 1
)

// Letters names the players.
const Letters = "AB"

// view converts columns and players to what the viewer is shown: himself as A, on the left.
type view struct{ viewer sim.Player }

// x converts an absolute column to the column that the viewer sees, and back.
func (v view) x(x int) int {
	if v.viewer == SeatB {
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

// letter returns the letter of a player as the viewer sees him.
func (v view) letter(p sim.Player) byte { return Letters[(p^v.viewer)&1] }

// displayKinds is the order in which our displays list the kinds. The original's text map
// has the same order; in its state.json the order varies from run to run.
var displayKinds = [4]towerdefence.Kind{towerdefence.Attack, towerdefence.Defense, towerdefence.Energy, towerdefence.Tesla}

// energyPerShot returns the value of that field, which every building in state.json has.
func energyPerShot(r *towerdefence.Rules, k towerdefence.Kind) int {
	if k == towerdefence.Tesla {
		return r.TeslaEnergyPerShot
	}
	return 0
}

// board indexes the buildings and missiles of a position by cell.
type board struct {
	building [Rows][Columns]int    // index + 1 into Position.Buildings
	missiles [Rows][Columns][2]int // count by owner
	flying   [Rows][Columns][]int  // indices into Position.Missiles
}

// board sorts buildings and missiles into their cells. It leaves out everything outside the
// map; no position of a match has anything there.
func (p *Position) board() *board {
	b := new(board)
	for i, x := range p.Buildings {
		if OnMap(x.X, x.Y) {
			b.building[x.Y][x.X] = i + 1
		}
	}
	for i, m := range p.Missiles {
		if OnMap(m.X, m.Y) {
			b.missiles[m.Y][m.X][m.Owner&1]++
			b.flying[m.Y][m.X] = append(b.flying[m.Y][m.X], i)
		}
	}
	return b
}

// OnMap reports whether the cell in an absolute column and a row is on the map.
func OnMap(x, y int) bool { return uint(x) < Columns && uint(y) < Rows }

// icon returns the letter of a building on the maps: lower case while unfinished.
func (p *Position) icon(b *Building) byte {
	letter := p.Rules.Buildings[b.Kind].Icon
	if b.BuildTime > -1 {
		letter |= 'a' - 'A'
	}
	return letter
}

// appendInt appends a decimal number.
func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
