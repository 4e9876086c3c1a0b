package display

import (
	"fmt"
	"strings"

	"moonfarm/sim"
)

// AppendConsole appends the position as the console map, always seen from A:
// an empty line, a status line for each player, and rows of cells [LBR].
//
// L is the cell's own column and R its row; missiles of B replace L by one
// "<" each, missiles of A replace R by one ">" each. L is filled up with
// blanks on the right and R on the left, each to its most marks in any cell.
// With a curtain up, a cell without brackets stands in the middle of every row,
// with "\" in place of L for A's and "/" in place of R for B's.
func (p *Position) AppendConsole(dst []byte) []byte {
	dst = append(dst, '\n')
	for i := range p.Players {
		dst = p.appendStatus(dst, sim.Player(i))
	}
	b := p.board()
	left, right := 1, 1
	for y := range Rows {
		for x := range Columns {
			left = max(left, b.missiles[y][x][SeatB])
			right = max(right, b.missiles[y][x][SeatA])
		}
	}
	for y := range Rows {
		for x := range Columns {
			if x == Columns/2 {
				dst = p.appendCurtain(dst, left, right)
			}
			icon, own := byte(' '), x
			if i := b.building[y][x]; i > 0 {
				icon = p.icon(&p.Buildings[i-1])
			}
			if x >= Columns/2 {
				own = Columns - 1 - x
			}
			dst = fmt.Appendf(dst, "[%-*s%c%*s]", left, marks(byte('0'+own), "<", b.missiles[y][x][SeatB]), icon,
				right, marks(byte('0'+y), ">", b.missiles[y][x][SeatA]))
		}
		dst = append(dst, '\n')
	}
	return dst
}

// marks returns n marks, or the digit if n is 0.
func marks(digit byte, mark string, n int) string {
	if n == 0 {
		return string(digit)
	}
	return strings.Repeat(mark, n)
}

// appendStatus appends the status line of a player.
func (p *Position) appendStatus(dst []byte, seat sim.Player) []byte {
	player, available := &p.Players[seat], "No"
	if player.CurtainAvailable {
		available = "Yes"
	}
	return fmt.Appendf(dst, "Player %c, Health=%3d, Energy=%6d, Score=%6d, IronCurtainAvailable= %s\n",
		Letters[seat], player.Health, player.Energy, player.Score, available)
}

// appendCurtain appends the cell between the halves, if a curtain is up.
func (p *Position) appendCurtain(dst []byte, leftWidth, rightWidth int) []byte {
	a, b := p.Players[SeatA].CurtainActive(), p.Players[SeatB].CurtainActive()
	if !a && !b {
		return dst
	}
	left, right := " ", " "
	if a {
		left = "\\"
	}
	if b {
		right = "/"
	}
	return fmt.Appendf(dst, " %-*s %*s ", leftWidth, left, rightWidth, right)
}
