// Package plain is the slow, literal twin of CodeCraft 2020, with which tests compare the fast game.
// It keeps all entities, including resources, as structs in one list in the order of their ids,
// measures distances between rectangles, and follows the wording of every rule.
//
// It shares only the rule values, the orders and the state with the fast game.
package plain

import (
	"cmp"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

const side = codecraft.Side

// nobody is the owner of resources.
const nobody = -1

// Pos is a cell of the map.
type Pos struct{ X, Y int }

// inside reports whether the cell is on the map.
func (p Pos) inside() bool { return p.X >= 0 && p.X < side && p.Y >= 0 && p.Y < side }

// manhattan returns the distance between two cells.
func manhattan(a, b Pos) int { return max(a.X-b.X, b.X-a.X) + max(a.Y-b.Y, b.Y-a.Y) }

// directions has the steps of the directions of codecraft.Steps.
var directions = [4]Pos{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}

func (p Pos) step(d int) Pos { return Pos{p.X + directions[d].X, p.Y + directions[d].Y} }

// Entity is anything on the map.
type Entity struct {
	ID     uint32
	Owner  int // player, or nobody
	Type   codecraft.Type
	At     Pos // lowest corner
	Health int
	Active bool
	Action *Action // nil: no action was ever given

	size  int
	acted bool // in this tick

	// Its possible actions in this tick.
	victims []*Entity // possible targets of its attack action, by id
	steps   codecraft.Steps
	next    *Pos // drawn from the steps; nil: it does not move
}

// Action is the action of an entity; absent parts are nil.
type Action struct {
	Move   *Move
	Build  *Build
	Target *uint32
	Auto   *Auto
	Repair *uint32
}

// Move is a move action.
type Move struct {
	To      Pos  // the target; if Outside, the nearest cell of the map
	Outside bool // the target is not on the map
	Closest bool
	Break   bool
}

// Build is a build action.
type Build struct {
	Type codecraft.Type
	At   Pos
}

// Auto is an auto attack.
type Auto struct {
	Range int
	Valid codecraft.TypeSet
}

// Game is a game between two ticks, with the events of the last tick.
type Game struct {
	Rules    codecraft.Rules
	Seed     uint64
	Tick     int32
	NextID   uint32
	Score    [sim.MaxPlayers]int32
	Resource [sim.MaxPlayers]int32
	Entities []*Entity // by id

	Attacks []codecraft.Hit // attacks of the last tick, in order
	Died    []uint32        // ids of entities that died in the last tick: units, then resources
	Tally   Tally           // counts over all ticks

	firstID uint32
	start   []Pos // the places of resources at the start, by id from firstID on

	grid  [side][side]*Entity // [x][y]: the entity that covers a cell
	sight [sim.MaxPlayers]*[side][side]bool
	goals map[attacker]*[side][side]bool
}

// Tally counts kinds of path searches.
type Tally struct {
	Searches int // searches for the target of a move
	Limited  int // searches that ended at the limit of cells
	Weighted int // searches that found entities to break through
	Blocked  int // searches that closed all reachable cells in vain
	Beyond   int // searches with a target outside of the map
	Chases   int // chases that found a path
	Lost     int // chases that ended at the limit of cells
}

// New returns a game with these rules and without entities.
func New(r codecraft.Rules) *Game { return &Game{Rules: r} }

// of returns the properties of an entity.
func (g *Game) of(e *Entity) *codecraft.Properties { return &g.Rules.Types[e.Type] }

// players returns the number of players.
func (g *Game) players() int { return int(g.Rules.Players) }

// Find returns the entity with that id, or nil.
func (g *Game) Find(id uint32) *Entity {
	i, ok := slices.BinarySearchFunc(g.Entities, id, func(e *Entity, id uint32) int { return cmp.Compare(e.ID, id) })
	if !ok {
		return nil
	}
	return g.Entities[i]
}

// cells returns the cells that an entity covers.
func (e *Entity) cells() []Pos { return square(e.At, e.size) }

// square returns the cells of a square with that lowest corner.
func square(at Pos, size int) (list []Pos) {
	for x := range size {
		for y := range size {
			list = append(list, Pos{at.X + x, at.Y + y})
		}
	}
	return list
}

// gap returns the distance between two squares: 0 if they overlap, 1 if they are adjacent.
func gap(a Pos, sa int, b Pos, sb int) int {
	dx := max(0, b.X-(a.X+sa-1), a.X-(b.X+sb-1))
	dy := max(0, b.Y-(a.Y+sa-1), a.Y-(b.Y+sb-1))
	return dx + dy
}

func (e *Entity) distance(o *Entity) int { return gap(e.At, e.size, o.At, o.size) }

// cover fills the grid.
func (g *Game) cover() {
	g.grid = [side][side]*Entity{}
	for _, e := range g.Entities {
		for _, c := range e.cells() {
			g.grid[c.X][c.Y] = e
		}
	}
}

// occupied returns the entity that covers a cell, or nil.
func (g *Game) occupied(c Pos) *Entity { return g.grid[c.X][c.Y] }

// Outcome returns the score of player p and its place by score; equal scores share a place.
func (g *Game) Outcome(p int) sim.Outcome {
	better, worse := 0, 0
	for q := range g.players() {
		if g.Score[q] > g.Score[p] {
			better++
		}
		if g.Score[q] < g.Score[p] {
			worse++
		}
	}
	o := sim.Outcome{Score: float64(g.Score[p])}
	if g.players() > 1 {
		o.Result = float32(worse-better) / float32(g.players()-1)
	}
	return o
}
