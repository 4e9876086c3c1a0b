package terminal

import (
	"fmt"
	"math"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// check panics if s, with the mobile units of the action phase, is not a state that play can lead
// to. Builds with -tags invariants call it after every deployment, frame and restore. It ignores
// turns played after the end of a match, which have no meaning.
func (g *Game) check(s *State) {
	if s.Turn > uint32(g.rules.MaxTurns) {
		return
	}
	if fault := g.fault(s); fault != "" {
		panic(fmt.Sprintf("terminal: broken state: %s\n%s", fault, AppendFrame(nil, g, s)))
	}
}

// fault describes the first violated invariant, or returns "".
func (g *Game) fault(s *State) string {
	if fault := g.purseFault(s); fault != "" {
		return fault
	}
	if fault := boardFault(s); fault != "" {
		return fault
	}
	for w, b := range s.Built() {
		for ; b != 0; b &= b - 1 {
			cell := cellOf(w, b)
			if fault := g.cellFault(s, cell); fault != "" {
				return fmt.Sprintf("%v: %s", positions[cell], fault)
			}
		}
	}
	for p := range sim.Player(2) {
		for k := range Kind(Structures) {
			if fault := ageFault(s, p, k); fault != "" {
				return fmt.Sprintf("list of player %d's %vs: %s", p+1, k, fault)
			}
		}
	}
	if fault := idFault(s); fault != "" {
		return fault
	}
	return g.mobileFault(s)
}

// purseFault checks health, resources and the next id.
func (g *Game) purseFault(s *State) string {
	for p := range s.Health {
		switch {
		case !(s.Health[p] <= math.MaxFloat32): // penalties may lead as far down as −Inf
			return fmt.Sprintf("player %d: health %v", p+1, s.Health[p])
		case !(s.Cores[p] >= 0 && s.Cores[p] <= math.MaxFloat32):
			return fmt.Sprintf("player %d: cores %v", p+1, s.Cores[p])
		case !(s.Bits[p] >= 0 && s.Bits[p] <= math.MaxFloat32):
			return fmt.Sprintf("player %d: bits %v", p+1, s.Bits[p])
		}
	}
	if s.NextID < 1 || s.NextID > MaxID+1 {
		return fmt.Sprintf("next id %d", s.NextID)
	}
	return ""
}

// boardFault compares the boards with each other and with the cells.
func boardFault(s *State) string {
	for w := range bitboard.DiamondBoard {
		own := s.Own[0][w] | s.Own[1][w]
		switch {
		case s.Own[0][w]&^halves[0][w]|s.Own[1][w]&^halves[1][w] != 0:
			return fmt.Sprintf("word %d: structures outside of their owner's half: %#x, %#x", w, s.Own[0][w], s.Own[1][w])
		case (s.Supports[w]|s.Turrets[w]|s.Upgraded[w]|s.Marked[w])&^own != 0:
			return fmt.Sprintf("word %d: boards with cells that have no structure", w)
		}
		for bit := range 64 {
			if c, built := s.Cells[w<<6|bit], own>>bit&1 != 0; built && c.Mark == 0 || !built && c != (Cell{}) {
				return fmt.Sprintf("cell %d: on a board: %v, but holds %v", w<<6|bit, built, c)
			}
		}
	}
	return ""
}

// cellFault checks one structure.
func (g *Game) cellFault(s *State, cell int) string {
	c := s.Cells[cell]
	k := c.Kind()
	if k >= Structures {
		return fmt.Sprintf("kind %v", k)
	}
	switch {
	case s.Supports.Has(cell) != (k == Support) || s.Turrets.Has(cell) != (k == Turret):
		return fmt.Sprintf("the boards do not show a %v", k)
	case !s.Own[c.Player()].Has(cell):
		return fmt.Sprintf("it says it is player %d's", c.Player()+1)
	case s.Upgraded.Has(cell) != c.Upgraded() || c.Upgraded() && !g.rules.Upgradable[k]:
		return fmt.Sprintf("upgraded: %v", c.Upgraded())
	case s.Marked.Has(cell) != (c.RemoveIn() > 0):
		return fmt.Sprintf("marked: %v, removed in %d", s.Marked.Has(cell), c.RemoveIn())
	case c.ID() == 0 || c.ID() >= s.NextID:
		return fmt.Sprintf("id %d, the next is %d", c.ID(), s.NextID)
	case !(c.Health > g.rules.DeadAt || slices.Contains(g.action.fallen, uint16(cell))) || !(c.Health <= math.MaxFloat32): // health above the rules' value comes from a match under other rules
		return fmt.Sprintf("health %v", c.Health)
	}
	return ""
}

// ageFault checks one list of structures.
func ageFault(s *State, p sim.Player, k Kind) string {
	list := &s.Ages[p][k]
	if list.N > HalfCells {
		return fmt.Sprintf("%d entries", list.N)
	}
	before := uint32(0)
	for _, local := range list.Cell[:list.N] {
		if local >= HalfCells {
			return fmt.Sprintf("place %d", local)
		}
		cell := localCell[p][local]
		c := s.Cells[cell]
		if c.Mark == 0 || c.Kind() != k {
			return fmt.Sprintf("%v has no such structure", positions[cell])
		}
		if c.ID() <= before {
			return fmt.Sprintf("%v has id %d, after %d", positions[cell], c.ID(), before)
		}
		before = c.ID()
	}
	board := s.form(p, int(k))
	upgraded := s.form(p, int(k)+Structures)
	if n := board.Count() + upgraded.Count(); n != int(list.N) {
		return fmt.Sprintf("%d entries, %d on the boards", list.N, n)
	}
	return ""
}

// idFault looks for ids that two structures have. The lists by age must be sorted.
func idFault(s *State) string {
	var at [2][Structures]int
	for before := uint32(0); ; {
		next, p, k := uint32(MaxID+1), 0, 0
		for q := range at {
			for j := range at[q] {
				list := &s.Ages[q][j]
				if at[q][j] == int(list.N) {
					continue
				}
				if id := s.Cells[localCell[q][list.Cell[at[q][j]]]].ID(); id < next {
					next, p, k = id, q, j
				}
			}
		}
		switch next {
		case MaxID + 1:
			return ""
		case before:
			return fmt.Sprintf("id %d twice", next)
		}
		before = next
		at[p][k]++
	}
}

// mobileFault checks the mobile units.
func (g *Game) mobileFault(s *State) string {
	var before [2]uint32 // the id of the player's unit before
	for _, i := range g.action.live {
		st := &g.action.stacks[i]
		n := int32(0)
		for _, r := range g.action.runsOf(st) {
			last := r.first + uint32(r.n) - 1
			switch n += r.n; {
			case r.n <= 0 || r.total != r.base+r.sum || r.head > st.shares:
				return fmt.Sprintf("run %+v of stack %+v", r, *st)
			case !(r.total > g.rules.DeadAt && r.total <= math.MaxFloat32):
				return fmt.Sprintf("mobile units without health: run %+v", r)
			case r.first <= before[st.owner] || last >= s.NextID:
				return fmt.Sprintf("mobile units %d to %d after id %d", r.first, last, before[st.owner])
			}
			before[st.owner] = last
		}
		switch {
		case n != st.n || n == 0 || st.kind > 2:
			return fmt.Sprintf("%d units in the runs of stack %+v", n, *st)
		case !bitboard.DiamondBoard.Has(int(st.cell)) || s.Cells[st.cell].Mark != 0:
			return fmt.Sprintf("a mobile unit on %v: %+v", positions[st.cell], *st)
		}
	}
	return ""
}
