// Package plain plays light cycles in the slowest and most literal way, cell by
// cell. It is the twin of the fast game, for tests only.
package plain

// Game is a game in progress.
type Game struct {
	Torus  bool
	Board  [8][8]byte // row, column: 0, or 'a' or 'b' for a trail
	X, Y   [2]int     // the cell of each cycle
	DX, DY [2]int     // its step if it goes straight on
	Crash  [2]bool
	Turns  int
}

// New starts a game: cycle 0 at x, y goes right, cycle 1 at the opposite cell
// goes left.
func New(torus bool, x, y int) *Game {
	g := &Game{Torus: torus, X: [2]int{x, 7 - x}, Y: [2]int{y, 7 - y}, DX: [2]int{1, -1}}
	for p := range 2 {
		g.Board[g.Y[p]][g.X[p]] = byte('a' + p)
	}
	return g
}

// Play plays a turn with the orders of both cycles, and reports whether the
// game goes on.
func (g *Game) Play(orders [2]int) bool {
	var x, y [2]int
	for p := range 2 {
		switch dx, dy := g.DX[p], g.DY[p]; orders[p] { // y grows downwards
		case 1: // left
			g.DX[p], g.DY[p] = dy, -dx
		case 2: // right
			g.DX[p], g.DY[p] = -dy, dx
		}
		x[p], y[p] = g.X[p]+g.DX[p], g.Y[p]+g.DY[p]
		if g.Torus {
			x[p], y[p] = (x[p]+8)%8, (y[p]+8)%8
		}
		if x[p] < 0 || x[p] > 7 || y[p] < 0 || y[p] > 7 {
			g.Crash[p] = true
		} else if g.Board[y[p]][x[p]] != 0 {
			g.Crash[p] = true
		}
	}
	if x[0] == x[1] && y[0] == y[1] {
		g.Crash = [2]bool{true, true}
	}
	for p := range 2 {
		if !g.Crash[p] {
			g.X[p], g.Y[p] = x[p], y[p]
			g.Board[y[p]][x[p]] = byte('a' + p)
		}
	}
	g.Turns++
	return !g.Crash[0] && !g.Crash[1]
}

// Result returns 1 if cycle p has won, -1 if it has lost, else 0.
func (g *Game) Result(p int) int {
	switch {
	case g.Crash[p] && !g.Crash[1-p]:
		return -1
	case g.Crash[1-p] && !g.Crash[p]:
		return 1
	}
	return 0
}
