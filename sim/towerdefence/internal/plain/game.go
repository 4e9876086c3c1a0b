// Package plain is the slow, literal twin of the official engine of Tower
// Defence (Entelect Challenge 2018, release 3.0.2), with which tests compare
// the fast game. It keeps buildings and missiles as lists in the order of the
// original, takes commands as text and follows every rule literally. It is also
// the source of values that only the displays show: the orders of the lists and
// the hits of a round.
//
// It shares only the rule values with the fast game. Numbers in comments are
// clauses of RULES.md.
package plain

import (
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// The board in absolute columns: A owns 0 … 7, B owns 8 … 15.
const (
	width  = 2 * towerdefence.Width
	height = towerdefence.Height
)

// A and B are the two players.
const (
	A sim.Player = 0
	B sim.Player = 1
)

// Building is a building on the map.
type Building struct {
	X, Y      int // absolute column, row
	Owner     sim.Player
	Kind      towerdefence.Kind
	Health    int
	BuildTime int // falls by 1 in every round, without end; −1 and below: finished
	Cooldown  int // rounds until the next shot
}

// Missile is a missile in flight.
type Missile struct {
	X, Y  int // absolute column, row
	Owner sim.Player
	ID    int // 1, 2, 3, … in the order of creation; only for displays
}

// Cell is an entry of a hit list.
type Cell struct {
	X, Y  int // absolute column, row
	Owner sim.Player
}

// Player is the part of the state that belongs to one player.
type Player struct {
	Energy, Health, HitsTaken, Score int
	CurtainAvailable                 bool
	CurtainTime                      int // 0 or more: the curtain is active
	FailCount                        int // consecutive failed commands
}

// Game is a match. New makes one; the zero value is invalid.
type Game struct {
	Rules     towerdefence.Rules
	First     sim.Player // the player whose command is carried out first, in every round
	Round     int        // number of the round about to be played
	Players   [2]Player
	Buildings []Building // in the order of placement; within a round First's building is first
	Missiles  []Missile  // in the order of their creation
	// TeslaHits lists the shots of the last round that had an effect, in firing
	// order. The cells of a shot are: (0, 0) with the base's owner if it hit
	// the base, then the hit buildings in column order, then the tower. A shot
	// into a curtain has the tower, and the cell of the shield with the tower's
	// owner.
	TeslaHits [][]Cell
	// CurtainHits lists the missiles that curtains blocked in the last round:
	// the cell of the shield with the shooter.
	CurtainHits []Cell
	// Fired is the number of missiles created so far.
	Fired int
}

// End is whether and why a match is over.
type End uint8

// The ends of a match.
const (
	Running   End = iota // not over
	Dead                 // a base is at 0
	MaxRounds            // the last round was played
	Failed               // a player's failures reached the limit
	Aborted              // a command made the original engine throw; the match has no result
)

// String returns the word of the recordings: "" for a running match, "dead",
// "maxrounds", "timeout" (for Failed) and "aborted", which no recording
// contains.
func (e End) String() string {
	switch e {
	case Running:
		return ""
	case Dead:
		return "dead"
	case MaxRounds:
		return "maxrounds"
	case Failed:
		return "timeout"
	case Aborted:
		return "aborted"
	}
	return "invalid"
}

// New returns the first position of a match with these rules (2.4).
func New(r towerdefence.Rules) *Game {
	g := &Game{Rules: r}
	for p := range g.Players {
		energy, health := r.Start(sim.Player(p))
		g.Players[p] = Player{Energy: energy, Health: health}
	}
	return g
}

// Clone returns an independent copy.
func (g *Game) Clone() *Game {
	c := *g
	c.Buildings = append([]Building(nil), g.Buildings...)
	c.Missiles = append([]Missile(nil), g.Missiles...)
	c.TeslaHits = nil
	for _, shot := range g.TeslaHits {
		c.TeslaHits = append(c.TeslaHits, append([]Cell(nil), shot...))
	}
	c.CurtainHits = append([]Cell(nil), g.CurtainHits...)
	return &c
}

// Play plays one round with the command texts of A and B (3.1 to 3.23). A text
// that makes the original throw leaves the position unchanged.
func (g *Game) Play(a, b string) End {
	if throws(a) || throws(b) {
		return Aborted
	}
	g.TeslaHits, g.CurtainHits = nil, nil
	commands := [2]string{a, b}
	for _, p := range [2]sim.Player{g.First, opponent(g.First)} {
		g.command(p, commands[p])
	}
	g.construct()
	g.updateCurtains()
	g.fireTeslas()
	g.fireAttackBuildings()
	for step := 0; step < g.Rules.Buildings[towerdefence.Attack].Speed && len(g.Missiles) > 0; step++ {
		g.moveMissiles()
	}
	g.removeRuins()
	g.payIncome()
	g.Round++
	return g.end()
}

// end returns whether and why the match is over (5.1 to 5.3); failures count
// first.
func (g *Game) end() End {
	for _, p := range g.Players {
		if p.FailCount >= g.Rules.MaxDoNothings {
			return Failed
		}
	}
	switch {
	case g.DeadBases() > 0:
		return Dead
	case g.Round > g.Rules.MaxRounds:
		return MaxRounds
	}
	return Running
}

// DeadBases returns the number of bases at 0.
func (g *Game) DeadBases() int {
	n := 0
	for _, p := range g.Players {
		if p.Health <= 0 {
			n++
		}
	}
	return n
}

// Winner returns the player who wins if the match ends here (5.4); ok is false
// for a tie.
func (g *Game) Winner() (winner sim.Player, ok bool) {
	a, b := g.Players[A], g.Players[B]
	switch {
	case a.Health > 0 && b.Health <= 0:
		return A, true
	case a.Health <= 0 && b.Health > 0:
		return B, true
	case a.Score > b.Score:
		return A, true
	case a.Score < b.Score:
		return B, true
	}
	return A, false
}

// Absolute converts player p's own column x to the absolute column and back.
func Absolute(p sim.Player, x int) int {
	if p == B {
		return width - 1 - x
	}
	return x
}

// front returns the absolute front column of player p.
func front(p sim.Player) int { return Absolute(p, towerdefence.Width-1) }

// direction returns the direction in which p's missiles and lightning go.
func direction(p sim.Player) int {
	if p == B {
		return -1
	}
	return +1
}

// opponent returns the other player.
func opponent(p sim.Player) sim.Player { return 1 - p }

// score adds points. The original's score has 32 bits and wraps around.
func (p *Player) score(points int) { p.Score = int(int32(p.Score + points)) }

// CurtainActive reports whether the curtain protects, or is shown as active
// before round 0.
func (p *Player) CurtainActive() bool { return p.CurtainTime >= 0 }

// buildingAt returns the index of the building on a cell, or −1.
func (g *Game) buildingAt(x, y int) int {
	for i, b := range g.Buildings {
		if b.X == x && b.Y == y {
			return i
		}
	}
	return -1
}

// finished reports whether construction of b is over.
func finished(b Building) bool { return b.BuildTime <= -1 }
