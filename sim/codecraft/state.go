package codecraft

import (
	"math/bits"
	"unsafe"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Sizes of the board.
const (
	Side  = bitboard.SquareSide // the side of the map, in cells
	Cells = Side * Side
)

// MaxUnits is the limit of entities in a state, not counting resources. RULES.md, 7, has the rule
// for a full map.
const MaxUnits = 2048

// MaxID is the greatest id: all ids fit the 24 bits of an order.
const MaxID = 1<<24 - 1

// State is a game between two ticks, in the frame of the recordings: (0, 0) at
// the lower left, x to the right, y upwards.
//
// Entities are stored in two ways. All but resources are Units, sorted by id. Resources have only
// health, and ids that ascend along the columns of the map, so they are stored by cell: see
// ResourceID.
type State struct {
	Seed     uint64
	Tick     int32
	NextID   uint32 // the id that the next entity gets
	Score    [sim.MaxPlayers]int32
	Resource [sim.MaxPlayers]int32 // the resource that each player can spend

	N       int32  // the number of Units in use
	FirstID uint32 // the id of the first resource of the map
	Units   [MaxUnits]Unit
	Acts    [MaxUnits]Action // the stored actions of the units

	// Boards: Occupied has every cell that an entity covers, Resources the cells of
	// resources, Own the cells of each player's units.
	Occupied  bitboard.Square
	Resources bitboard.Square
	Own       [sim.MaxPlayers]bitboard.Square

	// At is the unit that covers a cell: its index in Units plus 1, or 0.
	At [Cells]uint16
	// Health is the health of the resource on a cell, or 0.
	Health [Cells]uint8

	// By player: the number of entities of each type, the population that its entities
	// use, and the population that its active entities provide.
	Count      [sim.MaxPlayers][Types]int16
	PopUse     [sim.MaxPlayers]int32
	PopProvide [sim.MaxPlayers]int32

	// Veins has the cells where resources were at the start, bit y of column x, and Before
	// the number of these cells in the columns before.
	Veins  [Side][2]uint64
	Before [Side]uint16
}

// stateSize is the size of a State in bytes.
const stateSize = 94216

var _ [stateSize]struct{} = [unsafe.Sizeof(State{})]struct{}{}

// Unit is an entity that is no resource. X and Y are its lowest corner.
type Unit struct {
	ID     uint32
	Health int16
	X, Y   uint8
	Type   Type
	Owner  sim.Player
	Active bool
	Spare  uint8 // fills the word: always 0
}

// Parts is the set of the parts that an Action has, and the flags of its move.
type Parts uint16

const (
	Given        Parts = 1 << iota // there is an action, perhaps without parts
	HasMove                        //
	FindClosest                    // of the move
	BreakThrough                   // of the move
	MoveOutside                    // of the move: its target lies outside of the map
	HasBuild                       //
	HasTarget                      // attack with a target
	HasAuto                        // attack with auto attack
	HasRepair                      //
)

// Action is the stored action of a unit. The fields of missing parts are zero.
type Action struct {
	Target       uint32 // of the attack
	Repair       uint32 // target of the repair
	Parts        Parts
	Valid        TypeSet // of the auto attack, never empty
	Range        uint16  // pathfind range of the auto attack
	MoveX, MoveY uint8   // of the move; the nearest cell of the map for a target outside
	BuildType    Type    // may be 10 to 15, which are no types
	BuildX       uint8   // lowest corner of the new entity; 255: outside of the map
	BuildY       uint8
	Spare        uint8 // fills the word: always 0
}

// CellOf returns the index of a cell in At and Health.
func CellOf(x, y int) int { return y*Side + x }

// ResourceID returns the id of the resource that was on a cell at the start, used up or not; 0
// if the cell had no resource.
func (s *State) ResourceID(x, y int) uint32 {
	v := &s.Veins[x]
	if v[y>>6]>>(y&63)&1 == 0 {
		return 0
	}
	below := bits.OnesCount64(v[0])
	if y < 64 {
		below = bits.OnesCount64(v[0] & (1<<y - 1))
	} else {
		below += bits.OnesCount64(v[1] & (1<<(y-64) - 1))
	}
	return s.FirstID + uint32(s.Before[x]) + uint32(below)
}

// ResourceAt returns the cell of the resource with that id, and false if no resource had this id
// at the start. The Health of the cell is 0 if the resource is used up.
func (s *State) ResourceAt(id uint32) (x, y int, ok bool) {
	if id < s.FirstID {
		return 0, 0, false
	}
	n := int(id - s.FirstID)
	lo, hi := 0, Side // the last column that begins at or before n
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; int(s.Before[mid]) <= n {
			lo = mid
		} else {
			hi = mid
		}
	}
	n -= int(s.Before[lo])
	v := &s.Veins[lo]
	low := bits.OnesCount64(v[0])
	switch {
	case n < low:
		return lo, bitboard.Select(v[0], n), true
	case n-low < bits.OnesCount64(v[1]):
		return lo, 64 + bitboard.Select(v[1], n-low), true
	}
	return 0, 0, false
}

