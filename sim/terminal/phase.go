package terminal

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// phase is the memory of an action phase.
//
// Mobile units come in stacks: units of one kind, player and cell with
// consecutive ids. They share for good where they are, where they go, and what
// shields them, so a stack moves as one. In it a run is a part, again of
// consecutive ids, whose healths are equal: shots always hit the last of the
// run with the lowest health, so a stack of a hundred is seldom more than two
// runs.
//
// Structures that shoot are guns here, those that shield are wards. A stack that
// comes to a cell looks up those that reach it, and keeps the guns in the order
// in which they shoot.
type phase struct {
	frame   int32
	soonest int32 // the frame of the next step of any stack, or earlier
	stacks  []stack
	live    []uint16  // the stacks with units left, in the order of ids
	runs    []run     // of all stacks: each has room for one a unit
	ids     []uint32  // of the units at the beginning of step 4, likewise, where needed: see roll
	aimed   []gun     // guns that reach the stacks: HalfCells for each
	shares  []float32 // shields received by the stacks: HalfCells for each unit enlisted
	left    [2]int    // mobile units that may still be enlisted
	starts  bitboard.Diamond
	due     [2 * HalfCells]uint16 // scratch of removals

	free    bitboard.Diamond    // cells without a structure, since the last frame's end
	targets [2]bitboard.Diamond // structures of a player that can be shot at
	fallen  []uint16            // structures that fell in this frame
	epoch   uint32              // number of the free board, over all turns
	sideAt  [4]uint32           // epoch of each side's field
	fields  []bitboard.Field    // of the four sides, then of the pockets
	pockets []pocket

	gunBoards  [2][3][]bitboard.Diamond // the guns of a player by group of mobile kinds and entry of tables.guns
	wardBoards [2][3][]bitboard.Diamond // its wards likewise
	// Where the guns and wards of a player reach at the turn's start, by group.
	gunZone  [2][3]bitboard.Diamond
	wardZone [2][3]bitboard.Diamond
	wardsOut [2][3]int32 // how many wards that were

	contact bool     // somebody can shoot
	doomed  bool     // somebody decided to self-destruct in this frame
	thinned bool     // a stack has no units left
	crowd   [2]int   // stacks of each player on the live list
	scored  [2]int32 // units that breached, for Simulate
	shots   [2][]shotEvent
	fresh   [HalfCells]gun    // scratch: structures of one player by age
	keys    [HalfCells]uint32 // scratch of pick
	granted []ShieldEvent
}

// gun is a structure that shoots: id<<16 | cell, so that the oldest comes first.
type gun uint64

const noGun = ^gun(0)

func (g gun) cell() int  { return int(g & 511) }
func (g gun) id() uint32 { return uint32(g >> 16) }

// pocket is an enclosed region, by the cell in it where units bound for a side
// end up.
type pocket struct {
	goal uint16
	side uint8
}

// stack is a number of mobile units with everything they share.
type stack struct {
	cell  uint16
	owner uint8
	kind  uint8 // from Scout = 0
	lane  uint8 // where it goes, and the axis of its previous step
	phase uint8 // distance modulo 4, in the field of the epoch

	arrived bool   // it is on this cell since this frame's movement
	doomed  bool   // it decided to self-destruct in this frame
	near    bool   // structures of the enemy are in its range
	field   uint16 // of phase.fields
	epoch   uint32

	next   int32 // frame of its next step
	acc    float32
	moves  int32
	n      int32  // units left
	shots  int32  // units that shoot in this frame
	fired  int32  // of them, those that have
	first  uint32 // id of the first unit enlisted
	base   int32  // its part of runs and ids begins here …
	runs   int32  // … and has so many runs
	shares int32  // shields received: the first so many of its part of phase.shares

	guns  int32  // the enemy's that reach its cell: the first so many of its part of phase.aimed
	spent int32  // of them, those that have shot in this frame
	aim   uint16 // the structure it shoots at, as long as that stands and it stays; 0: to be found

	had bitboard.Diamond // wards that have shielded it
}

// run is a number of units of a stack with equal healths.
type run struct {
	base  float32 // health without shields
	sum   float32 // of the shields left, added from the oldest on
	total float32 // base + sum
	front float32 // what is left of the oldest shield, if there is any
	head  int32   // its number; as many as the stack received if none is left
	n     int32
	first uint32 // id
}

// make allocates the memory for so many mobile units a player.
func (a *phase) make(mobile int, t *tables) {
	n := 2 * mobile
	a.stacks = make([]stack, 0, n)
	a.live = make([]uint16, 0, n)
	a.runs = make([]run, 0, n)
	a.ids = make([]uint32, n)
	a.shares = make([]float32, n*HalfCells)
	a.aimed = make([]gun, n*HalfCells)
	a.fallen = make([]uint16, 0, 2*HalfCells)
	a.pockets = make([]pocket, 0, n)
	a.fields = make([]bitboard.Field, 4, 4+n)
	a.epoch = 1
	for p := range 2 {
		for m := range 3 {
			a.gunBoards[p][m] = make([]bitboard.Diamond, len(t.guns[m]))
			a.wardBoards[p][m] = make([]bitboard.Diamond, len(t.wards[m]))
		}
	}
}

// open begins a turn's action phase, without units.
func (a *phase) open() {
	a.frame = 0
	a.stacks, a.live, a.runs = a.stacks[:0], a.live[:0], a.runs[:0]
	a.fallen = a.fallen[:0]
	a.left = [2]int{cap(a.runs) / 2, cap(a.runs) / 2}
	a.starts = bitboard.Diamond{}
	a.contact, a.doomed, a.thinned = false, false, false
	a.crowd = [2]int{}
}

