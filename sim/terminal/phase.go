package terminal

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// actionPhase plays the action phase of a turn (RULES.md, 3.1 to 3.15). It holds
// the mobile units, which live no longer, and keeps its memory for the next turn.
//
// Mobile units come in stacks: units of one kind, player and cell with
// consecutive ids. They share for good where they are, where they go, and what
// shields them, so a stack moves as one. In it a run is a part, again of
// consecutive ids, whose healths are equal: shots always hit the last of the
// run with the lowest health, so a stack of a hundred is seldom more than two
// runs.
//
// A stack that comes to a cell looks up the turrets and supports that reach it,
// and keeps the turrets in the order in which they shoot.
type actionPhase struct {
	rules  *Rules
	record *Record // nil: events are not recorded
	tables

	frame    int32
	nextStep int32 // frame of the next step of any stack, or earlier

	stacks []stack
	live   []uint16  // the stacks with units left, in the order of ids
	runs   []run     // of all stacks: each has room for one a unit
	ids    []uint32  // of the units before explosions and shots, likewise: see callRoll
	aimed  []aged    // turrets that reach the stacks: HalfCells for each unit bought
	shares []float32 // shields received by the stacks, likewise
	room   [2]int32  // mobile units that may still be added
	starts bitboard.Diamond
	crowd  [2]int   // stacks of each player on the live list
	scored [2]int32 // units that breached, for Simulate

	paths    Paths               // as the structures stood at the last frame's end
	targets  [2]bitboard.Diamond // structures of a player that can be shot at
	fallen   []uint16            // cells of the structures that fell in this frame
	turrets  [2]reachers         // by player, as they stood at the last frame's end
	supports [2]reachers

	contact   bool     // somebody can shoot
	exploding bool     // somebody decided to self-destruct in this frame
	emptied   bool     // a stack has no units left
	aims      [2]int32 // by player: entries in its stacks' lists of turrets, of which the turret has not shot in this frame

	found   [HalfCells]aged   // scratch: structures of one player by age
	keys    [HalfCells]uint32 // scratch of chooseStructure
	shots   [2][]shotEvent    // of this frame, by the attacker's player
	granted []ShieldEvent     // in this frame
}

// aged is a structure as its id and its cell, so that the oldest comes first:
// id<<16 | cell.
type aged uint64

const agedIDShift = 16

func newAged(id uint32, cell int) aged { return aged(id)<<agedIDShift | aged(cell) }

func (x aged) cell() int  { return int(x & cellMask) }
func (x aged) id() uint32 { return uint32(x >> agedIDShift) }

// insert puts a structure in its place in a list that is sorted but for the
// last entry, which is free.
func insert(list []aged, x aged) {
	i := len(list) - 1
	for ; i > 0 && list[i-1] > x; i-- {
		list[i] = list[i-1]
	}
	list[i] = x
}

// reachers are the turrets, or the supports, of a player that do something to
// mobile units.
type reachers struct {
	boards [2]bitboard.Diamond // by range: those of the base form, then of the upgraded one
	n      [2]int32            // how many there were when the action phase began
	zone   bitboard.Diamond    // the cells that one of them could reach then, and perhaps a few more
}

// stack is a number of mobile units with everything they share.
type stack struct {
	cell     uint16
	owner    uint8
	kind     uint8 // from Scout = 0
	heading  heading
	field    uint16 // of actionPhase.paths, that it follows; noField: to be found
	distance uint8  // modulo 4, in the field
	arrived  bool   // it is on this cell since this frame's movement
	doomed   bool   // it decided to self-destruct in this frame
	near     bool   // structures of the enemy are in its range

	nextStep int32   // frame of its next step
	speedSum float32 // of 3.1, after that step
	moves    int32
	n        int32  // units left
	shots    int32  // units that shoot in this frame
	fired    int32  // of them, those that have
	first    uint32 // id of the first unit added
	base     int32  // its part of runs and ids begins here …
	runs     int32  // … and has so many runs
	shares   int32  // shields received: the first so many of its part of actionPhase.shares

	turrets  int32  // the enemy's that reach its cell: the first so many of its part of actionPhase.aimed
	spent    int32  // of them, those that have shot in this frame
	aim      uint16 // the structure it shoots at, as long as that stands and it stays; 0: to be found
	exploded bool   // it has self-destructed in this frame, and can be hit until its end

	had bitboard.Diamond // supports that have shielded it
}

// noField stands for a field that is to be found.
const noField = ^uint16(0)

func (k *stack) player() sim.Player { return sim.Player(k.owner) }
func (k *stack) unitKind() Kind     { return Scout + Kind(k.kind) }

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

// The memory of a stack.
func (a *actionPhase) runsOf(st *stack) []run { return a.runs[st.base:][:st.runs] }
func (a *actionPhase) sharesOf(st *stack) []float32 {
	return a.shares[int(st.base)*HalfCells:][:HalfCells]
}
func (a *actionPhase) turretsOf(st *stack) []aged {
	return a.aimed[int(st.base)*HalfCells:][:HalfCells]
}