// SetVeins sets Veins and Before by the resources on the map. The caller sets FirstID.
func (s *State) SetVeins() {
	s.Veins = [Side][2]uint64{}
	for y := range Side {
		for x := range Side {
			if s.Resources.Has(x, y) {
				s.Veins[x][y>>6] |= 1 << (y & 63)
			}
		}
	}
	s.countVeins()
}

func (s *State) countVeins() {
	n := 0
	for x := range Side {
		s.Before[x] = uint16(n)
		n += bits.OnesCount64(s.Veins[x][0]) + bits.OnesCount64(s.Veins[x][1])
	}
}

// Find returns the index of the unit with that id, or −1.
func (s *State) Find(id uint32) int {
	lo, hi := 0, int(s.N)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s.Units[mid].ID < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < int(s.N) && s.Units[lo].ID == id {
		return lo
	}
	return -1
}

// Clone copies src to s as an assignment does. It costs less because it does not copy unused
// units.
func (s *State) Clone(src *State) {
	n := int(src.N)
	used := max(n, int(s.N))
	copy(s.Units[:n], src.Units[:n])
	copy(s.Acts[:n], src.Acts[:n])
	clear(s.Units[n:used])
	clear(s.Acts[n:used])
	s.Seed, s.Tick, s.NextID, s.Score, s.Resource, s.N = src.Seed, src.Tick, src.NextID, src.Score, src.Resource, src.N
	s.Occupied, s.Resources, s.Own = src.Occupied, src.Resources, src.Own
	s.At, s.Health = src.At, src.Health
	s.Count, s.PopUse, s.PopProvide = src.Count, src.PopUse, src.PopProvide
	s.FirstID, s.Veins, s.Before = src.FirstID, src.Veins, src.Before
}

// add adds a unit to the end of the list. Its id must be the greatest, its cells must be free,
// and N must be below MaxUnits.
func (g *Game) add(s *State, u Unit) {
	s.Units[s.N], s.Acts[s.N] = u, Action{}
	s.N++
	p := &g.rules.Types[u.Type]
	size := int(p.Size)
	g.mark(s, &u, uint16(s.N))
	s.Occupied.AddSquare(int(u.X), int(u.Y), size)
	s.Own[u.Owner].AddSquare(int(u.X), int(u.Y), size)
	s.Count[u.Owner][u.Type]++
	s.PopUse[u.Owner] += p.PopUse
	if u.Active {
		s.PopProvide[u.Owner] += p.PopProvide
	}
}

// mark sets At on the cells of a unit.
func (g *Game) mark(s *State, u *Unit, at uint16) {
	size := int(g.rules.Types[u.Type].Size)
	for y := int(u.Y); y < int(u.Y)+size; y++ {
		for x := int(u.X); x < int(u.X)+size; x++ {
			s.At[CellOf(x, y)] = at
		}
	}
}

// addResource puts a resource on a free cell.
func (s *State) addResource(x, y int, health uint8) {
	s.Occupied.Add(x, y)
	s.Resources.Add(x, y)
	s.Health[CellOf(x, y)] = health
}
