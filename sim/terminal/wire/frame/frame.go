// Package frame reads and writes the frames of C1 Terminal's official engine, which bots are
// shown and replay files hold, and the answers of bots.
package frame

import (
	"math"

	"moonfarm/sim/terminal"
)

// Phases of a Frame.
const (
	PhaseDeploy = 0 // the state before the players submit
	PhaseAction = 1
	PhaseEnd    = 2
)

// Frame is one frame as the official engine writes it. Parse and View reuse the memory of
// its lists.
type Frame struct {
	Phase, Turn, Number int // from turnInfo; Number is −1 in a deploy frame
	Index               int // running number of the recorded frame; −1 in files before 2020, which lack it

	Stats  [2]Stats
	Units  [2]Units
	Events Events
	End    *EndStats // set only in the last frame of a match that was recorded to its end
}

// Stats holds the numbers of one player.
type Stats struct {
	Health, Cores, Bits float32
	Time                float64 // milliseconds of the latest answer
}

// Units holds the lists of one player's units: by terminal.Kind, then the structures marked
// for removal (terminal.Removal) and the upgraded structures (terminal.Upgrade). The last
// list is nil in files from before upgrades existed, which lack it. In all other files it is
// not nil, even if it is empty: see Frame.Clear.
type Units [8][]Unit

// Unit is one entry. Value is the health of a unit, or the restores until a marked structure
// is removed.
type Unit struct {
	At    terminal.Pos
	Value float32
	ID    uint32
}

// Events holds the lists of events. SelfDestructs count from Targets[0].
type Events struct {
	terminal.Events
	Melees []terminal.AttackEvent // only in files before 2020; without a target

	// Planned holds, for each of Moves, the cell to which the unit will go next. Only the
	// betas of 2018 have it; later files write [0,0], and it is empty.
	Planned []terminal.Pos
	// Unflagged means that the deaths lack the flag for removals, as in the betas of 2018.
	Unflagged bool
}

// EndStats holds the totals of a match, from its last frame.
type EndStats struct {
	Duration      float64 // milliseconds
	Winner        int     // 1 or 2; 0: a tie, which only recordings made here have
	Turns, Frames int
	Players       [2]PlayerEnd
}

// PlayerEnd holds one player's totals over a match.
type PlayerEnd struct {
	Name           string
	Crashed        bool
	TimeoutDeath   bool
	Time           float64 // total_computation_time, milliseconds
	TimeDamage     float64 // time_damage_taken
	Points         float32 // points_scored: health the opponent lost
	MobileSpent    float32 // dynamic_resource_spent
	MobileLost     float32 // dynamic_resource_destroyed
	MobileSpoiled  float32 // dynamic_resource_spoiled
	StructureSpent float32 // stationary_resource_spent
	StructureLeft  float32 // stationary_resource_left_on_board

	absent uint16 // bit i: the file lacks playerKeys[i], as files of 2018 do
}

// Milliseconds converts a time of a frame to the type of terminal.State.Time. It returns false
// for a time that is negative, too long, or has a fraction.
func Milliseconds(time float64) (uint32, bool) {
	if !(time >= 0 && time <= math.MaxUint32) || time != math.Trunc(time) {
		return 0, false
	}
	return uint32(time), true
}

// Clear sets all numbers of f to 0 and empties all lists, including the eight lists of
// units. It keeps the memory of the lists.
func (f *Frame) Clear() {
	e := f.Events
	e.Clear()
	*f = Frame{Units: f.Units, Events: Events{e.Events, e.Melees[:0], e.Planned[:0], false}}
	for p := range f.Units {
		for k := range f.Units[p] {
			f.Units[p][k] = f.Units[p][k][:0]
		}
		if f.Units[p][terminal.Upgrade] == nil {
			f.Units[p][terminal.Upgrade] = []Unit{}
		}
	}
}