// make fills the tables and allocates the memory for the mobile units.
func (a *actionPhase) make(r *Rules) {
	n := 2 * r.MaxMobile()
	a.rules = r
	a.tables.make(r)
	a.stacks = make([]stack, 0, n)
	a.live = make([]uint16, 0, n)
	a.runs = make([]run, 0, n)
	a.ids = make([]uint32, n)
	a.shares = make([]float32, n*HalfCells)
	a.aimed = make([]aged, n*HalfCells)
	a.fallen = make([]uint16, 0, 2*HalfCells)
	a.paths.pockets = make([]pocket, 0, n)
	a.paths.fields = make([]bitboard.Field, edges, edges+n)
}

// open begins a turn's action phase, without units.
func (a *actionPhase) open() {
	a.frame = 0
	a.stacks, a.live, a.runs = a.stacks[:0], a.live[:0], a.runs[:0]
	a.fallen = a.fallen[:0]
	half := int32(cap(a.runs) / 2) // more than any purse buys: it bounds only states made by hand
	a.room = [2]int32{half, half}
	a.starts = bitboard.Diamond{}
	a.contact, a.exploding, a.emptied = false, false, false
	a.crowd = [2]int{}
}

// add puts n mobile units with ids from first on a cell.
func (a *actionPhase) add(p sim.Player, k Kind, cell int, first uint32, n int32) {
	a.room[p] -= n
	a.starts.Add(cell)
	if last := len(a.stacks) - 1; last >= 0 {
		st := &a.stacks[last]
		if st.cell == uint16(cell) && st.unitKind() == k && st.first+uint32(st.n) == first && st.player() == p {
			st.n += n
			a.runs[st.base].n += n
			a.runs = a.runs[:len(a.runs)+int(n)]
			return
		}
	}
	a.crowd[p]++
	a.live = append(a.live, uint16(len(a.stacks)))
	a.stacks = a.stacks[:len(a.stacks)+1]
	st := &a.stacks[len(a.stacks)-1]
	*st = stack{
		cell: uint16(cell), owner: uint8(p), kind: uint8(k - Scout), heading: newHeading(targetEdge(p, cell)), field: noField,
		arrived: true, nextStep: -1, n: n, first: first, base: int32(len(a.runs)), runs: 1,
	}
	a.wait(st)
	a.runs = a.runs[:len(a.runs)+int(n)]
	health := a.rules.Units[k].Health
	a.runs[st.base] = run{base: health, total: health, n: n, first: first}
}

// begin looks at the structures, once all orders are carried out.
func (a *actionPhase) begin(s *State) {
	if len(a.live) == 0 {
		return
	}
	blocked := s.Built()
	a.paths.Reset(&blocked)
	a.targets = s.Own
	for _, cell := range a.fallen { // killed by their upgrades (4.5)
		a.targets[s.Cells[cell].Player()].Drop(int(cell))
	}
	for p := range s.Own {
		if a.crowd[p^1] > 0 {
			a.find(&a.turrets[p], s, &s.Own[p], &s.Turrets, &a.turretRange)
		}
		if a.crowd[p] > 0 {
			a.find(&a.supports[p], s, &s.Own[p], &s.Supports, &a.supportRange)
		}
	}
}

// find fills in the structures of one player and kind, given as two boards of
// which the cells are on both.
func (a *actionPhase) find(r *reachers, s *State, own, kind *bitboard.Diamond, ranges *reachRange) {
	r.n, r.zone = [2]int32{}, bitboard.Diamond{}
	for f, class := range ranges.widest {
		board := &r.boards[f]
		for w := range board {
			form := s.Upgraded[w]
			if f == 0 {
				form = ^form
			}
			board[w] = own[w] & kind[w] & (form | ranges.alike)
		}
		if class == noRange {
			*board = bitboard.Diamond{}
			continue
		}
		for w, b := range board {
			for ; b != 0; b &= b - 1 {
				r.n[f]++
				r.zone.Or(a.within(class, cellOf(w, b)))
			}
		}
	}
}

// drop takes a structure that fell off the boards.
func (r *reachers) drop(cell int) {
	r.boards[0].Drop(cell)
	r.boards[1].Drop(cell)
}

// AppendMobile appends the mobile units of player p that are on the board
// during an action phase, or were at the end of the last one, in the order of
// their ids. At the end there are none, unless the match is over (3.15).
func (g *Game) AppendMobile(dst []Piece, p sim.Player) []Piece {
	a := &g.action
	for _, i := range a.live {
		st := &a.stacks[i]
		if st.player() != p {
			continue
		}
		for _, r := range a.runsOf(st) {
			for j := range uint32(r.n) {
				dst = append(dst, Piece{At: positions[st.cell], Kind: st.unitKind(), Player: p, ID: r.first + j, Health: r.total})
			}
		}
	}
	return dst
}
