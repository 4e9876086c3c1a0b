package terminal

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// actionPhase plays the action phase of a turn (RULES.md, 3.1 to 3.15). It holds the mobile units,
// which exist only in an action phase, and reuses its memory in the next turn.
//
// A stack is a group of mobile units with the same kind, player and cell and with consecutive
// ids. They always have the same position, path and shields, so a stack moves as one. A run is a
// part of a stack, with consecutive ids and equal health. Shots always hit the last unit of the
// run with the lowest health, so that a stack of a hundred units seldom has more than two runs.
//
// A stack that enters a cell looks up the turrets and supports that reach the cell, and keeps the
// turrets in the order in which they shoot.
type actionPhase struct {
	rules  *Rules
	record *Record // nil: events are not recorded
	tables

	frame    int32
	nextStep int32 // frame of the next step of any stack, or earlier

	stacks []stack
	live   []uint16         // indices of the stacks with units left, in the order of ids
	runs   []run            // of all stacks; a stack has room for one run per unit
	ids    []uint32         // of the units before explosions and shots, laid out as runs: see listShooters
	aimed  []aged           // turrets that reach the stacks: HalfCells for each unit bought
	shares []float32        // shields that the stacks received, laid out as aimed
	room   [2]int32         // mobile units that may still be added
	starts bitboard.Diamond // cells on which mobile units were placed this turn
	crowd  [2]int           // stacks of each player on the live list
	scored [2]int32         // units that breached, for Simulate

	paths    Paths              // for the structures at the end of the last frame
	targets  [2]bitboard.Padded // structures of a player that can be shot at
	fallen   []uint16           // cells of the structures that were destroyed in this frame
	turrets  [2]reachers        // by player, at the end of the last frame
	supports [2]reachers

	contact   bool     // some unit can shoot
	exploding bool     // some unit decided to self-destruct in this frame
	emptied   bool     // a stack has no units left
	aims      [2]int32 // by player: entries of turrets that have not shot in this frame, in the lists of the player's stacks

	found   [HalfCells]aged // scratch memory: structures of one player by age
	reached [256]uint16     // scratch memory: indices of tables.discs
	shots   [2][]shotEvent  // of this frame, by the attacker's player
	granted []ShieldEvent   // in this frame
}

// aged is a structure as id<<16 | cell, so that sorting puts the oldest first.
type aged uint64

const agedIDShift = 16

func newAged(id uint32, cell int) aged { return aged(id)<<agedIDShift | aged(cell) }

func (a aged) cell() int  { return int(a & cellMask) }
func (a aged) id() uint32 { return uint32(a >> agedIDShift) }

// insert inserts a structure into a sorted list whose last entry is free.
func insert(list []aged, x aged) {
	i := len(list) - 1
	for ; i > 0 && list[i-1] > x; i-- {
		list[i] = list[i-1]
	}
	list[i] = x
}

// reachers holds a player's turrets or supports that have an effect on mobile units.
type reachers struct {
	boards [2]bitboard.Padded // the structures by form: base, upgraded
	n      [2]int32           // number of structures when the action phase began
	zone   bitboard.Diamond   // a superset of the cells that they could reach then
}

// stack holds the values that are the same for all mobile units of a stack.
type stack struct {
	cell     uint16
	owner    uint8
	kind     uint8 // from Scout = 0
	heading  heading
	field    uint16 // index of the field of actionPhase.paths that it follows; noField: not looked up
	distance uint8  // in the field, modulo 4
	arrived  bool   // it entered this cell in this frame
	doomed   bool   // it decided to self-destruct in this frame
	near     bool   // structures of the enemy are in its range

	nextStep int32   // frame of its next step
	speedSum float32 // sum of 3.1 after that step
	moves    int32
	n        int32  // units left
	shots    int32  // units that shoot in this frame
	fired    int32  // units that have shot in this frame
	first    uint32 // id of the first unit added
	base     int32  // where its part of runs and ids begins
	runs     int32  // number of its runs
	shares   int32  // number of shields received, in its part of actionPhase.shares

	turrets  int32  // number of enemy turrets that reach its cell, in its part of actionPhase.aimed
	spent    int32  // number of these that have shot in this frame
	aim      uint16 // the structure that it shoots at while the structure stands and the stack stays; 0: not chosen
	exploded bool   // it has self-destructed in this frame, and can be hit until its end

	had bitboard.Diamond // supports that have shielded it
}