// room is the number of mobile units that seat p may still enlist. The rules'
// MaxMobile is more than any purse buys, so it bounds only states made by hand.
func (a *phase) room(p sim.Player) int { return a.left[p] }

// stands reports whether a mobile unit of seat p was spawned on the cell.
func (a *phase) stands(p sim.Player, cell int) bool { return a.starts.Has(cell) }

// enlist puts n mobile units with ids from first on a cell.
func (g *Game) enlist(p sim.Player, k Kind, cell int, first uint32, n int32) {
	a := &g.phase
	a.left[p] -= int(n)
	a.starts.Add(cell)
	if last := len(a.stacks) - 1; last >= 0 {
		st := &a.stacks[last]
		if st.cell == uint16(cell) && st.kind == uint8(k-Scout) && st.first+uint32(st.n) == first && st.owner == uint8(p) {
			st.n += n
			a.runs[st.base].n += n
			a.runs = a.runs[:len(a.runs)+int(n)]
			return
		}
	}
	u := &g.rules.Units[k]
	x := positions[cell].X
	side := uint8(topRight)
	switch {
	case p == 0 && x >= Side/2:
		side = topLeft
	case p == 1 && x < Side/2:
		side = bottomRight
	case p == 1:
		side = bottomLeft
	}
	a.crowd[p]++
	a.live = append(a.live, uint16(len(a.stacks)))
	a.stacks = a.stacks[:len(a.stacks)+1]
	st := &a.stacks[len(a.stacks)-1]
	*st = stack{
		cell: uint16(cell), owner: uint8(p), kind: uint8(k - Scout), lane: side << 6,
		arrived: true, next: -1, n: n, first: first, base: int32(len(a.runs)), runs: 1,
	}
	g.wait(st)
	a.runs = a.runs[:len(a.runs)+int(n)]
	a.runs[st.base] = run{base: u.Health, total: u.Health, n: n, first: first}
}

// wait finds the frame of the next step: speed is added in every frame, and a
// step taken, and 1 subtracted, when the sum reaches 1.
func (g *Game) wait(st *stack) {
	if period := g.period[st.kind]; period != 0 {
		st.next += period
		return
	}
	speed := g.rules.Units[Scout+Kind(st.kind)].Speed
	acc, next := st.acc+speed, st.next+1
	for acc < 1 {
		acc += speed
		next++
	}
	st.acc, st.next = acc-1, next
}

// muster numbers the structures that matter in this turn, once all orders are
// carried out.
func (g *Game) muster(s *State) {
	a := &g.phase
	if len(a.live) == 0 {
		return
	}
	a.newEpoch()
	for w := range a.free {
		a.free[w] = bitboard.DiamondBoard[w] &^ (s.Own[0][w] | s.Own[1][w])
	}
	a.targets = s.Own
	for p := range sim.Player(2) {
		for _, m := range g.groups {
			if a.crowd[p^1] > 0 {
				g.draw(s, p, g.guns[m], &g.gunEntry[m], a.gunBoards[p][m], &a.gunZone[p][m])
			}
			if a.crowd[p] > 0 {
				a.wardsOut[p][m] = g.draw(s, p, g.wards[m], &g.wardEntry[m], a.wardBoards[p][m], &a.wardZone[p][m])
			}
		}
	}
}

// draw draws the structures of player p that have one of the ranges, and where
// these reach, and counts them.
func (g *Game) draw(s *State, p sim.Player, list []rangeOf, entry *[forms]int8, boards []bitboard.Diamond, zone *bitboard.Diamond) (n int32) {
	*zone = bitboard.Diamond{}
	clear(boards)
	for k := range Structures {
		ages := &s.Ages[p][k]
		if entry[k] < 0 && entry[k+Structures] < 0 {
			continue
		}
		for _, local := range ages.Cell[:ages.N] {
			cell := int(localCell[p][local]) & (bitboard.DiamondSpan - 1)
			i := entry[form(s.Cells[cell].Mark)]
			if i < 0 {
				continue
			}
			n++
			boards[i].Add(cell)
			disc := &g.reach[int(list[i].class)<<9|cell]
			for w := range zone {
				zone[w] |= disc[w]
			}
		}
	}
	return n
}

// newEpoch marks the fields as out of date.
func (a *phase) newEpoch() {
	a.epoch++
	a.pockets, a.fields = a.pockets[:0], a.fields[:4]
}

// form is the form of a structure.
func form(mark uint32) int {
	return int(mark&markKind) + Structures*int(mark>>2&1)
}

// form returns the structures of seat p of a form.
func (s *State) form(p sim.Player, f int) (board bitboard.Diamond) {
	for w := range board {
		b := s.Own[p][w]
		switch f % Structures {
		case int(Wall):
			b &^= s.Supports[w] | s.Turrets[w]
		case int(Support):
			b &= s.Supports[w]
		default:
			b &= s.Turrets[w]
		}
		if f >= Structures {
			b &= s.Upgraded[w]
		} else {
			b &^= s.Upgraded[w]
		}
		board[w] = b
	}
	return board
}

// AppendMobile appends the mobile units of player p that are on the board
// during an action phase, or were at the end of the last one, in the order of
// their ids. The game over, they may be many; otherwise an action phase ends
// when there are none.
func (g *Game) AppendMobile(dst []Piece, p sim.Player) []Piece {
	for _, i := range g.live {
		st := &g.stacks[i]
		if st.owner != uint8(p) {
			continue
		}
		for _, r := range g.runs[st.base:][:st.runs] {
			for j := range uint32(r.n) {
				dst = append(dst, Piece{At: positions[st.cell], Kind: Scout + Kind(st.kind), Player: p, ID: r.first + j, Health: r.total})
			}
		}
	}
	return dst
}
