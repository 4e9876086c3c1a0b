// Package plain is a slow, literal implementation of the rules of C1 Terminal, with which tests
// compare the fast game. It keeps units as structs in lists ordered by id, fills distance fields
// with a queue, and follows the text of the rules.
//
// It shares only the rule values, the orders and the types of events with the fast game. Numbers
// in comments are clauses of RULES.md. Every product is converted to float32 before a sum, because
// only the conversion prevents a fused multiply-add.
package plain

import (
	"cmp"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// side is the length of the grid around the arena.
const side = 28

// Pos is a cell of the arena.
type Pos struct{ X, Y int }

func (p Pos) event() terminal.Pos { return terminal.Pos{X: uint8(p.X), Y: uint8(p.Y)} }

// inside reports whether the cell belongs to the arena.
func (p Pos) inside() bool {
	if p.Y < 0 || p.Y >= side {
		return false
	}
	if p.Y < side/2 {
		return 13-p.Y <= p.X && p.X <= 14+p.Y
	}
	return p.Y-14 <= p.X && p.X <= 41-p.Y
}

// distance returns the squared distance between two cells.
func distance(a, b Pos) int { return (a.X-b.X)*(a.X-b.X) + (a.Y-b.Y)*(a.Y-b.Y) }

// Player holds the values of one player, without its units.
type Player struct {
	Health, Cores, Bits float32
	Time                uint32 // milliseconds thought so far
}

// Unit is a structure or a mobile unit.
type Unit struct {
	ID       uint32
	Kind     terminal.Kind
	Player   sim.Player
	At       Pos
	Upgraded bool
	RemoveIn int     // restores until the structure is removed; 0: not marked
	Base     float32 // health without shields

	// Only mobile units have the following fields.
	Shields    []float32 // oldest first
	ShieldedBy []uint32  // ids of the supports
	Target     edge
	Charge     float32 // sum of speed in 3.1
	Moves      int32
	Last       axis // of the last move
	doomed     bool // decided to self-destruct in this frame
	gone       bool // breached, or self-destructed and still a target in this frame

	values *terminal.Unit
}

// shielding returns the sum of the unit's shields, added from the oldest on.
func (u *Unit) shielding() float32 {
	sum := float32(0)
	for _, s := range u.Shields {
		sum += s
	}
	return sum
}

// Health returns the unit's health with its shields.
func (u *Unit) Health() float32 { return u.Base + u.shielding() }

// Piece returns the unit in the form of the fast game.
func (u *Unit) Piece() terminal.Piece {
	return terminal.Piece{
		At: u.At.event(), Kind: u.Kind, Player: u.Player, Upgraded: u.Upgraded,
		RemoveIn: uint8(u.RemoveIn), ID: u.ID, Health: u.Health(),
	}
}

// Game is a match. Use New; the zero value is not valid.
type Game struct {
	Rules      terminal.Rules
	Players    [2]Player
	NextID     uint32
	Turn       uint32  // turns played
	Structures []*Unit // of both players, in the order of their ids
	Mobile     []*Unit // mobile units of both players, in the order of their ids

	// Events has the events of the last frame, or of Deploy before the first frame. Removed has
	// the structures that the last restore removed.
	Events  terminal.Events
	Removed []terminal.DeathEvent

	frames int // frames played in this action phase
	grid   [side][side]*Unit
	fields [4]*field
}

// New returns a match with these rules at its start.
func New(r terminal.Rules) *Game {
	g := &Game{Rules: r}
	g.Reset()
	return g
}

// Reset begins a match.
func (g *Game) Reset() {
	r := g.Rules
	*g = Game{Rules: r, NextID: 1}
	for p := range g.Players {
		g.Players[p] = Player{Health: r.StartHealth, Cores: r.StartCores, Bits: r.StartBits}
	}
}

// structure returns the structure on a cell, or nil.
func (g *Game) structure(at Pos) *Unit { return g.grid[at.Y][at.X] }

// alive reports whether a unit is alive (3.13).
func (g *Game) alive(u *Unit) bool { return u.Health() > g.Rules.DeadAt }

// takeID returns the next id and increments it.
func (g *Game) takeID() uint32 {
	g.NextID++
	return g.NextID - 1
}

// Pieces returns the structures of player p in the order of their ids.
func (g *Game) Pieces(p sim.Player) []terminal.Piece { return pieces(g.Structures, p) }

// MobilePieces returns the mobile units of player p in the order of their ids.
func (g *Game) MobilePieces(p sim.Player) []terminal.Piece { return pieces(g.Mobile, p) }

func pieces(units []*Unit, p sim.Player) (all []terminal.Piece) {
	for _, u := range units {
		if u.Player == p {
			all = append(all, u.Piece())
		}
	}
	return all
}

// inOrder returns all units in the order of ids.
func (g *Game) inOrder() []*Unit {
	all := slices.Concat(g.Structures, g.Mobile)
	slices.SortFunc(all, func(a, b *Unit) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// over reports whether a player has no health left (5.1).
func (g *Game) over() bool { return g.Players[0].Health <= 0 || g.Players[1].Health <= 0 }

// Outcome returns the result and the score of seat p (5.2 to 5.4). A player who alone has no health
// left has lost. If both have no health left, the shorter thinking time wins; otherwise more health
// wins, then the shorter time. FirstWins gives player 1 what is equal then.
func (g *Game) Outcome(p sim.Player) sim.Outcome {
	me, you := &g.Players[p], &g.Players[1-p]
	won := 0
	if me.Health > 0 || you.Health > 0 {
		won = cmp.Compare(me.Health, you.Health)
	}
	if won == 0 {
		won = cmp.Compare(you.Time, me.Time)
	}
	if won == 0 && g.Rules.FirstWins {
		won = cmp.Compare(1-p, p)
	}
	return sim.Outcome{Result: float32(won), Score: float64(g.Rules.StartHealth - you.Health)}
}

// round rounds resources to tenths like the original (3.16, 4.3).
func round(v float32) float32 {
	return floor(float32(v*10)+0.5) / 10
}

// floor rounds down in float32.
func floor(v float32) float32 {
	whole := float32(int64(v))
	if whole > v {
		whole--
	}
	return whole
}