// noField is the field of a stack that has not looked it up.
const noField = ^uint16(0)

func (s *stack) player() sim.Player { return sim.Player(s.owner) }
func (s *stack) unitKind() Kind     { return Scout + Kind(s.kind) }

// run is a part of a stack with equal health and consecutive ids.
type run struct {
	base  float32 // health without shields
	sum   float32 // of the shields left, added from the oldest on
	total float32 // base + sum
	front float32 // rest of the oldest shield left
	head  int32   // index of that shield; stack.shares if no shield is left
	n     int32   // units
	first uint32  // id of the first unit
}

// runsOf, sharesOf and turretsOf return the parts of the common lists that belong to a stack.
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

// open begins the action phase of a turn, without units.
func (a *actionPhase) open() {
	a.frame = 0
	a.stacks, a.live, a.runs = a.stacks[:0], a.live[:0], a.runs[:0]
	a.fallen = a.fallen[:0]
	half := int32(cap(a.runs) / 2) // more than any player can buy, except in states made by hand
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

// begin reads the structures after all orders were carried out.
func (a *actionPhase) begin(s *State) {
	if len(a.live) == 0 {
		return
	}
	blocked := s.Built()
	a.paths.Reset(&blocked)
	a.targets[0].Board, a.targets[1].Board = s.Own[0], s.Own[1]
	for _, cell := range a.fallen { // killed by their upgrades (4.5)
		a.targets[s.Cells[cell].Player()].Board.Drop(int(cell))
	}
	for p := range s.Own {
		if a.crowd[p^1] > 0 {
			a.find(&a.turrets[p], s, sim.Player(p), Turret, &s.Turrets, &a.turretRange)
		}
		if a.crowd[p] > 0 {
			a.find(&a.supports[p], s, sim.Player(p), Support, &s.Supports, &a.supportRange)
		}
	}
}

// find fills r with the structures of player p of one kind, which are on the given board.
func (a *actionPhase) find(r *reachers, s *State, p sim.Player, kind Kind, board *bitboard.Diamond, ranges *reachRange) {
	for w := range board {
		all, upgraded := s.Own[p][w]&board[w], s.Upgraded[w]&^ranges.alike
		r.boards[0].Board[w], r.boards[1].Board[w] = all&^upgraded, all&upgraded
	}
	for f, class := range ranges.widest {
		if class == noRange {
			r.boards[f].Board = bitboard.Diamond{}
		}
	}
	a.measure(r, s, p, kind, ranges)
}

// measure counts the structures of find and joins the cells that they reach. The list by age needs one loop without
// branches, where loops over the bits of the boards mispredict one for each word.
func (a *actionPhase) measure(r *reachers, s *State, p sim.Player, kind Kind, ranges *reachRange) {
	var discs, counts [2]uint16 // by form: the index of its first disc, and 1 if it has an effect
	for f, class := range ranges.widest {
		if class != noRange {
			discs[f], counts[f] = uint16(class)<<cellBits, 1
		}
	}
	cells, alike := &localCell[p&1], uint32(ranges.alike)
	list, n, upgraded := &s.Ages[p][kind], uint16(0), int32(0)
	for _, local := range list.Cell[:list.N] {
		cell := cells[local]
		form := s.Cells[cell&cellMask].Mark &^ alike / markUpgraded & 1
		a.reached[n&0xff] = discs[form] | cell
		n += counts[form]
		upgraded += int32(form)
	}
	r.n = [2]int32{(int32(list.N) - upgraded) * int32(counts[0]), upgraded * int32(counts[1])}
	r.zone = bitboard.Diamond{}
	r.zone.Join(a.discs, a.reached[:n])
}

// drop removes a destroyed structure from the boards.
func (r *reachers) drop(cell int) {
	r.boards[0].Board.Drop(cell)
	r.boards[1].Board.Drop(cell)
}

// AppendMobile appends the mobile units of player p that are on the board in an action phase, in
// the order of their ids. After the last frame the board has none, unless the match is over
// (3.15).
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
