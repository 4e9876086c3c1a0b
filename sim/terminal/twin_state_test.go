package terminal_test

import (
	"fmt"
	"strings"
	"unsafe"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/internal/plain"
)

// bytesOf are the bytes of a state.
func bytesOf(s *terminal.State) [unsafe.Sizeof(terminal.State{})]byte {
	return *(*[unsafe.Sizeof(terminal.State{})]byte)(unsafe.Pointer(s))
}

// stateOf is the state that the fast game should be in between two turns.
func stateOf(twin *plain.Game) (s terminal.State) {
	s.NextID, s.Turn = twin.NextID, twin.Turn
	for p, player := range twin.Players {
		s.Health[p], s.Cores[p], s.Bits[p], s.Time[p] = player.Health, player.Cores, player.Bits, player.Time
	}
	for _, u := range twin.Structures {
		cell, _ := bitboard.DiamondCell(u.At.X, u.At.Y)
		s.Own[u.Player].Add(cell)
		mark := uint32(u.Kind) | uint32(u.Player)<<3 | uint32(u.RemoveIn)<<4 | u.ID<<8
		switch u.Kind {
		case terminal.Support:
			s.Supports.Add(cell)
		case terminal.Turret:
			s.Turrets.Add(cell)
		}
		if u.Upgraded {
			s.Upgraded.Add(cell)
			mark |= 1 << 2
		}
		if u.RemoveIn > 0 {
			s.Marked.Add(cell)
		}
		s.Cells[cell] = terminal.Cell{Health: u.Base, Mark: mark}
		list := &s.Ages[u.Player][u.Kind]
		list.Cell[list.N] = uint8(terminal.Local(u.At.X, u.At.Y))
		list.N++
	}
	return s
}

// compareState compares every field of a state between two turns with the
// plain twin, but what is left in Ages behind their ends.
func compareState(s *terminal.State, twin *plain.Game) string {
	fast, want := *s, stateOf(twin)
	for p := range fast.Ages {
		for k := range fast.Ages[p] {
			list := &fast.Ages[p][k]
			clear(list.Cell[list.N:])
		}
	}
	if fast == want {
		return ""
	}
	for cell := range fast.Cells {
		if fast.Cells[cell] != want.Cells[cell] {
			x, y := bitboard.DiamondXY(cell)
			return fmt.Sprintf("cell %d (%d, %d): fast %+v, plain %+v", cell, x, y, fast.Cells[cell], want.Cells[cell])
		}
	}
	fast.Cells, want.Cells = [bitboard.DiamondSpan]terminal.Cell{}, [bitboard.DiamondSpan]terminal.Cell{}
	for p := range fast.Ages {
		for k := range fast.Ages[p] {
			a, b := &fast.Ages[p][k], &want.Ages[p][k]
			if *a != *b {
				return fmt.Sprintf("ages of player %d, %v: fast %v, plain %v", p, terminal.Kind(k), a.Cell[:a.N], b.Cell[:b.N])
			}
			*a, *b = terminal.Ages{}, terminal.Ages{}
		}
	}
	return fmt.Sprintf("state without cells and ages: fast %+v, plain %+v", fast, want)
}

// drawPieces draws units: structures by the first letter of their kind, large
// when upgraded, with ! when marked; mobile units as their number, * from 10
// on. Below it is a list of all.
func drawPieces(pieces []terminal.Piece) string {
	var board [terminal.Side][terminal.Side]string
	var mobile [terminal.Side][terminal.Side]int
	var list strings.Builder
	for _, u := range pieces {
		fmt.Fprintf(&list, "%v\n", u)
		at := &board[u.At.Y][u.At.X]
		if u.Kind.Mobile() {
			mobile[u.At.Y][u.At.X]++
			if *at = fmt.Sprint(mobile[u.At.Y][u.At.X]); len(*at) > 1 {
				*at = "*"
			}
			continue
		}
		*at = u.Kind.String()[:1]
		if u.Upgraded {
			*at = strings.ToUpper(*at)
		}
		if u.RemoveIn > 0 {
			*at += "!"
		}
	}
	var text strings.Builder
	for y := terminal.Side - 1; y >= 0; y-- {
		fmt.Fprintf(&text, "%2d ", y)
		for x := range terminal.Side {
			cell := board[y][x]
			if cell == "" {
				cell = " "
				if terminal.Inside(x, y) {
					cell = "."
				}
			}
			fmt.Fprintf(&text, "%-2s", cell)
		}
		text.WriteByte('\n')
	}
	return text.String() + list.String()
}

// besides sets two texts side by side, with a mark between lines that differ.
func besides(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	var text strings.Builder
	line := func(lines []string, i int) string {
		if i < len(lines) {
			return lines[i]
		}
		return ""
	}
	for i := range max(len(left), len(right)) {
		a, b, mark := line(left, i), line(right, i), " "
		if a != b {
			mark = "≠"
		}
		fmt.Fprintf(&text, "%-60s %s %s\n", a, mark, b)
	}
	return text.String()
}

// drawOrders lists the orders of both seats.
func drawOrders(orders [2][]sim.Order) string {
	var text strings.Builder
	for p := range orders {
		for _, o := range orders[p] {
			fmt.Fprintf(&text, "seat %d: %#x %+v\n", p, uint64(o), terminal.Decode(o))
		}
	}
	return text.String()
}
