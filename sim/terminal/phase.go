package terminal

import (
	"math/bits"

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
// Structures that shoot or shield are numbered by player in the order of their
// ids (a battery), so that sets of them are bit sets and their bits come in
// the order in which the rules let them act.
type phase struct {
	frame  int32
	stacks []stack
	live   []uint16  // the stacks with units left, in the order of ids
	runs   []run     // of all stacks: each has room for one a unit
	ids    []uint32  // of the units at the beginning of step 4, likewise, where needed: see roll
	shares []float32 // shields received by the stacks: HalfCells for each unit enlisted
	left   [2]int    // mobile units that may still be enlisted
	starts bitboard.Diamond
	due    [2 * HalfCells]uint16 // scratch of removals

	free    bitboard.Diamond    // cells without a structure, since the last frame's end
	targets [2]bitboard.Diamond // structures of a player that can be shot at
	fallen  []uint16            // structures that fell in this frame
	epoch   uint32              // number of the free board, over all turns
	sideAt  [4]uint32           // epoch of each side's field
	fields  [4]bitboard.Field
	pockets []pocket

	guns    [2]battery
	wards   [2]battery // supports
	words   int        // 64-bit words of their bit sets in use
	gunNo   [bitboard.DiamondSpan]uint8
	wardNo  [bitboard.DiamondSpan]uint8
	covers  []cover // by player, group of mobile kinds, cell; valid where coverAt is the turn's
	coverAt []uint32
	turn    uint32 // number of the action phase, over all games

	contact bool // somebody can shoot
	doomed  bool // somebody decided to self-destruct in this frame
	shots   [2][]shotEvent
	granted []ShieldEvent
}

// battery is a player's structures that shoot, or that shield, oldest first.
type battery struct {
	n      int
	alive  [batteryWords]uint64
	power  [HalfCells]float32 // damage of a shot, amount of a shield
	cell   [HalfCells]uint16
	id     [HalfCells]uint32
	forms  int
	form   [forms]uint8
	boards [forms]bitboard.Diamond // by entry of form
}

const batteryWords = (HalfCells + 63) / 64

// cover tells who acts on a cell: which guns of the enemy, which supports.
type cover struct{ guns, wards [batteryWords]uint64 }

// pocket is an enclosed region with the cell in it where units bound for a
// side end up.
type pocket struct {
	field bitboard.Field
	goal  uint16
	side  uint8
}

// stack is a number of mobile units with everything they share.
type stack struct {
	cell  uint16
	owner uint8
	kind  uint8 // from Scout = 0
	side  uint8 // where it goes
	axis  uint8 // of its previous step
	phase uint8 // distance modulo 4, in the field of the epoch

	arrived bool // it is on this cell since this frame's movement
	doomed  bool // it decided to self-destruct in this frame
	near    bool // structures of the enemy are in its range
	field   int16
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

	cover cover // of its cell
	had   [batteryWords]uint64
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
func (a *phase) make(mobile int) {
	n := 2 * mobile
	a.stacks = make([]stack, 0, n)
	a.live = make([]uint16, 0, n)
	a.runs = make([]run, 0, n)
	a.ids = make([]uint32, n)
	a.shares = make([]float32, n*HalfCells)
	a.fallen = make([]uint16, 0, 2*HalfCells)
	a.pockets = make([]pocket, 0, n)
	a.covers = make([]cover, 6*bitboard.DiamondSpan)
	a.coverAt = make([]uint32, 6*bitboard.DiamondSpan)
	a.epoch, a.turn = 1, 1
}

// open begins a turn's action phase, without units.
func (a *phase) open() {
	a.frame = 0
	a.stacks, a.live, a.runs = a.stacks[:0], a.live[:0], a.runs[:0]
	a.fallen = a.fallen[:0]
	a.left = [2]int{cap(a.runs) / 2, cap(a.runs) / 2}
	a.starts = bitboard.Diamond{}
	a.contact, a.doomed = false, false
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
	a.live = append(a.live, uint16(len(a.stacks)))
	a.stacks = a.stacks[:len(a.stacks)+1]
	st := &a.stacks[len(a.stacks)-1]
	*st = stack{
		cell: uint16(cell), owner: uint8(p), kind: uint8(k - Scout), side: side,
		arrived: true, next: -1, n: n, first: first, base: int32(len(a.runs)), runs: 1,
	}
	st.wait(u.Speed)
	a.runs = a.runs[:len(a.runs)+int(n)]
	a.runs[st.base] = run{base: u.Health, total: u.Health, n: n, first: first}
}

// wait finds the frame of the next step: speed is added in every frame, and a
// step taken, and 1 subtracted, when the sum reaches 1.
func (st *stack) wait(speed float32) {
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
	a.turn++
	a.newEpoch()
	for w := range a.free {
		a.free[w] = bitboard.DiamondBoard[w] &^ (s.Own[0][w] | s.Own[1][w])
	}
	a.targets = s.Own
	var fields [2]bool
	for _, st := range a.stacks {
		fields[st.owner] = true
	}
	a.words = 1
	for p := range sim.Player(2) {
		a.guns[p].n, a.guns[p].forms, a.guns[p].alive = 0, 0, [batteryWords]uint64{}
		a.wards[p].n, a.wards[p].forms, a.wards[p].alive = 0, 0, [batteryWords]uint64{}
		if fields[p^1] {
			g.number(s, p, &a.guns[p], &a.gunNo, &g.shoots)
			g.arm(s, p)
		}
		if fields[p] {
			g.number(s, p, &a.wards[p], &a.wardNo, &g.shields)
			g.bless(s, p)
		}
		a.words = max(a.words, (a.guns[p].n+63)/64, (a.wards[p].n+63)/64)
	}
}

// newEpoch marks the fields as out of date.
func (a *phase) newEpoch() {
	a.epoch++
	a.pockets = a.pockets[:0]
}

// number numbers the structures of seat p whose form is wanted.
func (g *Game) number(s *State, p sim.Player, b *battery, no *[bitboard.DiamondSpan]uint8, wanted *[forms]bool) {
	kinds := 0
	for k := range Structures {
		if !wanted[k] && !wanted[k+Structures] || s.Ages[p][k].N == 0 {
			continue
		}
		kinds++
		list := &s.Ages[p][k]
		for _, local := range list.Cell[:list.N] {
			cell := localCell[p][local]
			mark := s.Cells[cell].Mark
			if wanted[form(mark)] {
				b.cell[b.n], b.id[b.n] = cell, mark>>markIDShift
				b.n++
			}
		}
		for up := range 2 {
			if f := k + up*Structures; wanted[f] {
				board := s.form(p, f)
				if !board.Empty() {
					b.form[b.forms], b.boards[b.forms] = uint8(f), board
					b.forms++
				}
			}
		}
	}
	if kinds > 1 {
		b.sort()
	}
	for i := range b.n {
		no[b.cell[i]] = uint8(i)
		b.alive[i>>6] |= 1 << (i & 63)
	}
}

// sort brings structures of several kinds in the order of ids.
func (b *battery) sort() {
	for i := 1; i < b.n; i++ {
		cell, id := b.cell[i], b.id[i]
		j := i
		for ; j > 0 && b.id[j-1] > id; j-- {
			b.cell[j], b.id[j] = b.cell[j-1], b.id[j-1]
		}
		b.cell[j], b.id[j] = cell, id
	}
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

// arm notes the damage of the guns, bless the amounts of the shields.
func (g *Game) arm(s *State, p sim.Player) {
	b := &g.guns[p]
	for i := range b.n {
		b.power[i] = g.shot[form(s.Cells[b.cell[i]].Mark)]
	}
}

func (g *Game) bless(s *State, p sim.Player) {
	b := &g.wards[p]
	for i := range b.n {
		b.power[i] = g.amount[p][form(s.Cells[b.cell[i]].Mark)][positions[b.cell[i]].Y]
	}
}

// coverOf tells who acts on units of a kind and player on a cell. Each cell
// is looked at once a turn: what has fallen since is masked by battery.alive.
func (g *Game) coverOf(p uint8, kind uint8, cell uint16) *cover {
	a := &g.phase
	i := (int(p)*3+int(g.group[kind]))<<9 | int(cell)
	c := &a.covers[i]
	if a.coverAt[i] == a.turn {
		return c
	}
	a.coverAt[i] = a.turn
	g.find(&c.guns, &a.guns[p^1], &a.gunNo, &g.gunAt, kind, cell)
	g.find(&c.wards, &a.wards[p], &a.wardNo, &g.wardAt, kind, cell)
	return c
}

// find sets the bits of the battery's structures that reach a cell.
func (g *Game) find(set *[batteryWords]uint64, b *battery, no *[bitboard.DiamondSpan]uint8, at *[forms][3]int16, kind uint8, cell uint16) {
	*set = [batteryWords]uint64{}
	for i := range b.forms {
		board := &b.boards[i]
		mask := &g.reach[int(at[b.form[i]][kind])<<9|int(cell)]
		for w := range board {
			for m := board[w] & mask[w]; m != 0; m &= m - 1 {
				n := no[w<<6|bits.TrailingZeros64(m)]
				set[n>>6] |= 1 << (n & 63)
			}
		}
	}
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
