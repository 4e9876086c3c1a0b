package display

import "moonfarm/sim"

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
			dst = append(dst, '[')
			dst = appendLeft(dst, byte('0'+own), '<', b.missiles[y][x][SeatB], left)
			dst = append(dst, icon)
			dst = appendRight(dst, byte('0'+y), '>', b.missiles[y][x][SeatA], right)
			dst = append(dst, ']')
		}
		dst = append(dst, '\n')
	}
	return dst
}

// appendStatus appends the status line of a player.
func (p *Position) appendStatus(dst []byte, seat sim.Player) []byte {
	player := &p.Players[seat]
	dst = append(dst, "Player "...)
	dst = append(dst, Letters[seat])
	dst = appendPadded(append(dst, ", Health="...), player.Health, 3)
	dst = appendPadded(append(dst, ", Energy="...), player.Energy, 6)
	dst = appendPadded(append(dst, ", Score="...), player.Score, 6)
	dst = append(dst, ", IronCurtainAvailable= "...)
	if player.CurtainAvailable {
		return append(dst, "Yes\n"...)
	}
	return append(dst, "No\n"...)
}

// appendCurtain appends the cell between the halves, if a curtain is up.
func (p *Position) appendCurtain(dst []byte, leftWidth, rightWidth int) []byte {
	a, b := p.Players[SeatA].CurtainActive(), p.Players[SeatB].CurtainActive()
	if !a && !b {
		return dst
	}
	left, right := byte(' '), byte(' ')
	if a {
		left = '\\'
	}
	if b {
		right = '/'
	}
	dst = append(dst, ' ')
	dst = appendLeft(dst, left, 0, 0, leftWidth)
	dst = append(dst, ' ')
	dst = appendRight(dst, right, 0, 0, rightWidth)
	return append(dst, ' ')
}

// appendLeft appends n marks, or the digit if n is 0, and blanks up to width.
func appendLeft(dst []byte, digit, mark byte, n, width int) []byte {
	if n == 0 {
		dst, n = append(dst, digit), 1
	} else {
		dst = appendRepeated(dst, mark, n)
	}
	return appendRepeated(dst, ' ', width-n)
}

// appendRight is appendLeft with the blanks first.
func appendRight(dst []byte, digit, mark byte, n, width int) []byte {
	dst = appendRepeated(dst, ' ', width-max(n, 1))
	if n == 0 {
		return append(dst, digit)
	}
	return appendRepeated(dst, mark, n)
}

func appendRepeated(dst []byte, c byte, n int) []byte {
	for range n {
		dst = append(dst, c)
	}
	return dst
}
